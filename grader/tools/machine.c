/* machine.c -- which functions of the reference's machine code are in objects (build/machine.h).
 *
 *   machine build/release/alike 01-matmul OBJECTS    level, unit, function, runs of bytes, per cent found */
#include "build/machine.h"
#include "labinfo.h"

#include <stdio.h>

static void print(const mg_machine *m, void *arg)
{
    (void)arg;
    printf("%-10s %-20s %-48s %6lld %4lld %%\n", m->level, m->unit, m->name, (long long)m->pieces,
           (long long)(100 * m->found / m->pieces));
}

int main(int argc, char **argv)
{
    char words[128];
    mg_labinfo info;
    if (argc != 4) {
        fprintf(stderr, "usage: machine build/release/alike 01-matmul OBJECTS\n");
        return 2;
    }
    if (mg_labinfo_read(&info, ".", argv[2]) != MT_OK) {
        fprintf(stderr, "machine: %s\n", mt_last_error());
        return 2;
    }
    mg_machine_compare(argv[1], &info, argv[3], print, NULL);
    mg_machine_words(argv[1], &info, argv[3], words, sizeof words);
    puts(words);
    mg_labinfo_free(&info);
    return 0;
}
