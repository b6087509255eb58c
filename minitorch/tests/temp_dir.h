/* temp_dir.h -- a temporary folder per test of the data sets, and files in it. */
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/storage.h"

static char temp_dir[64];

static void temp_dir_make(void)
{
    strcpy(temp_dir, "/tmp/mt_data_XXXXXX");
    cr_assert(mkdtemp(temp_dir) != NULL);
}

static void temp_dir_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", temp_dir);
    cr_assert(system(command) == 0);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0, "something was not freed");
}

/* in_dir -- DIR/name; valid until 4 more calls. */
__attribute__((unused)) static const char *in_dir(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", temp_dir, name);
    return path[turn];
}

__attribute__((unused)) static int64_t size_of(const char *path)
{
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    return info.st_size;
}

/* cut -- make the file shorter, or longer by zeros, by `by` bytes. */
__attribute__((unused)) static void cut(const char *path, int64_t by)
{
    struct stat info;
    cr_assert(stat(path, &info) == 0 && truncate(path, info.st_size - by) == 0);
}

/* poke -- change one byte of the file. */
__attribute__((unused)) static void poke(const char *path, int64_t at, int byte)
{
    FILE *file = fopen(path, "r+b");
    cr_assert(file && fseek(file, at, SEEK_SET) == 0 && fputc(byte, file) == byte && fclose(file) == 0);
}

#define SAYS(words) cr_assert(strstr(mt_last_error(), words), "\"%s\" does not say \"%s\"", mt_last_error(), words)
