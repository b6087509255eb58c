/* lexer.c -- splits the preprocessor's output into tokens. It handles strings (also raw ones), line markers, #pragma
 * and brackets, nothing else of the language. */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
    source *s;
    const char *p;
    const char *file;
    int line;
    bool line_start; /* only blanks since the newline: a '#' begins a directive */
    int open[256];   /* indices of brackets not closed yet */
    int depth;
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

/* Brackets that do not match have no partner. */
static void pair_bracket(lexer *l, int index)
{
    token *t = &l->s->token[index];
    if (strchr("([{", *t->at)) {
        if (l->depth < 256)
            l->open[l->depth++] = index;
        return;
    }
    if (l->depth == 0)
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
        .file = l->file,
        .line = l->line,
        .partner = -1,
        .kind = kind,
    };
    if (kind == TOKEN_PUNCT && strchr("()[]{}", *l->p))
        pair_bracket(l, s->tokens);
    s->tokens++;
    for (; l->p < end; l->p++)
        l->line += *l->p == '\n';
    l->line_start = false;
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

static const char *skip_line(const char *p)
{
    while (*p && *p != '\n')
        p++;
    return *p ? p + 1 : p;
}

static bool is_marker(const char *p)
{
    return p[0] == '#' && p[1] == ' ' && isdigit((unsigned char)p[2]);
}

/* One pointer for each file of the unit; NULL: a header of the system. */
static const char *file_of(const char *name, int length, bool system)
{
    static const char **known;
    static int count;
    for (int i = 0; i < count; i++)
        if (strncmp(known[i], name, (size_t)length) == 0 && !known[i][length])
            return known[i];
    if (system)
        return NULL;
    known = grow(known, count, sizeof *known);
    return known[count++] = strndup(name, (size_t)length);
}

/* `# 12 "unit.cu" 2`: the next line is line 12 of unit.cu. The flag 3 marks a system header, or, in the middle of a
 * file, a macro of one. The contents of such headers are skipped; the emulator's that the unit includes are noted. */
static void follow_marker(lexer *l)
{
    const char *p = l->p;
    for (;;) {
        const char *name = strchr(p, '"') + 1, *end = name, *behind = skip_line(p);
        while (*end != '"')
            end += *end == '\\' ? 2 : 1;
        bool system = memchr(end, '3', (size_t)(behind - end)) != NULL || end[-1] == '/';
        l->line = atoi(p + 2);
        l->file = file_of(name, (int)(end - name), system);
        p = behind;
        if (l->file || !*p)
            break;
        char *path = strndup(name, (size_t)(end - name));
        bool group = strstr(path, "/cooperative_groups") || strstr(path, "/mma.h") || strstr(path, "/libcuxx");
        while (*p && !is_marker(p)) {
            behind = skip_line(p);
            if (group)
                learn_names(p, behind);
            p = behind;
        }
        if (!*p)
            break;
    }
    l->p = p;
}

/* Skips blanks and line markers. False: a token begins here. */
static bool skip_blank(lexer *l)
{
    if (*l->p == '\n') {
        l->line++, l->p++;
        l->line_start = true;
    } else if (l->line_start && is_marker(l->p)) {
        follow_marker(l);
    } else if (isspace((unsigned char)*l->p)) {
        l->p++;
    } else {
        return false;
    }
    return true;
}

static void lex_token(lexer *l)
{
    const char *p = l->p, *end = p;
    if (*p == '#' && l->line_start) {
        add(l, TOKEN_DIRECTIVE, p + strcspn(p, "\n"));
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
    lexer l = { .s = s, .p = s->text, .file = "", .line = 1, .line_start = true };
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
