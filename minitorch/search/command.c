/* command.c -- see slot.h. */
#include "search/slot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/";

/* The next {name} from `text` on and its length with braces; NULL: there is none. ${name} is the shell's. */
static const char *placeholder(const char *text, size_t *length)
{
    for (const char *at = text; (at = strchr(at, '{')); at++) {
        size_t name = strspn(at + 1, NAME);
        if (name > 0 && at[1 + name] == '}' && (at == text || at[-1] != '$')) {
            *length = name + 2;
            return at;
        }
    }
    return NULL;
}

static bool is(const char *at, size_t length, const char *name)
{
    return strlen(name) + 2 == length && strncmp(at + 1, name, length - 2) == 0;
}

static bool reserved(const char *at, size_t length)
{
    return is(at, length, "steps") || is(at, length, "trial") || is(at, length, "dir");
}

mt_status mt_command_check(const char *command, const mt_search *search)
{
    const mt_space *space = &search->space;
    size_t length;
    bool steps = false, has[MT_SPACE_DIMENSIONS] = { 0 };
    for (const char *at = command; (at = placeholder(at, &length)); at += length) {
        bool known = reserved(at, length);
        steps |= is(at, length, "steps");
        for (int64_t d = 0; d < space->count; d++)
            if (is(at, length, space->dimension[d].name))
                known = has[d] = true;
        if (!known)
            return mt_fail(MT_ERR_ARGUMENT, "%.*s is neither a hyperparameter of --space nor {steps}, {dir}, {trial}",
                           (int)length, at);
    }
    for (int64_t d = 0; d < space->count; d++) {
        const char *name = space->dimension[d].name;
        if (strcmp(name, "steps") == 0 || strcmp(name, "trial") == 0 || strcmp(name, "dir") == 0)
            return mt_fail(MT_ERR_ARGUMENT, "a hyperparameter cannot be named %s: {%s} is the sweep's", name, name);
        if (!has[d])
            return mt_fail(MT_ERR_ARGUMENT, "the command has no {%s}, so that %s would change nothing", name, name);
    }
    if (search->eta && !steps)
        return mt_fail(MT_ERR_ARGUMENT, "the command has no {steps}, and rungs differ by their steps");
    return MT_OK;
}

/* Within '...', where the shell takes all but ' as it is. */
static void quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

mt_status mt_command_fill(char out[MT_COMMAND_BYTES], const char *command, const mt_space *space, const mt_job *job,
                          const char *dir)
{
    size_t length;
    FILE *text = fmemopen(out, MT_COMMAND_BYTES, "w");
    MT_CHECK(text, "out of memory");
    setbuf(text, NULL); /* or a text that is too long shows only when it is closed */
    for (const char *at; (at = placeholder(command, &length)); command = at + length) {
        fwrite(command, 1, (size_t)(at - command), text);
        if (is(at, length, "steps"))
            fprintf(text, "%" PRId64, job->steps);
        else if (is(at, length, "trial"))
            fprintf(text, "%" PRId64, job->trial);
        else if (is(at, length, "dir"))
            quoted(text, dir);
        for (int64_t d = 0; d < space->count; d++)
            if (is(at, length, space->dimension[d].name))
                fputs(mt_space_value(space, d, &job->point), text);
    }
    fputs(command, text);
    fputc(0, text);
    bool failed = ferror(text) || ftell(text) > MT_COMMAND_BYTES - 1;
    fclose(text);
    return failed ? mt_fail(MT_ERR_ARGUMENT, "the command of a trial is longer than %d bytes", MT_COMMAND_BYTES)
                  : MT_OK;
}
