/* setting.c -- numbers in the environment: CUEMU_NAME=number. */
#include <stdio.h>
#include <stdlib.h>
#include "emulator/run/setting.h"

long emu_setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    char *end;
    if (!value || !*value)
        return otherwise;
    long number = strtol(value, &end, 10);
    if (!*end)
        return number;
    fprintf(stderr, "cuemu: %s=%s is not a number\n", name, value);
    exit(2);
}
