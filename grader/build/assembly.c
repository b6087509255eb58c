/* assembly.c -- the compiler's assembly text: every instruction is the compiler's, and data is not executable.
 *
 * GCC writes what an asm statement says between the lines #APP and #NO_APP; an empty template, a barrier for the
 * compiler, leaves neither. Directives for data are bytes; where instructions are expected, they would be executed.
 * Names and sections that contain other text than a name are refused before (build/tokens.c). */
#include "build/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether a line "\t.section\t.text.hot,"ax",@progbits" begins a section of instructions. */
static bool is_code(const char *line)
{
    const char *name = line + strcspn(line, " \t"), *end = line + strcspn(line, "\n");
    name += strspn(name, " \t");
    const char *flags = memchr(name, '"', (size_t)(end - name));
    const char *close = flags ? memchr(flags + 1, '"', (size_t)(end - flags - 1)) : NULL;
    return begins(name, ".text") || (close && memchr(flags, 'x', (size_t)(close - flags)));
}

/* Directives that put no bytes into the section, but for alignment. */
static bool is_without_bytes(const char *line)
{
    static const char *const known[] = { ".p2align", ".align", ".balign", ".cfi_",  ".loc",       ".file",
                                         ".size",    ".type",  ".globl",  ".weak",  ".hidden",    ".local",
                                         ".comm",    ".set",   ".ident",  ".lcomm", ".protected", ".internal" };
    for (int64_t i = 0; i < MT_COUNT(known); i++)
        if (begins(line, known[i]))
            return true;
    return false;
}

/* "#APP", and in the next line of the text, as a rule, "# 12 "labs/02-backprop/linear.c" 1". */
static void find_assembly(mg_findings *f, const char *next)
{
    mg_find(f, begins(next, "# ") ? atol(next + 2) : 0,
            "has assembly code (asm), which units may not have: write it in C, with intrinsics (immintrin.h) where C "
            "has no operator; an empty asm(\"\" ::: \"memory\") is allowed");
}

void mg_judge_assembly(mg_findings *f, const char *text)
{
    bool code = true, data = false, assembly = false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *next = line + strcspn(line, "\n");
        next += *next == '\n';
        line += strspn(line, " \t");
        if (begins(line, "#APP") && !assembly) {
            assembly = true;
            find_assembly(f, next);
        } else if (begins(line, ".section\t.note.GNU-stack,\"x\"")) {
            mg_find(f, 0,
                    "takes the address of a nested function, which units may not do, because it needs an executable "
                    "stack: make it a static function, and pass what it reads of the function around it");
        } else if (begins(line, ".section")) {
            code = is_code(line);
        } else if (begins(line, ".text") || begins(line, ".data") || begins(line, ".bss")) {
            code = line[1] == 't';
        } else if (code && line[0] == '.' && line[strcspn(line, ": \t\n")] != ':' && !is_without_bytes(line) && !data &&
                   !assembly) {
            data = true;
            mg_find(f, 0, "has data among its instructions (`%.*s`), which units may not have",
                    (int)strcspn(line, "\n"), line);
        }
    }
}
