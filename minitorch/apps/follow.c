/* follow.c -- shows a training run to other programs, from its files: metrics.csv as events for TensorBoard, and the
 * latest row of steps.csv (of metrics.csv where that is not there) to Prometheus; of a column that it leaves empty the
 * latest value. Training programs start it
 * where --tensorboard or --metrics-port is given; it ends with the run. See docs/MONITORING.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "follow/follow.h"
#include "prof/metrics_csv.h"

typedef struct options {
    int64_t port;
    bool tensorboard, background;
} options;

static const mt_option flags[] = {
    { "tensorboard", 0, NULL, MT_FLAG(options, tensorboard), "Write the rows of metrics.csv for TensorBoard" },
    { "metrics-port", 0, "PORT", MT_I64(options, port, 1024, 65535),
      "Show the run to Prometheus: http://127.0.0.1:PORT/metrics" },
    { "background", 0, NULL, MT_FLAG(options, background), "Return as soon as the port and the files are open" },
    { 0 },
};

enum { LINE = 4096, COLUMNS = 64 };

/* A CSV file that may grow. */
typedef struct table {
    FILE *in;  /* NULL: there is none */
    off_t end; /* of the rows that were read */
    char names[LINE], row[LINE];
    double value[COLUMNS]; /* the latest of each column that has had one */
    bool has[COLUMNS];
} table;

/* A line that is complete. */
static bool next_line(table *t, char line[LINE])
{
    if (!t->in || fseeko(t->in, t->end, SEEK_SET) != 0 || !fgets(line, LINE, t->in) || !strchr(line, '\n'))
        return false;
    t->end = ftello(t->in);
    return true;
}

static mt_status open_table(table *t, const char *dir, const char *name)
{
    char path[LINE];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    t->in = fopen(path, "re");
    return next_line(t, t->names) ? MT_OK : mt_fail(MT_ERR_IO, "%s: there are no numbers", path);
}

/* ---- the page of Prometheus ------------------------------------------------------------------------------ */

static const struct {
    const char *name, *help;
} known[] = {
    { "step", "Steps done, those before a restart included." },
    { "loss", "Training loss of the latest step." },
    { "lr", "Learning rate of the latest step." },
    { "grad_norm", "Norm of all gradients of the latest step, before it is limited." },
    { "first_step", "Steps done when this process began: above 0 after a restart." },
    { "start_time_seconds", "When this process began; it changes at each restart." },
    { "samples_total", "Samples trained on by this process and its ranks." },
    { "samples_per_second", "Of the latest step." },
    { "tokens_per_second", "Of the latest step." },
    { "mfu_ratio", "FLOPs of the model over those that the devices could do, latest step." },
    { "communication_ratio", "Share of the latest step in which rank 0 waited for others." },
    { "memory_bytes", "Tensors of this process on the device." },
    { "memory_peak_bytes", "The most of it." },
};

static const char *help_of(const char *name)
{
    for (int i = 0; i < MT_COUNT(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].help;
    return "A column of metrics.csv.";
}

static int put(char *page, int at, const char *name, double value)
{
    char text[32];
    if (isfinite(value))
        snprintf(text, sizeof text, "%.17g", value);
    else
        strcpy(text, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf");
    const char *type = strstr(name, "_total") ? "counter" : "gauge";
    int n =
        snprintf(page + at, (size_t)(MT_PAGE - at), "# HELP minitorch_%s %s\n# TYPE minitorch_%s %s\nminitorch_%s %s\n",
                 name, help_of(name), name, type, name, text);
    return at + n < MT_PAGE ? at + n : at;
}

/* The values of a row in the place of older ones. */
static void read_row(table *t)
{
    char *value = t->row, *end;
    for (int column = 0; column < COLUMNS && *value; column++, value = end + (*end == ',')) {
        double number = strtod(value, &end);
        if (end > value)
            t->value[column] = number, t->has[column] = true;
        end += strcspn(end, ",");
    }
}

/* A metric for each column that has a value. */
static void render(void *user, char page[MT_PAGE])
{
    table *t = user;
    char names[LINE], *at = names, *name;
    int n = 0;
    while (next_line(t, t->row))
        read_row(t);
    snprintf(names, sizeof names, "%.*s", (int)strcspn(t->names, "\n"), t->names);
    for (int column = 0; column < COLUMNS && (name = strsep(&at, ",")); column++)
        if (t->has[column])
            n = put(page, n, name, t->value[column]);
    page[n] = 0;
}

/* ---- the run --------------------------------------------------------------------------------------------- */

static mt_status follow(const options *o, mt_events *events, mt_page *page, table *metrics)
{
    const struct timespec pause = { .tv_nsec = 100000000 };
    char row[LINE];
    mt_status status = MT_OK;
    for (bool running = true; running && status == MT_OK;) {
        running = mt_metrics_written(fileno(metrics->in)); /* asked first: the last rows are read, too */
        while (o->tensorboard && status == MT_OK && next_line(metrics, row))
            status = mt_events_row(events, metrics->names, row);
        if (running && page)
            mt_page_serve(page, 0.1);
        else if (running)
            nanosleep(&pause, NULL);
    }
    return status;
}

int main(int argc, char **argv)
{
    options o = { 0 };
    table metrics = { 0 }, shown = { 0 };
    mt_events *events = NULL;
    mt_page *page = NULL;
    mt_words words =
        mt_cli_parse_words(argc, argv, "Show the run in DIR to other programs, until it ends.", flags, &o, "[DIR]", 1);
    const char *dir = words.count ? words.item[0] : "build/run/gpt2";
    if (!o.tensorboard && !o.port)
        return mt_cli_exit(mt_fail(MT_ERR_ARGUMENT, "for whom? --tensorboard, or --metrics-port PORT"));
    mt_status status = open_table(&metrics, dir, "metrics.csv");
    if (status == MT_OK && o.port && open_table(&shown, dir, "steps.csv") != MT_OK)
        status = open_table(&shown, dir, "metrics.csv");
    if (status == MT_OK && o.port)
        status = mt_page_open(&page, o.port, render, &shown);
    if (status == MT_OK && o.tensorboard)
        status = mt_events_open(&events, dir);
    if (status == MT_OK && o.background) {
        if (fork() > 0)
            _exit(0);
        setsid(); /* Ctrl-C is for the run, which may have steps to finish */
    }
    if (status == MT_OK)
        status = follow(&o, events, page, &metrics);
    mt_events_close(events);
    mt_page_close(page);
    return mt_cli_exit(status);
}
