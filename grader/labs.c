/* labs.c -- the register of labs. */
#include "labs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MG_LABS is LAB(00) LAB(01) ... of the folders in labs/ that have a lab.json (Makefile). */
#define LAB(number) extern const mg_lab mg_lab_##number;
MG_LABS
#undef LAB
#define LAB(number) &mg_lab_##number,
const mg_lab *const mg_labs[] = { MG_LABS NULL };

const mg_lab *mg_lab_find(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    bool is_number = name[0] && *end == 0;
    for (const mg_lab *const *lab = mg_labs; *lab; lab++)
        if (strcmp((*lab)->id, name) == 0 || (is_number && strtol((*lab)->id, NULL, 10) == number))
            return *lab;
    return NULL;
}

const char *mg_lab_next(const mg_lab *lab, const char *step)
{
    static char words[32] = "";
    int64_t last = lab->count - 1;
    while (last >= 0 && strcmp(lab->groups[last].step, step) != 0)
        last--;
    if (last + 1 < lab->count)
        snprintf(words, sizeof words, " STEP=%s", lab->groups[last + 1].step);
    return words;
}
