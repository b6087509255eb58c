/* operators.c -- the operators of mutate. Each looks at one token of a region and, where its pattern begins there, adds
 * mutants that replace one stretch of tokens. */
#include "operators.h"
#include "tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MUTANTS = 4000 };
mutant made[MAX_MUTANTS];
int mutants;

typedef struct stretch {
    int first, last; /* tokens */
} stretch;

/* Replace tokens first .. last by the form, in which $0, $1 and $2 are the parts, and $$ is all of it. */
static void replace(const char *what, int first, int last, const char *form, const stretch *part)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out && mutants < MAX_MUTANTS, "%s: too many mutants", name);
    for (const char *p = form; *p; p++) {
        stretch s = *p != '$' || p[1] == '$' ? (stretch){ first, last } : part[p[1] - '0'];
        if (*p == '$' && ++p)
            fprintf(out, "%.*s", tok[s.last].end - tok[s.first].begin, unit + tok[s.first].begin);
        else
            fputc(*p, out);
    }
    fflush(out);
    int lines = 0; /* that the text needs, so that the lines after it keep their numbers */
    for (int i = tok[first].begin; i < tok[last].end; i++)
        lines += unit[i] == '\n';
    for (size_t i = 0; i < size; i++)
        lines -= text[i] == '\n';
    for (; lines > 0; lines--)
        fputc('\n', out);
    fclose(out);
    made[mutants++] = (mutant){ what, tok[first].begin, tok[last].end, first, text };
}

/* ---- one token ----------------------------------------------------------------------------------- */

typedef struct exchange {
    const char *what, *from, *to;
} exchange;

static const exchange binary_signs[] = {
    { "comparison", "<", "<=" }, { "comparison", "<=", "<" },  { "comparison", ">", ">=" },
    { "comparison", ">=", ">" }, { "comparison", "==", "!=" }, { "comparison", "!=", "==" },
    { "logic", "&&", "||" },     { "logic", "||", "&&" },      { "operator", "+", "-" },
    { "operator", "-", "+" },    { "operator", "*", "+" },     { "operator", "/", "*" },
    { "operator", "%", "/" },    { "operator", "<<", ">>" },   { "operator", ">>", "<<" },
    { "operator", "&", "|" },    { "operator", "|", "&" },     { "operator", "^", "|" },
    { "assignment", "+=", "=" }, { "assignment", "-=", "=" },  { "assignment", "*=", "=" },
    { "assignment", "/=", "=" }, { "assignment", "|=", "=" },  { "assignment", "-=", "+=" },
};
static const exchange unary_signs[] = { { "missing minus", "-", "" }, { "missing not", "!", "" } };
static const exchange words[] = {
    { "narrow type", "int64_t", "int" },
    { "narrow type", "double", "float" },
    { "narrow type", "size_t", "unsigned" },
    { "narrow type", "uint64_t", "unsigned" },
    { "narrow type", "uint32_t", "uint16_t" },
    { "constant", "true", "false" },
    { "constant", "false", "true" },
    { "constant", "INFINITY", "0" },
    { "function", "mt_min", "mt_max" },
    { "function", "mt_max", "mt_min" },
    { "function", "fmaxf", "fminf" },
    { "function", "fmax", "fmin" },
    { "function", "fabsf", "" },
    { "function", "fabs", "" },
    { "function", "sqrtf", "" },
    { "function", "sqrt", "" },
    { "left early", "continue", "break" },
};

static void exchange_one(int i, const exchange *table, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (is(i, table[k].from))
            replace(table[k].what, i, i, table[k].to, NULL);
}

static void exchange_token(int i)
{
    if (tok[i].kind == WORD)
        exchange_one(i, words, MT_COUNT(words));
    else if (tok[i].kind == SIGN && ends_operand(i - 1) && !is_declaration(i - 1))
        exchange_one(i, binary_signs, MT_COUNT(binary_signs));
    else if (tok[i].kind == SIGN)
        exchange_one(i, unary_signs, MT_COUNT(unary_signs));
}

static void change_constant(int i)
{
    int length = tok[i].end - tok[i].begin;
    const char *text = unit + tok[i].begin;
    if (tok[i].kind == TEXT && *text == '\'')
        replace("constant", i, i, "($$ + 1)", NULL);
    if (tok[i].kind != NUMBER)
        return;
    bool real = memchr(text, '.', (size_t)length) || (text[1] != 'x' && memchr(text, 'e', (size_t)length));
    if (atof(text) == 0 && text[1] != 'x')
        replace("constant", i, i, "1", NULL);
    else
        replace("constant", i, i, real ? "($$ * 1.01f)" : "($$ + 1)", NULL);
    if (!real && atof(text) == 1)
        replace("constant", i, i, "0", NULL);
}

/* ---- operands ------------------------------------------------------------------------------------ */

/* a - b becomes b - a; c ? a : b becomes c ? b : a. */
static void swap_operands(int i)
{
    if (among(i, " - / % ") && ends_operand(i - 1)) {
        int first = operand_before(i - 1), last = operand_after(i + 1);
        replace("swapped operands", first, last, "$2 $1 $0",
                (stretch[]){ { first, i - 1 }, { i, i }, { i + 1, last } });
    } else if (is(i, "?")) {
        int colon = find(i + 1, " : "), end = find(colon + 1, " ; , ) ] } : ");
        replace("swapped branches", i + 1, end - 1, "$1 : $0",
                (stretch[]){ { i + 1, colon - 1 }, { colon + 1, end - 1 } });
    }
}

/* f(a, b, c): two neighbours in each other's place, unless they may be. */
static void swap_arguments(int open)
{
    int comma;
    if (!is(open, "(") || tok[open - 1].kind != WORD || is_keyword(open - 1) ||
        among(open - 1, " mt_min mt_max fmin fmax fminf fmaxf min max "))
        return;
    for (int begin = open + 1; (comma = find(begin, " , ) ")) < tok[open].match; begin = comma + 1) {
        int end = find(comma + 1, " , ) ");
        replace("swapped arguments", begin, end - 1, "$1, $0",
                (stretch[]){ { begin, comma - 1 }, { comma + 1, end - 1 } });
    }
}

/* a[i * n + j]: one further, and the first and the last name in each other's place. */
static void change_index(int open)
{
    int close = tok[open].match, first = 0, last = 0;
    if (!is(open, "[") || !ends_operand(open - 1))
        return;
    for (int i = open + 1; i < close; i++)
        if (tok[i].kind == WORD && !among(i - 1, " . -> ") && !among(i + 1, " . -> ( [ ")) {
            first = first ? first : i;
            last = i;
        }
    if (first < last)
        replace("swapped index", first, last, "$2 $1 $0",
                (stretch[]){ { first, first }, { first + 1, last - 1 }, { last, last } });
    if (tok[open + 1].kind != NUMBER)
        replace("index + 1", open + 1, close - 1, "$$ + 1", NULL);
}

/* ---- statements ---------------------------------------------------------------------------------- */

static void change_if(int i)
{
    stretch all = { i + 2, tok[i + 1].match - 1 };
    replace("branch never taken", all.first, all.last, "0 && ($$)", NULL);
    replace("branch always taken", all.first, all.last, "1 || ($$)", NULL);
}

static void change_loop(int i)
{
    int open = i + 1, body = tok[open].match + 1, end = after(body) - 1;
    if (is(i, "while") && !is(body, ";"))
        replace("if for while", i, i, "if", NULL);
    replace("left early", body, end, is(body, ";") ? "break;" : "{ $$ break; }", NULL);
    if (!is(i, "for"))
        return;
    int first = find(open + 1, " ; "), second = find(first + 1, " ; ");
    if (first > open + 1)
        replace("off by one", first - 1, first - 1, "$$ + 1", NULL);
    if (second > first + 1)
        replace("off by one", second - 1, second - 1, find(first + 1, " > >= ") < second ? "$$ + 1" : "$$ - 1", NULL);
}

static bool is_barrier(int i)
{
    return among(i, " __syncthreads __syncwarp ");
}

static void change_statement(int i)
{
    int end = after(i) - 1, level = find(i, " = ; ");
    if (is(i, "if"))
        change_if(i);
    else if (among(i, " for while "))
        change_loop(i);
    else if (among(i, " { do switch case default else return ; } ") || tok[i].kind == DIRECTIVE || is_declaration(i))
        return;
    else
        replace(is_barrier(i) ? "missing barrier" : "dropped statement", i, end, ";", NULL);
    if (is(level, "=") && !among(i, " if for while "))
        replace("assignment", level, level, "+=", NULL);
    if (is(i, "atomicAdd"))
        replace("missing atomic", i, end, "*($0) += $1;",
                (stretch[]){ { i + 2, find(i + 2, " , ") - 1 }, { find(i + 2, " , ") + 1, end - 2 } });
}

/* ---- threads ------------------------------------------------------------------------------------- */

static bool says(int i, const char *word)
{
    const char *at = memmem(unit + tok[i].begin, (size_t)(tok[i].end - tok[i].begin), word, strlen(word));
    return at != NULL;
}

/* The directive without one clause. */
static void drop_clause(int i, const char *clause)
{
    const char *at = memmem(unit + tok[i].begin, (size_t)(tok[i].end - tok[i].begin), clause, strlen(clause));
    char text[512];
    if (!at)
        return;
    const char *close = strchr(at, ')') + 1;
    snprintf(text, sizeof text, "%.*s%.*s", (int)(at - unit) - tok[i].begin, unit + tok[i].begin,
             tok[i].end - (int)(close - unit), close);
    replace("missing private copy", i, i, text, NULL);
}

/* A variable that each turn of a parallel loop declares is one for all threads. */
static void share_variables(int loop)
{
    for (int i = loop, end = after(loop); i < end; i++) {
        int equals = find(i, " = ; ");
        if (starts_statement(i) && is_declaration(i) && is(equals, "=") && equals == i + 2 &&
            find(i, " , ") > find(i, " ; "))
            replace("missing private copy", i, equals, "static $$ 0; $0 =", (stretch[]){ { i + 1, i + 1 } });
    }
}

static void change_directive(int i)
{
    if (!says(i, "pragma omp"))
        return;
    if (says(i, "omp atomic") || says(i, "omp critical"))
        replace("missing atomic", i, i, "", NULL);
    if (says(i, "omp barrier"))
        replace("missing barrier", i, i, "", NULL);
    drop_clause(i, "private(");
    drop_clause(i, "reduction(");
    drop_clause(i, "ordered");
    if (!says(i, "parallel for") || !is(i + 1, "for"))
        return;
    share_variables(i + 1);
    int inner = tok[i + 2].match + 1;
    while (inner < after(i + 1) && !is(inner, "for"))
        inner++;
    if (inner < after(i + 1))
        replace("inner loop parallel", i, inner, "$0 _Pragma(\"omp parallel for\") for",
                (stretch[]){ { i + 1, inner - 1 } });
}

void make_mutants(void)
{
    for (int i = 1; i + 2 < tokens; i++) {
        if (!tok[i].step)
            continue;
        if (tok[i].kind == DIRECTIVE) {
            change_directive(i);
            continue;
        }
        exchange_token(i);
        change_constant(i);
        swap_operands(i);
        swap_arguments(i);
        change_index(i);
        if (starts_statement(i))
            change_statement(i);
    }
}
