/* tokens.c -- the preprocessed text of a unit: no name, attribute or label that reaches the count of accesses, switches
 * it off, or puts its own text into the assembly.
 *
 * The text is that from which the object is made, so macros and included files hide nothing. Markers such as
 * `# 12 "labs/02-backprop/linear.c"` say which tokens are the unit's; mg_judge_lines refuses a unit that writes
 * them itself. */
#include "build/judge.h"
#include "build/symbols.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ----------------------------------------------------------------------------------- */

typedef enum kind { END, NAME, NUMBER, STRING, OTHER } kind;

typedef struct token {
    kind kind;
    const char *at; /* of a string: behind the quote */
    size_t length;
    bool first; /* on its line */
} token;

typedef struct reader {
    const char *at;
    bool first, directive; /* whether the next token is the first on its line; whether the line is a directive */
    bool cuda;             /* C++: 1'000 is a number */
    long line;
    bool own; /* whether the tokens belong to the unit */
    int what; /* is judged; 0: it looks ahead */
    token token;
    mg_findings *findings;
    const char *folder;
} reader;

static reader begin(mg_findings *f, const char *text)
{
    bool cuda = strcmp(strchr(f->unit, '.'), ".cu") == 0;
    return (reader){ .at = text, .first = true, .line = 1, .own = true, .findings = f, .cuda = cuda };
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void next_line(reader *r)
{
    r->line++;
    r->first = true;
    r->directive = false;
    r->at++;
}

/* A newline behind a backslash joins two lines. */
static bool is_joint(const char *at)
{
    return at[0] == '\\' && at[1] == '\n';
}

static void skip_comment(reader *r)
{
    bool whole = r->at[1] == '*';
    for (r->at += 2; *r->at && !(whole ? begins(r->at, "*/") : *r->at == '\n'); r->at++) {
        r->line += *r->at == '\n';
        r->at += !whole && is_joint(r->at);
    }
    r->at += whole && *r->at ? 2 : 0;
}

static void skip_blanks(reader *r)
{
    for (;;) {
        if (*r->at == '\n') {
            next_line(r);
        } else if (is_joint(r->at)) {
            r->at += 2;
            r->line++;
        } else if (*r->at && strchr(" \t\r\v\f", *r->at)) {
            r->at++;
        } else if (begins(r->at, "/*") || begins(r->at, "//")) {
            skip_comment(r);
        } else {
            return;
        }
    }
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c & 0x80;
}

/* A string or a character, up to its quote or the end of the line. */
static void read_quoted(reader *r, token *t)
{
    char quote = *r->at++;
    t->kind = quote == '"' ? STRING : OTHER;
    t->at = r->at;
    while (*r->at && *r->at != quote && *r->at != '\n') {
        r->line += is_joint(r->at);
        r->at += *r->at == '\\' && r->at[1] ? 2 : 1;
    }
    t->length = (size_t)(r->at - t->at);
    r->at += *r->at == quote;
}

/* R"end(...)end" */
static void read_raw(reader *r, token *t)
{
    char close[32];
    const char *open = r->at + 1;
    size_t n = strcspn(open, "(\n");
    snprintf(close, sizeof close, ")%.*s\"", (int)n, open);
    const char *end = n <= 16 && open[n] ? strstr(open + n, close) : NULL;
    t->kind = STRING;
    t->at = open + n + (open[n] == '(');
    t->length = end ? (size_t)(end - t->at) : strlen(t->at);
    for (const char *c = r->at; c < t->at + t->length; c++)
        r->line += *c == '\n';
    r->at = t->at + t->length + (end ? strlen(close) : 0);
}

static bool is(const token *t, const char *text)
{
    return t->kind != STRING && t->length == strlen(text) && memcmp(t->at, text, t->length) == 0;
}

static bool is_one_of(const token *t, const char *const *words, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (is(t, words[i]))
            return true;
    return false;
}

static bool is_directive(const token *t)
{
    return t->first && (is(t, "#") || is(t, "%:"));
}

static token read_token(reader *r)
{
    static const char *const raw[] = { "R", "LR", "uR", "UR", "u8R" }, *const encoded[] = { "L", "u", "U", "u8" };
    skip_blanks(r);
    token t = { .kind = OTHER, .at = r->at, .length = 1, .first = r->first };
    r->first = false;
    if (!*r->at) {
        t.kind = END;
    } else if (*r->at == '"' || *r->at == '\'') {
        read_quoted(r, &t);
    } else if (is_of_name(*r->at)) {
        t.kind = isdigit((unsigned char)*r->at) ? NUMBER : NAME;
        while (is_of_name(*r->at) ||
               (t.kind == NUMBER && (*r->at == '.' || (r->cuda && *r->at == '\'' && is_of_name(r->at[1])))))
            r->at++;
        t.length = (size_t)(r->at - t.at);
        if (*r->at == '"' && is_one_of(&t, raw, MT_COUNT(raw)) && !r->directive)
            read_raw(r, &t);
        else if (*r->at == '"' && is_one_of(&t, encoded, MT_COUNT(encoded)))
            read_quoted(r, &t);
    } else {
        t.length = begins(r->at, "%:") ? 2 : 1;
        r->at += t.length;
        r->directive = r->directive || is_directive(&t);
    }
    r->token = t;
    return t;
}

/* `# 12 "labs/02-backprop/linear.c" 3 4`, of which the number was read. */
static void read_marker(reader *r, const token *number)
{
    char path[PATH_MAX];
    token name = read_token(r);
    if (name.kind != STRING || name.first)
        return;
    snprintf(path, sizeof path, "%.*s", (int)name.length, name.at);
    r->own = (path[0] != '/' && path[0] != '<') || strstr(path, "/../") || begins(path, r->folder);
    r->at += strcspn(r->at, "\n");
    r->line = strtol(number->at, NULL, 10) - 1;
}

/* ---- judging ------------------------------------------------------------------------------------ */

/* Names with which a unit would call the count itself, or be translated by other parts of the compiler. */
static void judge_name(reader *r, const token *t)
{
    static const char *const counting[] = { "__tsan_", "__ubsan_", "__sanitizer_" };
    static const char *const inner[] = { "__RTL", "__GIMPLE", "__seg_fs", "__seg_gs", "pch_preprocess" };
    for (int64_t i = 0; i < MT_COUNT(counting); i++)
        if (begins(t->at, counting[i])) {
            mg_find(r->findings, r->line,
                    "names `%.*s`, which units may not use: the compiler calls it where memory accesses are counted",
                    (int)t->length, t->at);
            return;
        }
    if (r->cuda && (begins(t->at, "__builtin_mem") || begins(t->at, "__builtin_str")))
        mg_find(r->findings, r->line,
                "names `%.*s`, which .cu units may not use: call the function without `__builtin_`, whose accesses are "
                "counted",
                (int)t->length, t->at);
    if (is_one_of(t, inner, MT_COUNT(inner)))
        mg_find(r->findings, r->line, "uses `%.*s`, which units may not use", (int)t->length, t->at);
}

/* The next token that is not part of a marker. Words of a #pragma are tokens like others. */
static token next(reader *r)
{
    token t = read_token(r);
    while (is_directive(&t)) {
        t = read_token(r);
        if (t.kind == NUMBER && !t.first) {
            read_marker(r, &t);
            t = read_token(r);
        }
    }
    if (r->own && t.kind == NAME && (r->what & MG_WORDS))
        judge_name(r, &t);
    return t;
}

static bool is_asm(const token *t)
{
    return is(t, "asm") || is(t, "__asm") || is(t, "__asm__");
}

/* Whether a name in the assembly may be this: a name, and not one of the compiler's, emulator's or grader's. */
static bool is_label(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    return n > 0 && n == strlen(name) && !mg_is_reserved(name);
}

/* Whether a section is one of the emulator's (`__device__`): the name alone, since flags can follow it. */
static bool is_of_emulator(const char *section)
{
    return begins(section, "cuemu_") && section[strspn(section, "abcdefghijklmnopqrstuvwxyz_")] == 0;
}

/* The strings from the current token on, joined; the token behind them is current then. False: too long for a name. */
static bool join_strings(reader *r, char *text, size_t size)
{
    size_t used = 0;
    for (text[0] = 0; r->token.kind == STRING; next(r))
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%.*s", (int)r->token.length, r->token.at);
    return used < size;
}

/* `asm ("name")` behind a declaration. Statements are judged where they leave instructions (build/assembly.c). */
static void judge_asm(reader *r)
{
    char text[512];
    long line = r->line;
    token t = next(r);
    if (!is(&t, "("))
        return;
    next(r);
    bool name = join_strings(r, text, sizeof text) && (is_label(text) || !text[strspn(text, " \t")]);
    if (is(&r->token, ")") && !name)
        mg_find(r->findings, line,
                "has `asm(\"%.60s\")`, which units may not have: neither assembly code, nor a name for a function or "
                "variable that belongs to the compiler or the grader",
                text);
}

/* An attribute's name is current: with `__` around it or not. */
static bool is_attribute(const token *t, const char *name)
{
    size_t n = strlen(name);
    bool framed = t->length == n + 4 && begins(t->at, "__") && begins(t->at + 2 + n, "__");
    return (t->length == n || framed) && memcmp(t->at + (framed ? 2 : 0), name, n) == 0;
}

static void judge_attribute(reader *r)
{
    static const char *const refused[] = { "no_sanitize",
                                           "no_sanitize_thread",
                                           "no_sanitize_coverage",
                                           "disable_sanitizer_instrumentation",
                                           "no_instrument_function",
                                           "naked" };
    static const char *const naming[] = { "section", "alias", "weakref", "ifunc", "symver" };
    char text[512];
    for (int64_t i = 0; i < MT_COUNT(refused); i++)
        if (is_attribute(&r->token, refused[i]))
            mg_find(r->findings, r->line, "has the attribute `%s`, which units may not have%s", refused[i],
                    strcmp(refused[i], "naked") == 0 ? "" : ": their memory accesses are counted");
    for (int64_t i = 0; i < MT_COUNT(naming); i++)
        if (is_attribute(&r->token, naming[i])) {
            reader ahead = *r;
            ahead.what = 0;
            next(&ahead);
            next(&ahead);
            if (!join_strings(&ahead, text, sizeof text) || !(i == 0 ? is_of_emulator(text) : is_label(text)))
                mg_find(r->findings, r->line, "has the attribute `%s(\"%.60s\")`, which units may not have", naming[i],
                        text);
        }
}

/* `((a, b(1), c))` or `[[a, gnu::b(1)]]`: names at the second level are those of attributes. */
static void judge_attributes(reader *r, const char *open, const char *close)
{
    for (int depth = 0; r->token.kind != END; next(r)) {
        if (r->token.kind == NAME && depth == 2)
            judge_attribute(r);
        depth += is(&r->token, depth < 2 ? open : "(");
        depth -= is(&r->token, depth <= 2 ? close : ")");
        if (depth == 0)
            return;
    }
}

void mg_judge_tokens(mg_findings *f, const char *text, const char *own, int what)
{
    reader r = begin(f, text);
    r.folder = own;
    r.what = what;
    next(&r);
    while (r.token.kind != END) {
        int judged = r.own ? what : 0;
        if ((judged & MG_ASM) && is_asm(&r.token)) {
            judge_asm(&r);
        } else if ((judged & MG_WORDS) && (is(&r.token, "__attribute__") || is(&r.token, "__attribute"))) {
            next(&r);
            judge_attributes(&r, "(", ")");
        } else if ((judged & MG_WORDS) && is(&r.token, "[") && *r.at == '[') {
            judge_attributes(&r, "[", "]");
        } else {
            next(&r);
        }
    }
}

void mg_judge_lines(mg_findings *f, const char *text)
{
    reader r = begin(f, text);
    read_token(&r);
    while (r.token.kind != END) {
        bool directive = is_directive(&r.token);
        read_token(&r);
        if (directive && !r.token.first && (r.token.kind == NUMBER || is(&r.token, "line")))
            mg_find(f, r.line, "gives its lines other numbers (#line), which units may not do");
    }
}
