/* cli.c -- option tables over argp, output folders; how a program ends is in ending.c. */
#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/denormals.h"
#include "core/device.h"
#include "core/dtype.h"

/* ---- values --------------------------------------------------------------------------------------- */

mt_status mt_cli_i64(int64_t *out, const char *text, int64_t low, int64_t high)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not a whole number from %" PRId64 " to %" PRId64, text, low, high);
    *out = value;
    return MT_OK;
}

mt_status mt_cli_bytes(int64_t *out, const char *text)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = { { "", 1 },         { "kB", 1e3 },     { "MB", 1e6 },     { "GB", 1e9 },    { "TB", 1e12 },
                  { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 } };
    char *end;
    double value = strtod(text, &end);
    for (int i = 0; i < MT_COUNT(units) && end != text; i++) {
        double bytes = value * units[i].bytes;
        if (strcmp(end, units[i].name) == 0 && bytes >= 1 && bytes < 0x1p62) {
            *out = (int64_t)bytes;
            return MT_OK;
        }
    }
    return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not a number of bytes, such as 500MB, 2.5GB or 2GiB", text);
}

mt_status mt_cli_f64(double *out, const char *text, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not a number from %g to %g", text, low, high);
    *out = value;
    return MT_OK;
}

mt_status mt_cli_device(const char *text, void *device)
{
    mt_device parsed;
    mt_status status = mt_device_parse(text, &parsed);
    if (status == MT_OK)
        status = mt_device_open(parsed);
    if (status == MT_OK)
        *(mt_device *)device = parsed;
    return status;
}

const char *const mt_cli_floats[] = { [MT_F32] = "f32", [MT_F16] = "f16", [MT_BF16] = "bf16", NULL };

mt_status mt_cli_choice(unsigned *out, const char *what, const char *text, const char *const *names)
{
    char all[256] = "";
    for (unsigned k = 0; names[k]; k++) {
        size_t used = strlen(all);
        if (strcmp(text, names[k]) == 0) {
            *out = k;
            return MT_OK;
        }
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", names[k]);
    }
    return mt_fail(MT_ERR_ARGUMENT, "there is no %s \"%.40s\": use one of %s", what, text, all);
}

/* ---- options -------------------------------------------------------------------------------------- */

enum { MOST = 80, NO_LETTER = 0x100 };

/* All tables of a program, one after the other. */
typedef struct command {
    int count;
    const mt_option *option[MOST];
    char *base[MOST];                                 /* the struct that holds its field */
    enum { NOWHERE, ELSEWHERE, IN_LINE } named[MOST]; /* where its value comes from: IN_LINE, the command line */
    const char *text[MOST];                           /* that value */
    struct argp_option flag[MOST + 1];                /* the same for argp */
    mt_words words;
    int64_t most; /* words */
} command;

static command latest; /* of mt_cli_parse_words */

static void add_table(command *c, const mt_option *option, char *base)
{
    for (; option->name; option++) {
        int i = c->count++, key = option->letter ? option->letter : NO_LETTER + i;
        MT_CHECK(i < MOST, "more than %d options", MOST);
        c->option[i] = option;
        c->base[i] = base;
        if (option->kind == MT_OPTION_GROUP) {
            c->flag[i].doc = option->help;
            add_table(c, option->group, base + option->at);
        } else {
            bool optional = option->value && *option->value == '[';
            int flags = optional ? OPTION_ARG_OPTIONAL : 0;
            c->flag[i] = (struct argp_option){ option->name, key, option->value + optional, flags, option->help, 0 };
        }
    }
}

/* ---- help ----------------------------------------------------------------------------------------- */

/* The value that an option has where the command line does not name it, as text; false: none, as its field is outside
 * what may be chosen. */
static bool default_of(char text[256], const mt_option *o, const void *field)
{
    bool has = true;
    switch (o->kind) {
    case MT_OPTION_I64:
        has = (double)*(const int64_t *)field >= o->low && (double)*(const int64_t *)field <= o->high;
        snprintf(text, 256, "%" PRId64, *(const int64_t *)field);
        break;
    case MT_OPTION_F64:
        has = *(const double *)field >= o->low && *(const double *)field <= o->high;
        snprintf(text, 256, "%g", *(const double *)field);
        break;
    case MT_OPTION_TEXT:
        has = *(const char *const *)field;
        snprintf(text, 256, "%s", has ? *(const char *const *)field : "");
        break;
    case MT_OPTION_CHOICE:
        snprintf(text, 256, "%s", o->names[*(const unsigned *)field]);
        break;
    default:
        has = false;
    }
    return has;
}

/* argp calls it with each text of --help. A help "what; default: words" has these for a field without a value. */
static char *add_default(int key, const char *text, void *input)
{
    const command *c = input;
    char value[256], *line = NULL;
    int i = 0;
    while (c && i < c->count && (c->flag[i].key != key || !c->flag[i].name))
        i++;
    if (!c || i == c->count || !text)
        return (char *)text;
    static const char mark[] = "; default: ";
    const char *words = strstr(text, mark);
    int what = (int)(words ? words - text : (long)strlen(text));
    bool has = default_of(value, c->option[i], c->base[i] + c->option[i]->at);
    if (!has && !words)
        return (char *)text;
    if (asprintf(&line, "%.*s (default: %s)", what, text, has ? value : words + sizeof mark - 1) < 0)
        return NULL;
    return line;
}

/* ---- parsing -------------------------------------------------------------------------------------- */

static mt_status set(const mt_option *option, void *field, const char *text)
{
    switch (option->kind) {
    case MT_OPTION_FLAG:
        *(bool *)field = true;
        return MT_OK;
    case MT_OPTION_I64: /* 0x1p63 is what INT64_MAX becomes as a double */
        return mt_cli_i64(field, text, (int64_t)option->low, option->high < 0x1p63 ? (int64_t)option->high : INT64_MAX);
    case MT_OPTION_F64:
        return mt_cli_f64(field, text, option->low, option->high);
    case MT_OPTION_CHOICE:
        return mt_cli_choice(field, option->name, text, option->names);
    case MT_OPTION_TEXT:
        *(const char **)field = text;
        return MT_OK;
    default:
        return option->parse(text, field);
    }
}

static mt_status take(command *c, int i, const char *text, unsigned from)
{
    MT_TRY(set(c->option[i], c->base[i] + c->option[i]->at, text));
    c->named[i] = from, c->text[i] = text;
    return MT_OK;
}

mt_status mt_cli_set(const char *name, const char *value)
{
    command *c = &latest;
    int i = 0;
    while (i < c->count && (c->option[i]->kind == MT_OPTION_GROUP || strcmp(c->option[i]->name, name) != 0))
        i++;
    if (i == c->count)
        return mt_fail(MT_ERR_ARGUMENT, "there is no option \"%.40s\": --help lists them", name);
    const mt_option *o = c->option[i];
    if (!value && o->value && *o->value != '[')
        return mt_fail(MT_ERR_ARGUMENT, "%s needs a value: %s", name, o->value);
    if (value && !o->value)
        return mt_fail(MT_ERR_ARGUMENT, "%s takes no value", name);
    return c->named[i] == IN_LINE ? MT_OK : take(c, i, value, ELSEWHERE);
}

bool mt_cli_given(int64_t n, const char **name, const char **value)
{
    for (int i = 0; i < latest.count; i++)
        if (latest.named[i] != NOWHERE && n-- == 0) {
            *name = latest.option[i]->name, *value = latest.text[i];
            return true;
        }
    return false;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    command *c = state->input;
    if (key == ARGP_KEY_ARG) { /* argp delivers them after all options */
        if (c->words.count == c->most)
            argp_error(state, "unexpected argument '%s'", text);
        if (c->words.count++ == 0)
            c->words.item = state->argv + state->next - 1;
        return 0;
    }
    for (int i = 0; i < c->count; i++) {
        if (c->flag[i].key != key || !c->flag[i].name)
            continue;
        const char *next = state->next < state->argc ? state->argv[state->next] : NULL;
        if (!text && c->flag[i].flags == OPTION_ARG_OPTIONAL && next && *next >= '0' && *next <= '9')
            text = state->argv[state->next++]; /* "--resume 500", which argp takes only as "--resume=500" */
        if (take(c, i, text, IN_LINE) != MT_OK)
            argp_error(state, "--%s: %s", c->option[i]->name, mt_last_error());
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

mt_words mt_cli_parse_words(int argc, char **argv, const char *doc, const mt_option *table, void *options,
                            const char *usage, int64_t most)
{
    command *c = &latest;
    *c = (command){ .most = most };
    mt_cli_guard_output();
    mt_flush_denormals(true);
    add_table(c, table, options);
    const struct argp argp = {
        .options = c->flag, .parser = parse, .args_doc = usage, .doc = doc, .help_filter = add_default
    };
    argp_parse(&argp, argc, argv, 0, NULL, c);
    return c->words;
}

void mt_cli_parse(int argc, char **argv, const char *doc, const mt_option *table, void *options)
{
    mt_cli_parse_words(argc, argv, doc, table, options, NULL, 0);
}

/* ---- folders --------------------------------------------------------------------------------------- */

mt_status mt_cli_folder(const char *path)
{
    char part[4096];
    struct stat info;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return mt_fail(MT_ERR_ARGUMENT, "'%.200s': not a folder's name", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return mt_fail(MT_ERR_IO, "cannot make the folder %s: %s", part, strerror(errno));
    }
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode))
        return mt_fail(MT_ERR_IO, "cannot make the folder %s: a file has that name", path);
    return MT_OK;
}
