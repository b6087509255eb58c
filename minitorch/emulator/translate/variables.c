/* variables.c -- variables that live on the device.
 *
 *     __shared__ float tile[32][33];   a typedef, and a reference to where the runtime keeps this block's array
 *     extern __shared__ float all[];   a pointer to the launch's dynamic shared memory
 *     __device__ int count;            the same, in the section where the runtime looks for device variables     */
#include "emulator/translate/translate.h"

#include <stdlib.h>
#include <string.h>

static int numbers; /* of generated names */

/* The declaration's type and one declarator: `float`, `tile`, `[32][33]`. */
typedef struct declarator {
    const char *type, *name, *dimensions;
} declarator;

/* ---- reading -------------------------------------------------------------------------------- */

/* The index of the first token of the statement that contains token i. */
static int statement_begin(const source *s, int i)
{
    while (s->token[i - 1].kind != TOKEN_END && s->token[i - 1].kind != TOKEN_DIRECTIVE) {
        const token *t = &s->token[i - 1];
        bool bracketed = (is(t, ")") || is(t, "]")) && t->partner > 0 && !is(&s->token[t->partner - 1], "if") &&
                         !is(&s->token[t->partner - 1], "for") && !is(&s->token[t->partner - 1], "while");
        if (is(t, ";") || is(t, "{") || is(t, "}") || is(t, ":") || (is(t, ")") && !bracketed))
            break;
        i = bracketed ? t->partner : i - 1;
    }
    return i;
}

/* Words for a variable's storage and alignment, which are not part of its type. */
static const char *const storage_words[] = { "__shared__", "__device__", "__constant__", "__managed__", "extern",
                                             "static",     "inline",     "alignas",      "__align__",   NULL };

/* The tokens [from, to) as text without storage words; `align` becomes what alignas() or __align__() said, a number or
 * a type in brackets. */
static char *type_text(const source *s, int from, int to, const char **align)
{
    char *text = strdup("");
    for (int i = from; i < to; i++) {
        const token *t = &s->token[i];
        if (is_any(t, storage_words)) {
            if (is(t + 1, "(") && t[1].partner > i) {
                *align = span(s, i + 1, t[1].partner + 1);
                i = t[1].partner;
            }
            continue;
        }
        if (is(t, "__attribute__") && is(t + 2, "(") && is(t + 3, "aligned") && t[4].partner > i) {
            *align = span(s, i + 4, t[4].partner + 1);
            i = t[1].partner;
            continue;
        }
        text = format("%s%s%.*s", text, *text ? " " : "", t->length, t->at);
    }
    return text;
}

/* The index of the first name declared in [from, to): the last name outside of brackets before the first '[' or ','. */
static int name_index(const source *s, int from, int to)
{
    int name = -1;
    for (int i = from; i < to && !is(&s->token[i], "[") && !is(&s->token[i], ","); i++) {
        if (s->token[i].kind == TOKEN_NAME)
            name = i;
        if (is(&s->token[i], "<") && angle_end(s, i) > 0)
            i = angle_end(s, i);
        else if (s->token[i].partner > i)
            i = s->token[i].partner;
    }
    return name;
}

static const token **dynamic_name; /* of extern __shared__ at namespace scope */
static int dynamic_names;

/* ---- shared --------------------------------------------------------------------------------- */

/* At namespace scope the name becomes an object that converts to the array where it is used. */
static char *static_shared(declarator d, const char *align, const token *at, bool in_function)
{
    int n = ++numbers;
    const char *array =
        format(" typedef %s cuemu_type%d%s; static cuemu_shared_array cuemu_array%d = { \"%s\", \"%s\", %d, 0 };",
               d.type, n, d.dimensions, n, d.name, at->file, at->line);
    if (!in_function)
        return format("%s static const ::cuemu::shared_object<cuemu_type%d> %s = { &cuemu_array%d };", array, n, d.name,
                      n);
    return format("%s"
                  " struct alignas%s cuemu_align%d { char c; };"
                  " cuemu_type%d &%s = *(cuemu_type%d *)cuemu_shared(&cuemu_array%d, sizeof(cuemu_type%d),"
                  " ::cuemu::alignment<cuemu_type%d>(alignof(cuemu_align%d)));",
                  array, align, n, n, d.name, n, n, n, n, n);
}

/* At namespace scope the name becomes an object that converts to the pointer where it is used. */
static char *dynamic_shared(declarator d, bool in_function)
{
    int n = ++numbers;
    const char *close = strchr(d.dimensions, ']');
    const char *element = format("typedef %s cuemu_type%d%s;", d.type, n, close ? close + 1 : "");
    return in_function
               ? format(" %s cuemu_type%d *const %s = (cuemu_type%d *)cuemu_dynamic_shared();", element, n, d.name, n)
               : format(" %s static const ::cuemu::dynamic_shared<cuemu_type%d> %s;", element, n, d.name);
}

static bool in_function(const source *s, int i)
{
    for (int f = 0; f < functions; f++)
        if (the_function[f].body >= 0 && the_function[f].body < i && i < s->token[the_function[f].body].partner)
            return true;
    return false;
}

static void rewrite_shared(source *s, int at)
{
    int begin = statement_begin(s, at), end = statement_end(s, at);
    bool is_extern = false, inside = in_function(s, at);
    for (int i = begin; i < end; i++)
        is_extern |= is(&s->token[i], "extern");
    int first = name_index(s, begin, end);
    const char *align = "(1)", *text = "";
    if (first < 0 || s->token[end].kind == TOKEN_END) {
        complain(&s->token[at], "this __shared__ declaration is not understood: write `__shared__ type name[size];`");
        return;
    }
    char *type = type_text(s, begin, first, &align);
    for (int name = first; name < end;) {
        int next = name;
        if (s->token[name].kind != TOKEN_NAME) {
            complain(&s->token[at], "declare one __shared__ variable at a time: this list is not understood");
            break;
        }
        while (next < end && !is(&s->token[next], ",") && !is(&s->token[next], "="))
            next = s->token[next].partner > next ? s->token[next].partner + 1 : next + 1;
        if (is_extern && !inside) {
            dynamic_name = grow(dynamic_name, dynamic_names, sizeof *dynamic_name);
            dynamic_name[dynamic_names++] = &s->token[name];
        }
        declarator d = { type, span(s, name, name + 1), span(s, name + 1, next) };
        if (is(&s->token[next], "="))
            complain(&s->token[at],
                     "__shared__ variable `%s` has an initialiser, which CUDA does not allow: assign it in one thread "
                     "and call __syncthreads()",
                     d.name);
        text = format("%s%s", text,
                      is_extern ? dynamic_shared(d, inside) : static_shared(d, align, &s->token[name], inside));
        name = is(&s->token[next], ",") ? next + 1 : end;
    }
    replace(s, begin, end + 1, text);
}

/* ---- __device__, __constant__, __managed__ -------------------------------------------------- */

/* A const variable would be in a read-only section, and a section cannot be both: `const` is removed. */
static void place(source *s, const variable *v)
{
    int name = (int)(v->name - s->token), begin = statement_begin(s, name), constant = -1;
    bool is_static = false, pointer = false;
    for (int i = begin; i < v->end; i++) {
        if (is(&s->token[i], "extern") || is(&s->token[i], "constexpr"))
            return;
        is_static |= is(&s->token[i], "static");
        pointer |= is(&s->token[i], "*");
        constant = is(&s->token[i], "const") && i < name ? i : constant;
    }
    if (constant >= 0 && !pointer)
        replace(s, constant, constant + 1, is_static ? "" : "static"); /* const implied static */
    int last = name;
    while (is(&s->token[last + 1], "[") && s->token[last + 1].partner > 0)
        last = s->token[last + 1].partner;
    const char *section = v->marks & CONSTANT ? "constant" : v->marks & MANAGED ? "managed" : "device";
    insert_after(s, last, format(" __attribute__((section(\"cuemu_%s\")))", section));
}

/* The array of `extern __shared__` at namespace scope is an object: static_cast converts it to any pointer. */
static void rewrite_cast(source *s, int i)
{
    int open = is(&s->token[i + 1], "<") && angle_end(s, i + 1) > 0 ? angle_end(s, i + 1) + 1 : 0;
    if (!open || !is(&s->token[open], "(") || s->token[open].partner != open + 2)
        return;
    for (int k = 0; k < dynamic_names; k++)
        if (s->token[open + 1].length == dynamic_name[k]->length &&
            memcmp(s->token[open + 1].at, dynamic_name[k]->at, (size_t)dynamic_name[k]->length) == 0)
            replace(s, i, i + 1, "static_cast");
}

void rewrite_variables(source *s)
{
    for (int i = 1; i < s->tokens - 1; i++) {
        const token *t = &s->token[i];
        bool parameter = is(t - 1, "(") || is(t - 1, ",");
        if (is(t, "__shared__") && !parameter) {
            rewrite_shared(s, i);
            i = statement_end(s, i);
        } else if (is(t, "reinterpret_cast")) {
            rewrite_cast(s, i);
        }
    }
    for (int v = 0; v < variables; v++)
        if (the_variable[v].marks & (DEVICE | CONSTANT | MANAGED))
            place(s, &the_variable[v]);
}
