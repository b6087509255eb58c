/* record.c -- a library to preload into a program that was compiled with -finstrument-functions (FLAVOUR=calls): which
 * of its functions run in step 3 of its loop, from the third call of one function to the fourth.
 *
 *   RECORD_FROM   that function's offset in the program, in hexadecimal (nm)
 *   RECORD_INTO   a file, overwritten: the offset of each function that ran, one a line. Then the program ends. */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 3, SLOTS = 1 << 14 };

static uintptr_t base, from;
static int steps;             /* calls of that function so far */
static uintptr_t seen[SLOTS]; /* a hash table of functions */

static int take_base(struct dl_phdr_info *program, size_t size, void *user)
{
    (void)size, (void)user;
    base = program->dlpi_addr;
    return 1; /* the first one is the program itself */
}

__attribute__((constructor)) static void begin(void)
{
    const char *offset = getenv("RECORD_FROM");
    dl_iterate_phdr(take_base, NULL);
    from = offset ? base + strtoul(offset, NULL, 16) : 0;
}

static void finish(void)
{
    const char *path = getenv("RECORD_INTO");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < SLOTS; i++)
        if (seen[i])
            fprintf(file, "%#lx\n", (unsigned long)(seen[i] - base));
    _Exit(!file || fclose(file) != 0);
}

/* Threads that meet in a free slot both try to take it: one does, the other looks again. */
static void note(uintptr_t function)
{
    for (unsigned i = (unsigned)(function >> 4) % SLOTS;; i = (i + 1) % SLOTS) {
        uintptr_t none = 0;
        if (__atomic_compare_exchange_n(&seen[i], &none, function, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            none == function)
            return;
    }
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if ((uintptr_t)function == from && steps++ == STEP)
        finish();
    if (steps == STEP)
        note((uintptr_t)function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}
