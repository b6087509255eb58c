/* config.c -- see config.h. */
#include "train/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "core/io.h"

#define BLANKS " \t\r"

static bool is_word(const char *name, const char *const *words)
{
    while (*words && strcmp(name, *words) != 0)
        words++;
    return *words;
}

/* The value remains in the line. */
static mt_status set_line(char *line)
{
    static const char *const alone[] = { "config", "help", "usage", NULL };
    char *name = line + strspn(line, BLANKS), *end = name + strlen(name);
    if (*name == 0 || *name == '#')
        return MT_OK;
    while (strchr(BLANKS, end[-1]))
        *--end = 0;
    size_t length = strcspn(name, BLANKS "=");
    char *value = name + length + strspn(name + length, BLANKS);
    value += *value == '=';
    value += strspn(value, BLANKS);
    const char *given = *value ? value : NULL;
    name[length] = 0;
    if (is_word(name, alone))
        return mt_fail(MT_ERR_ARGUMENT, "%s may stand on a command line only", name);
    return mt_cli_set(name, given);
}

mt_status mt_config_read(const char *path, void *field)
{
    uint8_t *bytes; /* never freed: options keep their values there */
    int64_t size, number = 1;
    MT_TRY(mt_file_read(&bytes, &size, path));
    bytes[size] = 0;
    for (char *line = (char *)bytes, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        mt_status status = set_line(line);
        if (status != MT_OK)
            return mt_fail(status, "%s: line %" PRId64 ": %s", path, number, mt_last_error());
    }
    *(const char **)field = path;
    return MT_OK;
}

mt_status mt_config_write(const char *path)
{
    static const char *const begins[] = { "config", "resume", "overwrite", NULL };
    const char *name, *value;
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    fprintf(file.out, "# %s --config THIS_FILE repeats the run; with --out DIR, beside it\n",
            program_invocation_short_name);
    for (int64_t i = 0; mt_cli_given(i, &name, &value); i++)
        if (!is_word(name, begins))
            fprintf(file.out, value ? "%s = %s\n" : "%s\n", name, value);
    return mt_file_writer_close(&file);
}
