/* translate.c -- CUDA C++ to C++ for the emulator: translate [-I DIR]... --shim DIR --out DIR UNIT.cu
 *
 * Writes OUT/unit.cpp and a copy of every local header; all keep their line numbers. What the emulator cannot run is
 * refused as `file:line: error: what, what to do`. Exit status: 0 done, 1 refused, 2 a wrong command line. */
#include "emulator/translate/translate.h"

#include <stdio.h>
#include <string.h>

static const char *parse(int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "-I") == 0 && more) {
            the_unit.include = grow(the_unit.include, the_unit.includes, sizeof(char *));
            the_unit.include[the_unit.includes++] = argv[++i];
        } else if (strcmp(argv[i], "--shim") == 0 && more) {
            the_unit.shim = argv[++i];
        } else if (strcmp(argv[i], "--out") == 0 && more) {
            the_unit.out = argv[++i];
        } else if (argv[i][0] != '-' && !path) {
            path = argv[i];
        } else {
            return NULL;
        }
    }
    return the_unit.shim && the_unit.out ? path : NULL;
}

/* Names that no macro can stand for: the C++ library's headers use the first two for their own ends, and host code may
 * well call a variable gridDim. */
void rewrite_words(source *s)
{
    static const char *const builtin[][2] = { { "threadIdx", "cuemu_thread_idx()" },
                                              { "blockIdx", "cuemu_block_idx()" },
                                              { "blockDim", "cuemu_block_dim()" },
                                              { "gridDim", "cuemu_grid_dim()" } };
    for (int i = 1; i < s->tokens - 1; i++) {
        const token *t = &s->token[i];
        if (is(t, "__noinline__"))
            replace(s, i, i + 1, is(t - 1, "(") ? "noinline" : "__attribute__((noinline))");
        if (is(t - 1, ".") || is(t - 1, "->") || is(t - 1, "::"))
            continue;
        if (is(t, "printf") && is(t + 1, "("))
            replace(s, i, i + 1, "cuemu_printf");
        for (int b = 0; b < 4; b++)
            if (is(t, builtin[b][0]) && (t->macro || in_device_code(s, i)))
                replace(s, i, i + 1, builtin[b][1]);
    }
}

int main(int argc, char **argv)
{
    const char *path = parse(argc, argv);
    if (!path) {
        fputs("usage: translate [-I DIR]... --shim DIR --out DIR UNIT.cu\n", stderr);
        return 2;
    }
    if (!unit_load(path)) {
        perror(path);
        return 1;
    }
    learn_shim();
    for (int i = the_unit.sources - 1; i >= 0; i--)
        declare(the_unit.source[i]);
    for (int i = 0; i < the_unit.sources; i++) {
        source *s = the_unit.source[i];
        refuse_unsupported(s);
        check(s);
        rewrite_launches(s);
        rewrite_variables(s);
        rewrite_asm(s);
        rewrite_words(s);
    }
    for (int i = 0; i < the_unit.sources && the_unit.errors == 0; i++)
        source_write(the_unit.source[i]);
    return the_unit.errors != 0;
}
