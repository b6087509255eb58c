/* launches.c -- `kernel<<<grid, block, shared, stream>>>(args)` becomes a call of the shim's cuemu::launch_site:
 *
 *     ::cuemu::launch_site("kernel", "unit.cu", 12, grid, block, shared, stream).run(kernel, args)
 *
 * A function template whose arguments are to be deduced has no address; it is called from a lambda instead:
 *
 *     ....call([&](auto &...a) { kernel(a...); }, args)
 *
 * and a kernel with __launch_bounds__ begins by checking them. */
#include "emulator/translate/translate.h"

#include <string.h>

/* The first token of the postfix expression that ends at token i: name, ns::name<...>, table[i].entry, (expression). */
static int expression_begin(const source *s, int i)
{
    for (;;) {
        const token *t = &s->token[i];
        if (is(t, ">") && angle_begin(s, i) > 0) {
            i = angle_begin(s, i) - 1;
            continue;
        }
        if ((is(t, ")") || is(t, "]")) && t->partner > 0) {
            i = t->partner;
            if (s->token[i - 1].kind != TOKEN_NAME && !is(t - 1, ")") && !is(t - 1, "]"))
                return i;
            i--;
            continue;
        }
        if (t->kind != TOKEN_NAME)
            return i + 1;
        if (is(t - 1, ".") || is(t - 1, "->"))
            i -= 2;
        else if (is(t - 1, "::") && (t[-2].kind == TOKEN_NAME || is(t - 2, ">")))
            i -= 2;
        else
            return is(t - 1, "::") ? i - 1 : i;
    }
}

/* The first of the three '>' that close the configuration opened at i; -1: there is none. */
static int configuration_end(const source *s, int i)
{
    for (; s->token[i].kind != TOKEN_END; i++) {
        const token *t = &s->token[i];
        if (is(t, ">") && is(t + 1, ">") && is(t + 2, ">") && t[2].at == t->at + 2 && is(t + 3, "("))
            return i;
        if (t->partner > i)
            i = t->partner;
    }
    return -1;
}

/* Can the kernel be passed by its address? Not if it is a template or overloaded, nor if it has default arguments,
 * which a call through the address does not have. */
static bool has_address(const source *s, int open)
{
    return !is(&s->token[open - 1], ">") && !needs_arguments(&s->token[open - 1]);
}

/* NULL is an integer where the type of the parameter is not known. */
static void rewrite_nulls(source *s, int open)
{
    for (int i = open + 1; i < s->token[open].partner; i++) {
        const token *t = &s->token[i];
        if (is(t, "__null") && (is(t - 1, "(") || is(t - 1, ",")) && (is(t + 1, ",") || is(t + 1, ")")))
            replace(s, i, i + 1, "nullptr");
        if (t->partner > i)
            i = t->partner;
    }
}

static void rewrite_launch(source *s, int open)
{
    int begin = expression_begin(s, open - 1), close = configuration_end(s, open + 1);
    const token *at = &s->token[open];
    if (begin >= open || close < 0 || s->token[close + 3].partner < 0) {
        complain(at, "a launch reads kernel<<<grid, block>>>(arguments)");
        return;
    }
    const char *kernel = span(s, begin, open), *configuration = span(s, open + 1, close);
    const function *first = NULL;
    unsigned marks = marks_of_function(&s->token[open - 1], &first);
    if (in_device_code(s, open))
        complain(at,
                 "device code launches `%s`: dynamic parallelism is not supported by the emulator; "
                 "launch it from the host",
                 kernel);
    else if (marks && !(marks & GLOBAL))
        complain(at, "`%s` is launched but is not a kernel (%s:%d): mark it __global__", kernel, first->name->file,
                 first->name->line);
    const char *comma = s->token[close + 3].partner == close + 4 ? "" : ", ";
    const char *site = format("::cuemu::launch_site(%s, \"%s\", %d, %s)", quoted(s, begin, open), s->token[begin].file,
                              s->token[begin].line, configuration);
    if (has_address(s, open)) {
        replace(s, begin, close + 4, format("%s.run(%s%s", site, kernel, comma));
    } else {
        rewrite_nulls(s, close + 3);
        replace(s, begin, close + 4,
                format("%s.call([&](auto &...cuemu_a) __attribute__((no_sanitize_thread, no_sanitize_coverage))"
                       " { %s(cuemu_a...); }%s",
                       site, kernel, comma));
    }
}

/* `__launch_bounds__(threads, ...)` is checked at the start of the kernel's body: a template's are known only there. */
static void check_bounds(source *s, const function *f)
{
    for (int i = f->begin; i < f->body; i++)
        if (is(&s->token[i], "__launch_bounds__") && s->token[i + 1].partner > i + 2) {
            const char *bounds = span(s, i + 2, s->token[i + 1].partner);
            insert_after(s, f->body, format(" ::cuemu_launch_bounds(%s);", bounds));
            if (!needs_arguments(f->name)) /* for cudaOccupancyMaxPotentialBlockSize */
                insert_after(
                    s, s->token[f->body].partner,
                    format(" static ::cuemu_bound cuemu_bound%d __attribute__((used, section(\"cuemu_bound\")))"
                           " = { (const void *)%.*s, ::cuemu_bounded(%s) };",
                           f->body, f->name->length, f->name->at, bounds));
        }
}

/* cudaLaunchKernel((void *)kernel, ...): the launch needs the kernel's type, so the cast is removed. */
static void rewrite_call(source *s, int name, bool cooperative)
{
    int kernel = name + 2, end;
    const token *t = &s->token[kernel];
    int cast = is(t, "(") && t->partner > 0 && is(&s->token[t->partner - 1], "*") ? t->partner : 0;
    for (int i = kernel + 1; i < cast - 1; i++)
        cast = is(&s->token[i], "void") || is(&s->token[i], "const") ? cast : 0;
    kernel = cast ? cast + 1 : kernel;
    for (end = kernel; end < s->token[name + 1].partner && !is(&s->token[end], ","); end++)
        end = is(&s->token[end], "<") && angle_end(s, end) > 0 ? angle_end(s, end)
              : s->token[end].partner > end                    ? s->token[end].partner
                                                               : end;
    replace(s, name, kernel,
            format("::cuemu::launch_kernel<%s>(%s, \"%s\", %d, ", cooperative ? "true" : "false",
                   quoted(s, kernel, end), t->file, s->token[name].line));
}

/* The token behind `(void *)` or `reinterpret_cast<void *>(` at token i; 0: there is no such cast. */
static int behind_cast(const source *s, int i)
{
    int star = i + 1, stars = 0;
    bool named = is(&s->token[i], "reinterpret_cast") && is(&s->token[i + 1], "<");
    if (!named && !is(&s->token[i], "("))
        return 0;
    star += named;
    while (is(&s->token[star], "const") || is(&s->token[star], "void") || is(&s->token[star], "*"))
        stars += is(&s->token[star++], "*");
    if (stars != 1 || !is(&s->token[star], named ? ">" : ")") || (named && !is(&s->token[star + 1], "(")))
        return 0;
    return star + 1 + named;
}

/* A kernel's address as a void pointer: the runtime learns the types of its arguments, for graphs. */
static void rewrite_address(source *s, int i)
{
    const function *first = NULL;
    int begin = behind_cast(s, i), end;
    if (!begin)
        return;
    begin += is(&s->token[begin], "&");
    for (end = begin; s->token[end].kind == TOKEN_NAME && is(&s->token[end + 1], "::"); end += 2)
        ;
    if (s->token[end].kind != TOKEN_NAME || marks_of_function(&s->token[end], &first) != GLOBAL || in_device_code(s, i))
        return;
    end += is(&s->token[end + 1], "<") && angle_end(s, end + 1) > 0 ? angle_end(s, end + 1) - end + 1 : 1;
    if (is(&s->token[end], "(") || is(&s->token[end], "<<<"))
        return;
    replace(s, i, end + is(&s->token[i], "reinterpret_cast"),
            format("::cuemu::kernel_address(%s, %s)", quoted(s, begin, end), span(s, begin, end)));
}

void rewrite_launches(source *s)
{
    for (int i = 1; i < s->tokens - 1; i++) {
        rewrite_address(s, i);
        const token *t = &s->token[i];
        bool cooperative = is(t, "cudaLaunchCooperativeKernel");
        if (is(t, "<<<"))
            rewrite_launch(s, i);
        else if ((cooperative || is(t, "cudaLaunchKernel")) && is(t + 1, "("))
            rewrite_call(s, i, cooperative);
    }
    for (int f = 0; f < functions; f++)
        if (the_function[f].marks & GLOBAL && the_function[f].body >= 0)
            check_bounds(s, &the_function[f]);
}
