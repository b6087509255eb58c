/* cli.h -- command lines as tables, output folders, how a program ends.
 *
 *     typedef struct options { int64_t steps; double rate; const char *out; bool quiet; mt_recipe recipe; } options;
 *     static const mt_option table[] = {
 *         { "steps", 's', "N", MT_I64(options, steps, 1, 1000), "Steps to train" },
 *         { "rate", 0, "RATE", MT_F64(options, rate, 1e-9, 1), "Learning rate; default: that of the model" },
 *         { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for results" },
 *         { "quiet", 'q', NULL, MT_FLAG(options, quiet), "No progress line" },
 *         { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" }, // groups are last
 *         { 0 },
 *     };
 *     options o = { .steps = 100 };
 *     mt_cli_parse(argc, argv, "Train a model.", table, &o);
 *
 * --help and --usage are made from the table; the defaults in --help are the values of the fields, or where such a
 * value is outside what may be chosen (rate is 0) the words behind "; default: ". A field of another type than its
 * option's does not compile. */
#pragma once

#include <stddef.h>

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_option_kind {
    MT_OPTION_FLAG,   /* bool, set to true */
    MT_OPTION_I64,    /* int64_t from low to high */
    MT_OPTION_F64,    /* double from low to high */
    MT_OPTION_TEXT,   /* const char *, lent */
    MT_OPTION_CHOICE, /* an enum: the number of a name */
    MT_OPTION_PARSED, /* by the option's own function */
    MT_OPTION_GROUP,  /* a struct with a table of its own */
} mt_option_kind;

typedef struct mt_option mt_option;
struct mt_option {
    const char *name;  /* of --name; NULL ends a table */
    char letter;       /* -n; 0: none */
    const char *value; /* what --help calls its value; after a '[', one that may be left out */
    mt_option_kind kind;
    size_t at; /* offset of the field in the struct */
    double low, high;
    mt_status (*parse)(const char *text, void *field); /* text NULL: left out */
    const mt_option *group;
    const char *const *names; /* of a choice; NULL ends them */
    const char *help;         /* a noun phrase; then "; default: " and words for a field without a value */
};

#define MT_FIELD(type, field, field_type) \
    (offsetof(type, field) + 0 * sizeof(_Generic(((type *)0)->field, field_type: 0)))
#define MT_FLAG(type, field) MT_OPTION_FLAG, MT_FIELD(type, field, bool), 0, 0, NULL, NULL, NULL
#define MT_I64(type, field, low, high) \
    MT_OPTION_I64, MT_FIELD(type, field, int64_t), low, (double)(high), NULL, NULL, NULL
#define MT_F64(type, field, low, high)   MT_OPTION_F64, MT_FIELD(type, field, double), low, high, NULL, NULL, NULL
#define MT_TEXT(type, field)             MT_OPTION_TEXT, MT_FIELD(type, field, const char *), 0, 0, NULL, NULL, NULL
#define MT_CHOICE(type, field, names)    MT_OPTION_CHOICE, MT_FIELD(type, field, unsigned), 0, 0, NULL, NULL, names
#define MT_PARSED(type, field, function) MT_OPTION_PARSED, offsetof(type, field), 0, 0, function, NULL, NULL
#define MT_GROUP(type, field, table)     MT_OPTION_GROUP, offsetof(type, field), 0, 0, NULL, table, NULL

/* mt_cli_parse -- change the fields of *options that the command line names; at most 80 options, groups included. A
 * wrong command line ends the program with a message that names the option, --help with the table; doc: what the
 * program does. Denormal numbers are 0 from here on (mt_flush_denormals), so it comes before any thread is started. */
void mt_cli_parse(int argc, char **argv, const char *doc, const mt_option *table, void *options);

/* mt_cli_parse_words -- the same for a program that also takes up to `most` words without an option; usage: what --help
 * calls them, "FILE...". */
typedef struct mt_words {
    char **item; /* lent */
    int64_t count;
} mt_words;
mt_words mt_cli_parse_words(int argc, char **argv, const char *doc, const mt_option *table, void *options,
                            const char *usage, int64_t most);

/* mt_cli_set -- from within the `parse` of an option, such as that of a file of options: set another option of the same
 * program by its name; value NULL: it has none. Lends value. An option that the command line names, before or after,
 * keeps the value from there. MT_ERR_ARGUMENT: no such option, or a value that is wrong, missing or one too many.
 * mt_cli_given -- option number i = 0, 1, ... of those that mt_cli_parse or mt_cli_set has set, in the order of the
 * table; *value NULL: it has none. False: there are fewer. */
mt_status mt_cli_set(const char *name, const char *value);
bool mt_cli_given(int64_t i, const char **name, const char **value);

/* mt_cli_i64, mt_cli_f64 -- the whole of text as a number from low to high. MT_ERR_ARGUMENT with a message that quotes
 * text and the bounds otherwise (NaN included); *out is then unchanged. */
mt_status mt_cli_i64(int64_t *out, const char *text, int64_t low, int64_t high);
mt_status mt_cli_f64(double *out, const char *text, double low, double high);

/* mt_cli_bytes -- a size of at least one byte: a number, with or without one of kB, MB, GB, TB (powers of 1000) and
 * KiB, MiB, GiB, TiB (of 1024) right behind it. Rounded down. MT_ERR_ARGUMENT otherwise; *out is then unchanged. */
mt_status mt_cli_bytes(int64_t *out, const char *text);

/* mt_cli_device -- for MT_PARSED: reads "cpu" or "cuda", and opens that device. */
mt_status mt_cli_device(const char *text, void *device);

/* mt_cli_choice -- the number of text among names. MT_ERR_ARGUMENT, which lists them, otherwise; *out is then
 * unchanged. what: "optimizer". */
mt_status mt_cli_choice(unsigned *out, const char *what, const char *text, const char *const *names);

extern const char *const mt_cli_floats[]; /* for MT_CHOICE of an mt_dtype: "f32", "f16", "bf16" */

/* mt_cli_folder -- make path and the folders above it; MT_OK when it exists. */
mt_status mt_cli_folder(const char *path);

/* mt_cli_catch_stop -- from now on Ctrl-C, SIGTERM, SIGHUP (the terminal is closed) and SIGUSR1 (Slurm's warning) only
 * make mt_cli_stopped true, so that the program can end where its files are complete. A second Ctrl-C kills as usual. A
 * SIGHUP that was ignored when the program began (nohup) stays so. mt_cli_keep_hangup -- the same before an exec. */
void mt_cli_catch_stop(void);
void mt_cli_keep_hangup(void);
bool mt_cli_stopped(void);

/* mt_cli_stop_after -- mt_cli_stopped becomes true after so many seconds, as by a signal; 0: never. */
void mt_cli_stop_after(double seconds);

/* mt_cli_guard_output -- called by mt_cli_parse: at exit, standard output that could not be written (the disk is full,
 * the reader of a pipe is gone) is reported on stderr, and status 0 becomes 1. A file that becomes larger than `ulimit
 * -f` allows is a failed write, too, and no longer kills (SIGXFSZ). */
void mt_cli_guard_output(void);

/* mt_cli_exit -- the exit status for main: 0 for MT_OK, and for MT_ERR_STOPPED by mt_cli_stop_after; 128 + the signal
 * for another MT_ERR_STOPPED; else 1. "program: mt_last_error()" on stderr unless MT_OK. */
int mt_cli_exit(mt_status status);

MT_C_END
