/* declare.c -- which functions and variables a unit declares, and how they are marked.
 *
 * This is not a full parser: at namespace and class scope a declaration is a function if there is a name before its
 * first parenthesis, else a variable. Bodies are skipped. */
#include "emulator/translate/translate.h"

#include <stdlib.h>
#include <string.h>

function *the_function;
int functions;
variable *the_variable;
int variables;

/* Words whose parentheses are not a parameter list. */
static const char *const decorations[] = {
    "__launch_bounds__", "__attribute__", "alignas", "__align__",   "decltype", "noexcept",
    "__declspec",        "explicit",      "asm",     "__maxnreg__", NULL
};

/* What may come between a function's parameters and its body. Before anything else `NAME(...)` is a macro call. */
static const char *const trailers[] = { "const", "noexcept", "override",      "final", "volatile",
                                        "try",   "requires", "__attribute__", "asm",   NULL };

/* A '(' after them is not a parameter list: `void (*table[])(int);`. */
static const char *const types[] = { "void",   "bool",   "char",     "short", "int",    "long", "float",
                                     "double", "signed", "unsigned", "auto",  "return", NULL };

static unsigned mark_of(const token *t)
{
    return is(t, "__global__")     ? GLOBAL
           : is(t, "__device__")   ? DEVICE
           : is(t, "__host__")     ? HOST
           : is(t, "__constant__") ? CONSTANT
           : is(t, "__managed__")  ? MANAGED
                                   : 0;
}

static bool same_name(const token *a, const token *b)
{
    return a->length == b->length && memcmp(a->at, b->at, (size_t)a->length) == 0;
}

static void add_function(function f)
{
    the_function = grow(the_function, functions, sizeof f);
    the_function[functions++] = f;
}

/* For a qualified name, only the functions of that class or namespace count. */
static bool fits_scope(const function *f, const token *name)
{
    if (!is(name - 1, "::"))
        return true;
    return name[-2].kind == TOKEN_NAME ? f->space && same_name(f->space, name - 2) : !is(name - 2, ">") && !f->space;
}

unsigned marks_of_function(const token *name, const function **first)
{
    unsigned marks = 0;
    for (int i = functions - 1; i >= 0; i--) {
        if (!same_name(the_function[i].name, name) || !fits_scope(&the_function[i], name))
            continue;
        marks |= the_function[i].marks ? the_function[i].marks : HOST;
        *first = &the_function[i];
    }
    return marks;
}

const variable *find_variable(const token *name)
{
    for (int i = 0; i < variables; i++)
        if (!the_variable[i].is_member && same_name(the_variable[i].name, name))
            return &the_variable[i];
    return NULL;
}

bool is_member_name(const token *name)
{
    for (int i = 0; i < variables; i++)
        if (the_variable[i].is_member && same_name(the_variable[i].name, name))
            return true;
    return false;
}

bool needs_arguments(const token *name)
{
    int bodies = 0, others = 0;
    for (int i = 0; i < functions; i++) {
        const function *f = &the_function[i];
        if (!same_name(f->name, name))
            continue;
        bodies += f->body >= 0;
        others += !(f->marks & GLOBAL);
        if ((f->marks & GLOBAL && (f->is_template || f->has_defaults)) || bodies > 1)
            return true;
    }
    return others > 0;
}

static bool names_type(const token *t)
{
    return is(t - 1, "struct") || is(t - 1, "class") || is(t - 1, "union") || is(t - 1, "enum");
}

/* Every declarator of `[static] [const] type a[3], *b = x;` in tokens [begin, end): a name before [ = , { or ;. */
static void add_variables(const source *s, int begin, int end, unsigned marks, bool member)
{
    bool is_const = false;
    for (int i = begin; i < end; i++) {
        const token *t = &s->token[i], *next = t + 1;
        if (is(t, "__shared__")) /* of a block, not of the program */
            return;
        if (is(t, "const") || is(t, "constexpr"))
            is_const = true;
        if (is(t, "=")) /* an initialiser: up to the next declarator */
            while (i + 1 < end && !is(&s->token[i + 1], ","))
                i = s->token[i].partner > i ? s->token[i].partner : i + 1;
        else if (is(t, "<") && angle_end(s, i) > 0)
            i = angle_end(s, i);
        else if (t->partner > i)
            i = t->partner;
        else if (t->kind == TOKEN_NAME && !names_type(t) && !names_type(next) && !is_any(t, types) &&
                 (is(next, "[") || is(next, "=") || is(next, ",") || is(next, "{") || is(next, ";"))) {
            bool array = is(next, "["), pointer = is(t - 1, "*");
            bool is_constexpr = is(&s->token[begin], "constexpr") || is(&s->token[begin + 1], "constexpr");
            the_variable = grow(the_variable, variables, sizeof *the_variable);
            the_variable[variables++] = (variable){
                .name = t,
                .marks = member ? 0 : marks,
                .is_member = member,
                .end = end,
                .constant_expression = is_constexpr || (is_const && !array && !pointer),
            };
        }
    }
}

/* From the end of the parameters to the body's '{' or the ';': a constructor's initialisers may contain braces too. */
static int find_body(const source *s, int i)
{
    bool initialisers = false;
    for (; s->token[i].kind != TOKEN_END; i++) {
        const token *t = &s->token[i];
        if (is(t, ";"))
            return i;
        if (is(t, "{") && !(initialisers && (t[-1].kind == TOKEN_NAME || is(t - 1, ">"))))
            return i;
        initialisers |= is(t, ":");
        if (t->partner > i)
            i = t->partner;
    }
    return i;
}

static void declare_range(const source *s, int i, int end, bool member, const token *space);

/* Reads the body of a namespace, extern "C" or class like the file. Returns the index after it; -1: something else. */
static int enter_scope(const source *s, int i, int end, bool member, const token *around)
{
    const token *t = &s->token[i];
    bool space = is(t, "namespace") || (is(t, "extern") && t[1].kind == TOKEN_STRING);
    bool type = is(t, "struct") || is(t, "class") || is(t, "union");
    const token *name = is(t, "extern") ? around : NULL;
    bool named = false;
    if (!space && !type)
        return -1;
    for (int j = i + 1; j < end; j++) {
        const token *u = &s->token[j];
        if (is_any(u, decorations) && is(u + 1, "(") && u[1].partner > j) { /* struct alignas(16) name */
            j = u[1].partner;
            continue;
        }
        named |= is(u, ":");
        if (u->kind == TOKEN_NAME && !named && !is(u, "final") && !is(u, "inline"))
            name = u;
        if (is(u, "{") && u->partner > j) {
            declare_range(s, j + 1, u->partner, type ? true : member, name);
            return space ? u->partner + 1 : u->partner; /* a class: its declaration extends to the ';' */
        }
        if (is(u, ";") || is(u, "(") || is(u, "="))
            return -1;
        if (is(u, "<") && angle_end(s, j) > 0)
            j = angle_end(s, j);
    }
    return -1;
}

/* The name before a '(': of `f<half>(`, an explicit specialisation, that is f. */
static const token *name_before(const source *s, int i, int open)
{
    const token *name = &s->token[i - 1];
    return is(name, ">") && open > 0 && angle_end(s, open) == i - 1 ? &s->token[open - 1] : name;
}

/* Reads the declaration that begins at token i. Returns the index after it. */
static int declaration(const source *s, int i, int end, bool member, const token *space)
{
    function f = { .begin = i, .body = -1, .is_member = member, .space = space };
    bool alias = is(&s->token[i], "namespace") && is(&s->token[i + 2], "=");
    if (alias || is(&s->token[i], "using") || is(&s->token[i], "typedef") || is(&s->token[i], "friend"))
        while (i < end && !is(&s->token[i], ";"))
            i = s->token[i].partner > i ? s->token[i].partner + 1 : i + 1;
    int begin = i, open = 0;
    for (; i < end; i++) {
        const token *t = &s->token[i], *name = name_before(s, i, open);
        f.marks |= mark_of(t);
        int behind = f.is_template || i == begin ? enter_scope(s, i, end, member, space) : -1;
        if (behind >= 0 && !is(&s->token[behind], "}"))
            return behind;
        if (behind >= 0 || is(t, "=")) { /* a class: variables may follow; an initialiser: up to the ';' */
            begin = behind >= 0 ? behind : begin;
            i = behind >= 0 ? behind : statement_end(s, i) - 1;
        } else if (is(t, "template"))
            f.is_template = true;
        else if (is(t, "<") && angle_end(s, i) > 0 && !is(t - 1, "operator")) {
            open = i;
            i = angle_end(s, i);
        } else if (is(t, "(") && !is_any(t - 1, types) &&
                   (name->kind == TOKEN_NAME || is(t - 2, "operator") || is(t - 3, "operator"))) {
            bool decoration = is_any(t - 1, decorations);
            if (t->partner < 0)
                return i + 1;
            i = t->partner;
            if (decoration)
                continue;
            if (s->token[i + 1].kind == TOKEN_NAME && !is_any(&s->token[i + 1], trailers))
                return i + 1;
            f.name = name;
            if (is(name - 1, "::")) { /* the definition of a member */
                f.space = name[-2].kind == TOKEN_NAME ? name - 2 : NULL;
                f.is_member = true;
            }
            for (int p = (int)(t - s->token); p < t->partner; p++)
                f.has_defaults |= is(&s->token[p], "=");
            f.parameters = (int)(t - s->token);
            int body = find_body(s, i + 1);
            f.body = is(&s->token[body], "{") ? body : -1;
            add_function(f);
            return f.body >= 0 && s->token[body].partner > 0 ? s->token[body].partner + 1 : body + 1;
        } else if (is(t, ";")) {
            if (!is(&s->token[begin], "enum"))
                add_variables(s, begin, i, f.marks, member);
            return i + 1;
        } else if (is(t, "}"))
            return i + 1;
        else if (t->partner > i)
            i = t->partner;
    }
    return end;
}

static void declare_range(const source *s, int i, int end, bool member, const token *space)
{
    while (i < end) {
        const token *t = &s->token[i];
        bool access = (is(t, "public") || is(t, "private") || is(t, "protected")) && is(t + 1, ":");
        if (t->kind == TOKEN_DIRECTIVE || is(t, ";"))
            i++;
        else
            i = access ? i + 2 : declaration(s, i, end, member, space);
    }
}

void declare(const source *s)
{
    declare_range(s, 1, s->tokens - 1, false, NULL);
}
