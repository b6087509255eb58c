/* translate.c -- CUDA C++ to C++ for the emulator.
 *
 *     translate UNIT.ii OUT.ii     rewrites a preprocessed unit; lines keep file and number. What the emulator
 *                                  cannot run is refused as `file:line: error: what, what to do`
 *     translate --members OUT.ii UNIT.s   renames the hooks of vectors' members in the compiled unit (members.c)
 *     translate --missing SAID     prints the header that g++ -E did not find, if it is one of CUDA's
 *     translate --explain SAID     prints g++'s messages, with our own about what the emulator does not support
 *
 * Exit status: 0 done, 1 refused or nothing to name, 2 a wrong command line. */
#include "emulator/translate/translate.h"

#include <stdio.h>
#include <string.h>

/* Host code may have a variable gridDim: the built-in variables become functions in device code only. */
static const char *const in_kernels[][2] = { { "threadIdx", "cuemu_thread_idx()" }, { "blockIdx", "cuemu_block_idx()" },
                                             { "blockDim", "cuemu_block_dim()" },   { "gridDim", "cuemu_grid_dim()" },
                                             { "memcpy", "cuemu_memcpy" },          { "memset", "cuemu_memset" } };

static const char *const marks[] = { "__host__",     "__device__", "__constant__", "__managed__", "__shared__",
                                     "__noinline__", NULL };

const char *new_name(const source *s, int i)
{
    const token *t = &s->token[i];
    if (t->kind != TOKEN_NAME)
        return NULL;
    if (is_any(t, marks)) /* but __attribute__((__noinline__)) of a system header */
        return is(t - 1, "(") && is(t, "__noinline__") ? NULL : "";
    if (is(t, "__global__")) /* GCC does not trace the store of s[i] = f() for a struct, so calls are inlined */
        return is(&s->token[i - 1], "template") ? "" : "__attribute__((flatten))";
    if (is(t - 1, ".") || is(t - 1, "->") || (is(t - 1, "::") && !is(t - 2, "std")))
        return NULL;
    if (is(t, "printf") && is(t + 1, "("))
        return is(t - 1, "::") ? NULL : "cuemu_printf";
    for (size_t b = 0; b < sizeof in_kernels / sizeof *in_kernels; b++)
        if (is(t, in_kernels[b][0]) && (b < 4 || (is(t + 1, "(") && !is(t - 1, "::"))) && in_device_code(s, i))
            return in_kernels[b][1];
    return NULL;
}

/* Attributes and pragmas with which GCC leaves out the hooks that see an access, or compiles for another processor. */
static void refuse_unseen(const source *s)
{
    static const char *const switches[] = {
        "no_instrument_function", "optimize",   "target", "naked",   "target_clones",
        "__optimize__",           "__target__", "alias",  "weakref", NULL
    };
    for (int i = 1; i < s->tokens - 1; i++) {
        const token *t = &s->token[i];
        bool pragma = t->kind == TOKEN_DIRECTIVE;
        bool list = t->partner > i &&
                    (is(t - 1, "__attribute__") || is(t - 1, "__attribute") || (is(t, "[") && is(t - 1, "[")));
        if (pragma &&
            (memmem(t->at, (size_t)t->length, "optimize", 8) || memmem(t->at, (size_t)t->length, "GCC target", 10)))
            complain(t, "this pragma is not supported by the emulator: every access must be seen");
        for (int k = i + 1; list && k < t->partner; k++)
            if (starts_with(&s->token[k], "no_sanitize") || starts_with(&s->token[k], "__no_sanitize") ||
                is_any(&s->token[k], switches))
                complain(&s->token[k],
                         "the attribute `%.*s` is not supported by the emulator: every access must be seen",
                         s->token[k].length, s->token[k].at);
    }
}

void rewrite_words(source *s)
{
    for (int i = 1; i < s->tokens - 1; i++) {
        const char *name = new_name(s, i);
        if (is(&s->token[i], "__launch_bounds__"))
            replace(s, i, s->token[i + 1].partner > i ? s->token[i + 1].partner + 1 : i + 1, "");
        else if (name)
            replace(s, i, i + 1, name);
    }
}

int main(int argc, char **argv)
{
    static source unit;
    source *s = &unit;
    if (argc == 4 && strcmp(argv[1], "--members") == 0)
        return members(argv[2], argv[3]);
    if (argc != 3) {
        fputs("usage: translate UNIT.ii OUT.ii | --members OUT.ii UNIT.s | --missing SAID | --explain SAID\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "--missing") == 0)
        return missing(argv[2]);
    if (strcmp(argv[1], "--explain") == 0)
        return explain(argv[2]);
    if (!source_read(s, argv[1])) {
        perror(argv[1]);
        return 1;
    }
    declare(s);
    check(s);
    refuse_unseen(s);
    rewrite_launches(s);
    rewrite_variables(s);
    rewrite_asm(s);
    rewrite_words(s);
    if (!source_write(s, argv[2])) {
        perror(argv[2]);
        return 1;
    }
    return complaints != 0;
}
