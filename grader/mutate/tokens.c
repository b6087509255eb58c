/* tokens.c -- from the text of a unit to tokens, and the grammar of tokens.h. */
#include "tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

char *unit;
const char *name;
token *tok;
int tokens;

bool is(int i, const char *text)
{
    return i >= 0 && i < tokens && (int)strlen(text) == tok[i].end - tok[i].begin &&
           memcmp(unit + tok[i].begin, text, strlen(text)) == 0;
}

bool among(int i, const char *list)
{
    char word[64];
    if (i < 0 || i >= tokens || tok[i].end - tok[i].begin > 60)
        return false;
    snprintf(word, sizeof word, " %.*s ", tok[i].end - tok[i].begin, unit + tok[i].begin);
    return strstr(list, word) != NULL;
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static int length_of_sign(const char *at)
{
    static const char *const signs[] = { "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "+=",
                                         "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "&&", "||",
                                         "==",  "!=",  "<=",  ">=",  "<<",  ">>", "::" };
    for (int64_t i = 0; i < MT_COUNT(signs); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return (int)strlen(signs[i]);
    return 1;
}

static int length_of_directive(const char *at)
{
    const char *end = strchr(at, '\n');
    while (end && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    return end ? (int)(end - at) : (int)strlen(at);
}

static int length_of_number(const char *at)
{
    int n = 1;
    while (isalnum((unsigned char)at[n]) || at[n] == '.' ||
           (at[n] && strchr("+-", at[n]) && strchr("eE", at[n - 1]) && at[1] != 'x'))
        n++;
    return n;
}

static int length_of_token(const char *at, token_kind *kind)
{
    int n = 1;
    if (*at == '#') {
        *kind = DIRECTIVE;
        return length_of_directive(at);
    }
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        *kind = NUMBER;
        return length_of_number(at);
    }
    if (isalpha((unsigned char)*at) || *at == '_') {
        for (*kind = WORD; isalnum((unsigned char)at[n]) || at[n] == '_';)
            n++;
        return n;
    }
    if (*at == '"' || *at == '\'') {
        for (*kind = TEXT; at[n] && at[n] != *at; n++)
            n += at[n] == '\\';
        return n + 1;
    }
    *kind = SIGN;
    return length_of_sign(at);
}

/* The region after this comment. */
static const char *region_after(const char *comment, const char *step)
{
    char number[8], word[8];
    if (sscanf(comment, "/* LAB %7[0-9.] %7[A-Z]", number, word) != 2)
        return step;
    return strcmp(word, "BEGIN") == 0 ? strdup(number) : NULL;
}

/* The other bracket of each bracket, and the function around each token. */
static void match_brackets(void)
{
    int open[MAX_DEPTH], depth = 0, function = 0;
    for (int i = 0; i < tokens; i++) {
        tok[i].inside = depth > 0 ? open[depth - 1] : -1;
        if (among(i, " ( [ { <<< ")) {
            if (is(i, "(") && depth == 0 && i > 0 && tok[i - 1].kind == WORD && islower(unit[tok[i - 1].begin]))
                function = i - 1;
            MT_CHECK(depth < MAX_DEPTH, "%s:%d: nested too deeply", name, tok[i].line);
            open[depth++] = i;
        } else if (among(i, " ) ] } >>> ") && depth > 0) {
            tok[i].match = open[--depth];
            tok[open[depth]].match = i;
        }
        tok[i].function = function;
    }
}

void tokenize(void)
{
    const char *step = NULL;
    int line = 1;
    tok = calloc(strlen(unit) + 1, sizeof *tok);
    MT_CHECK(tok, "out of memory");
    for (const char *at = unit; *at;) {
        int n = 1;
        if (strncmp(at, "//", 2) == 0) {
            n = (int)strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            step = region_after(at, step);
            n = (int)(strstr(at, "*/") + 2 - at);
        } else if (!isspace((unsigned char)*at)) {
            token *t = &tok[tokens++];
            token_kind kind;
            n = length_of_token(at, &kind);
            *t = (token){ kind, (int)(at - unit), (int)(at - unit) + n, line, 0, -1, 0, step };
        }
        for (; n > 0; n--)
            line += *at++ == '\n';
    }
    match_brackets();
}

/* ---- grammar ------------------------------------------------------------------------------------- */

static const char types[] = " void bool char short int long unsigned signed float double const static struct enum "
                            "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t extern "
                            "__shared__ _Alignas register typedef template auto ";

bool is_keyword(int i)
{
    return among(i, " return if else for while do switch case sizeof goto break continue ");
}

int find(int i, const char *list)
{
    while (i < tokens && !among(i, list))
        i = among(i, " ( [ { ") && tok[i].match > i ? tok[i].match + 1 : i + 1;
    return i;
}

static bool is_cast(int open)
{
    if (!is(open, "(") || (tok[open - 1].kind == WORD && !is_keyword(open - 1)))
        return false;
    for (int i = open + 1; i < tok[open].match; i++)
        if (!among(i, types) && !is(i, "*"))
            return false;
    return tok[open].match > open + 1;
}

bool ends_operand(int i)
{
    if (is(i, ")"))
        return !is_cast(tok[i].match);
    return is(i, "]") || tok[i].kind == NUMBER || tok[i].kind == TEXT ||
           (tok[i].kind == WORD && !is_keyword(i) && !among(i, types));
}

int operand_before(int i)
{
    for (;;) {
        while (is(i, "]") || (is(i, ")") && ends_operand(tok[i].match - 1)))
            i = tok[i].match - 1;
        if (is(i, ")"))
            return tok[i].match;
        if (!among(i - 1, " . -> "))
            return i;
        i -= 2;
    }
}

int operand_after(int i)
{
    while (among(i, " - ! ~ * & ") || is_cast(i))
        i = is(i, "(") ? tok[i].match + 1 : i + 1;
    if (is(i, "("))
        i = tok[i].match;
    while (among(i + 1, " ( [ . -> "))
        i = among(i + 1, " ( [ ") ? tok[i + 1].match : i + 2;
    return i;
}

/* Whether this brace opens a block, not an initialiser. */
static bool is_block(int i)
{
    int before = is(i - 1, ")") ? tok[i - 1].match - 1 : i - 1;
    return is(i, "{") && (before == i - 1 ? among(i - 1, " ; { } else do : ") || tok[i - 1].kind == DIRECTIVE
                                          : tok[before].kind == WORD && !is(before, "return"));
}

bool starts_statement(int i)
{
    if (!is_block(tok[i].inside))
        return false;
    return among(i - 1, " ; { } else do ") || tok[i - 1].kind == DIRECTIVE ||
           (is(i - 1, ")") && among(tok[i - 1].match - 1, " if for while switch "));
}

bool is_declaration(int i)
{
    return among(i, types) || (tok[i].kind == WORD && !is_keyword(i) &&
                               (tok[i + 1].kind == WORD || (is(i + 1, "*") && tok[i + 2].kind == WORD)));
}

int after(int i)
{
    if (tok[i].kind == DIRECTIVE)
        return after(i + 1);
    if (is(i, "{"))
        return tok[i].match + 1;
    if (among(i, " for while switch "))
        return after(tok[i + 1].match + 1);
    if (is(i, "if")) {
        int next = after(tok[i + 1].match + 1);
        return is(next, "else") ? after(next + 1) : next;
    }
    return find(i, " ; ") + 1;
}
