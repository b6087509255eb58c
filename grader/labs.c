/* labs.c -- the register of labs. */
#include "labs.h"

#include <stdlib.h>
#include <string.h>

const mg_lab *const mg_labs[] = { &mg_lab_00, &mg_lab_01, &mg_lab_02, &mg_lab_03, &mg_lab_04, &mg_lab_05,
                                  &mg_lab_06, &mg_lab_07, &mg_lab_08, &mg_lab_09, &mg_lab_10, &mg_lab_11,
                                  &mg_lab_12, &mg_lab_13, &mg_lab_14, &mg_lab_15, NULL };

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
