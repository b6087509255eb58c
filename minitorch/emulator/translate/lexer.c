/* lexer.c -- cuts C++ text into tokens. It knows comments, strings (raw ones too), preprocessor lines and brackets, and
 * nothing else of the language. The body of a #define is lexed like code, marked as macro, with brackets of its own.
 * `#if 0` and what __CUEMU__ rules out gives no tokens, so that a unit can have a branch for the card alone. */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <string.h>

typedef struct lexer {
    source *s;
    const char *p;
    int line;
    bool line_start; /* only blanks since the newline: a '#' begins a directive */
    bool macro;      /* in the body of a #define, which ends with its line */
    int open[256];   /* indices of brackets not closed yet */
    int depth;
    int macro_depth; /* depth where the #define began */
    bool taken[64];  /* per open #if: its condition is known to hold, so that its #else is dead */
    int conditions;
} lexer;

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

bool is(const token *t, const char *word)
{
    return strlen(word) == (size_t)t->length && memcmp(t->at, word, (size_t)t->length) == 0;
}

bool is_any(const token *t, const char *const *words)
{
    while (*words && !is(t, *words))
        words++;
    return *words != NULL;
}

bool starts_with(const token *t, const char *prefix)
{
    return strlen(prefix) <= (size_t)t->length && memcmp(t->at, prefix, strlen(prefix)) == 0;
}

/* Brackets that do not fit each other (an #if with an opening brace in both branches) stay without a partner. */
static void pair_bracket(lexer *l, int index)
{
    token *t = &l->s->token[index];
    if (strchr("([{", *t->at)) {
        if (l->depth < 256)
            l->open[l->depth++] = index;
        return;
    }
    if (l->depth == (l->macro ? l->macro_depth : 0))
        return;
    token *open = &l->s->token[l->open[l->depth - 1]];
    const char *fits = *t->at == ')' ? "(" : *t->at == ']' ? "[" : "{";
    if (*open->at != *fits)
        return;
    l->depth--;
    open->partner = index;
    t->partner = (int)(open - l->s->token);
}

static void add(lexer *l, token_kind kind, const char *end)
{
    source *s = l->s;
    s->token = grow(s->token, s->tokens, sizeof *s->token);
    s->token[s->tokens] = (token){
        .at = l->p,
        .length = (int)(end - l->p),
        .line = l->line,
        .partner = -1,
        .kind = kind,
        .macro = l->macro,
    };
    if (kind == TOKEN_PUNCT && strchr("()[]{}", *l->p))
        pair_bracket(l, s->tokens);
    s->tokens++;
    for (; l->p < end; l->p++)
        l->line += *l->p == '\n';
    l->line_start = false;
}

/* The end of a preprocessor line or a // comment: backslashes continue it, and in a directive comments belong to it. */
static const char *end_of_line(const char *p, bool directive)
{
    while (*p && *p != '\n') {
        if (*p == '\\' && p[1] == '\n')
            p++;
        else if (directive && p[0] == '/' && p[1] == '*' && strstr(p + 2, "*/"))
            p = strstr(p + 2, "*/") + 1;
        p++;
    }
    return p;
}

static const char *end_of_string(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

static const char *end_of_raw_string(const char *p)
{
    char close[24] = ")";
    size_t length = 1;
    for (p += 2; *p && *p != '(' && length < sizeof close - 2; p++)
        close[length++] = *p;
    close[length] = '"';
    const char *end = strstr(p, close);
    return end ? end + length + 1 : p + strlen(p);
}

static const char *skip_spaces(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static bool begins(const char *p, const char *word)
{
    return strncmp(p, word, strlen(word)) == 0 && !is_name_char(p[strlen(word)]);
}

/* Moves to the directive that ends this branch: its #else, #elif or #endif. */
static void skip_branch(lexer *l)
{
    for (int depth = 0; *l->p;) {
        const char *p = skip_spaces(l->p);
        const char *word = *p == '#' ? skip_spaces(p + 1) : "";
        if (depth == 0 && (begins(word, "endif") || begins(word, "else") || begins(word, "elif")))
            return;
        depth += strncmp(word, "if", 2) == 0 ? 1 : begins(word, "endif") ? -1 : 0;
        for (const char *end = end_of_line(l->p, false); l->p < end; l->p++)
            l->line += *l->p == '\n';
        if (*l->p)
            l->p++, l->line++;
    }
}

/* A conditional line was just read: leave out the branch behind it when it is known to be dead. */
static void follow_condition(lexer *l, const char *word)
{
    bool dead = false;
    if (strncmp(word, "if", 2) == 0) {
        const char *condition = skip_spaces(word + (begins(word, "if") ? 2 : word[2] == 'n' ? 6 : 5));
        bool ours = begins(condition, "__CUEMU__") || strncmp(condition, "defined(__CUEMU__)\n", 19) == 0;
        dead = (begins(word, "if") && begins(condition, "0")) || (begins(word, "ifndef") && ours);
        if (l->conditions < 64)
            l->taken[l->conditions++] = ours && !dead;
    } else if (begins(word, "endif")) {
        l->conditions -= l->conditions > 0;
    } else if (begins(word, "else") || begins(word, "elif")) {
        dead = l->conditions > 0 && l->taken[l->conditions - 1];
    }
    if (dead) {
        l->p += *l->p == '\n', l->line++;
        skip_branch(l);
        l->line_start = true;
    }
}

/* `#define NAME(parameters)` is a directive and its body is code; every other line is a directive as a whole. */
static void lex_directive(lexer *l)
{
    const char *word = skip_spaces(l->p + 1);
    if (!begins(word, "define")) {
        add(l, TOKEN_DIRECTIVE, end_of_line(l->p, true));
        follow_condition(l, word);
        return;
    }
    const char *p = skip_spaces(word + 6);
    while (is_name_char(*p))
        p++;
    if (*p == '(')
        while (*p && *p != '\n' && *p++ != ')')
            ;
    add(l, TOKEN_DIRECTIVE, p);
    l->macro = true;
    l->macro_depth = l->depth;
}

static void end_macro(lexer *l)
{
    if (l->macro)
        l->depth = l->macro_depth;
    l->macro = false;
}

/* Blanks, comments, line continuations; false: a token begins here. */
static bool skip_blank(lexer *l)
{
    const char *p = l->p;
    if (*p == '\n') {
        end_macro(l);
        l->line++, l->p++;
        l->line_start = true;
    } else if (*p == '\\' && p[1] == '\n') {
        l->line++, l->p += 2;
    } else if (isspace((unsigned char)*p)) {
        l->p++;
    } else if (p[0] == '/' && p[1] == '/') {
        const char *end = end_of_line(p, false);
        for (; l->p < end; l->p++)
            l->line += *l->p == '\n';
    } else if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        end = end ? end + 2 : p + strlen(p);
        for (; l->p < end; l->p++)
            l->line += *l->p == '\n';
    } else {
        return false;
    }
    return true;
}

static void lex_token(lexer *l)
{
    const char *p = l->p, *end = p;
    if (*p == '#' && l->line_start) {
        lex_directive(l);
    } else if (*p == '"') {
        add(l, TOKEN_STRING, end_of_string(p));
    } else if (p[0] == 'R' && p[1] == '"') {
        add(l, TOKEN_STRING, end_of_raw_string(p));
    } else if (*p == '\'') {
        add(l, TOKEN_CHAR, end_of_string(p));
    } else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        while (is_name_char(*end) || *end == '.' || (*end == '\'' && is_name_char(end[1])) ||
               ((*end == '+' || *end == '-') && strchr("eEpP", end[-1]) && !(p[1] == 'x' && strchr("eE", end[-1]))))
            end++;
        add(l, TOKEN_NUMBER, end);
    } else if (is_name_char(*p)) {
        while (is_name_char(*end))
            end++;
        add(l, TOKEN_NAME, end);
    } else {
        bool three = strncmp(p, "<<<", 3) == 0, two = strncmp(p, "::", 2) == 0 || strncmp(p, "->", 2) == 0;
        add(l, TOKEN_PUNCT, p + (three ? 3 : two ? 2 : 1));
    }
}

void source_lex(source *s)
{
    lexer l = { .s = s, .p = s->text, .line = 1, .line_start = true };
    add(&l, TOKEN_END, l.p);
    l.line_start = true;
    while (*l.p)
        if (!skip_blank(&l))
            lex_token(&l);
    add(&l, TOKEN_END, l.p);
}

int angle_end(const source *s, int i)
{
    int depth = 0;
    for (; i < s->tokens; i++) {
        const token *t = &s->token[i];
        if (is(t, "<"))
            depth++;
        else if (is(t, ">") && --depth == 0)
            return i;
        else if ((is(t, "(") || is(t, "[") || is(t, "{")) && t->partner > i)
            i = t->partner;
        else if (t->kind == TOKEN_END || is(t, ";") || is(t, ")") || is(t, "}"))
            return -1;
    }
    return -1;
}

int angle_begin(const source *s, int i)
{
    int depth = 0;
    for (; i > 0; i--) {
        const token *t = &s->token[i];
        if (is(t, ">"))
            depth++;
        else if (is(t, "<") && --depth == 0)
            return i;
        else if ((is(t, ")") || is(t, "]") || is(t, "}")) && t->partner >= 0)
            i = t->partner;
        else if (is(t, ";") || is(t, "(") || is(t, "{"))
            return -1;
    }
    return -1;
}

int statement_end(const source *s, int i)
{
    while (s->token[i].kind != TOKEN_END && !is(&s->token[i], ";"))
        i = s->token[i].partner > i ? s->token[i].partner + 1 : i + 1;
    return i;
}
