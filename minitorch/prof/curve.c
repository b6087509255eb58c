/* curve.c -- writes a gnuplot script into a nameless file and lets gnuplot read it. No shell: names may hold any
 * character. */
#include "prof/curve.h"
#include "core/io.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `what` and a gnuplot string; in single quotes only the quote itself is special, and doubled. */
static void put_text(FILE *script, const char *what, const char *text)
{
    fprintf(script, "%s '", what);
    for (; *text; text++)
        fprintf(script, *text == '\'' ? "''" : "%c", *text);
    fputs("'\n", script);
}

/* ---- the left axis --------------------------------------------------------------------------------------- */

enum { COLUMNS = 64 };

static bool on_left(const mt_curve *curve, const char *column)
{
    for (int i = 0; i < MT_CURVE_LINES && curve->line[i].column; i++)
        if (curve->line[i].axis == MT_CURVE_LEFT && strcmp(curve->line[i].column, column) == 0)
            return true;
    return false;
}

/* The least and the largest value of the columns on the left axis; low > high: there is none. */
static void range_of(double *low, double *high, const char *csv, const mt_curve *curve)
{
    char *line = NULL, *at, *field, *end;
    size_t room = 0;
    bool left[COLUMNS] = { 0 };
    FILE *file = fopen(csv, "re");
    *low = INFINITY, *high = -INFINITY;
    for (bool names = true; file && getline(&line, &room, file) > 0; names = false) {
        at = line;
        line[strcspn(line, "\n")] = 0;
        for (int column = 0; column < COLUMNS && (field = strsep(&at, ",")); column++) {
            double value = names ? NAN : strtod(field, &end);
            if (names)
                left[column] = on_left(curve, field);
            else if (left[column] && end > field && isfinite(value))
                *low = fmin(*low, value), *high = fmax(*high, value);
        }
    }
    free(line);
    if (file)
        fclose(file);
}

/* A range with a margin. Below three decades 10, 20, 50, 100 ... have labels, above only the powers of ten. */
static void put_left_axis(FILE *script, const char *csv, const mt_curve *curve)
{
    double low, high;
    range_of(&low, &high, csv, curve);
    if (!(high > low))
        return;
    bool logarithmic = low > 0 && high >= 10 * low;
    double margin = logarithmic ? 0 : 0.04 * (high - low), factor = logarithmic ? 1.1 : 1;
    fprintf(script, "set yrange [%.9g:%.9g]\n", (low - margin) / factor, (high + margin) * factor);
    if (!logarithmic)
        return;
    fputs("set logscale y\n", script);
    if (high >= 1000 * low)
        return;
    fputs("set ytics (", script);
    for (int power = (int)floor(log10(low)); power <= (int)ceil(log10(high)); power++)
        fprintf(script, "1e%d, 2e%d, 5e%d, ", power, power, power);
    fprintf(script, "%.9g)\n", high * 10); /* outside: a list has no comma at its end */
}

/* ---- the script ------------------------------------------------------------------------------------------ */

static void plot_lines(FILE *script, const mt_curve *curve, int lines, const char *const *colors)
{
    for (int i = 0; i < lines; i++)
        fprintf(script,
                "%s csv using (column(along)):(column(c%d)) title t%d axes x1%s with linespoints lw 2 pt 7 ps 0.5 "
                "lc rgb '%s'",
                i == 0 ? "plot" : ",", i, i, curve->line[i].axis == MT_CURVE_RIGHT ? "y2" : "y1", colors[i]);
}

/* The highest area first: each covers the lower part of the one before. */
static void plot_areas(FILE *script, int lines, const char *const *colors)
{
    for (int i = lines - 1; i >= 0; i--) {
        fprintf(script, "%s csv using (column(along)):(0", i == lines - 1 ? "plot" : ",");
        for (int k = 0; k <= i; k++)
            fprintf(script, "+column(c%d)", k);
        fprintf(script, ") title t%d with filledcurves y1=0 lc rgb '%s'", i, colors[i]);
    }
}

static void put_script(FILE *script, const char *csv, const mt_curve *curve)
{
    static const char *const colors[MT_CURVE_LINES] = {
        "#1f5fa8", "#6fa8dc", "#c0392b", "#2e7d32", "#8e44ad", "#7f8c8d"
    };
    char name[16];
    int lines = 0;
    fputs("set terminal svg size 720,420 dynamic enhanced background rgb 'white' font 'sans-serif,13'\n"
          "set datafile separator ','\nset border 3 lc rgb '#888888'\nset tics nomirror\n"
          "set grid lc rgb '#dddddd'\nset key below height 1\nset format y '%g'\nset datafile missing ''\n",
          script);
    if (curve->stacked)
        fputs("set key rmargin top vertical Left reverse samplen 2 width -4\nset yrange [0:*]\nset autoscale xfix\n",
              script);
    else
        put_left_axis(script, csv, curve);
    put_text(script, "set title", curve->title);
    put_text(script, "set xlabel", curve->x);
    put_text(script, "set ylabel", curve->left);
    if (curve->right) {
        fputs("set border 11\nset y2tics\n", script);
        put_text(script, "set y2label", curve->right);
    }
    put_text(script, "csv =", csv);
    put_text(script, "along =", curve->x);
    for (; lines < MT_CURVE_LINES && curve->line[lines].column; lines++) {
        snprintf(name, sizeof name, "c%d =", lines);
        put_text(script, name, curve->line[lines].column);
        *name = 't';
        put_text(script, name, curve->line[lines].label);
    }
    if (curve->stacked)
        plot_areas(script, lines, colors);
    else
        plot_lines(script, curve, lines, colors);
    fputc('\n', script);
}

/* Runs gnuplot with its standard input and output on these descriptors and waits for its end. */
static mt_status run_gnuplot(int script, int svg)
{
    char *const argv[] = { "gnuplot", "-", NULL };
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, svg, STDOUT_FILENO);
    int failed = posix_spawnp(&child, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return mt_fail(MT_ERR_UNAVAILABLE, "no curve: gnuplot could not be started (%s); apt install gnuplot-nox",
                       strerror(failed));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return mt_fail(MT_ERR_IO, "no curve: waiting for gnuplot failed: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return mt_fail(MT_ERR_IO, "no curve: gnuplot could not draw it (what it says is above)");
    return MT_OK;
}

mt_status mt_curve_svg(const char *svg, const char *csv, const mt_curve *curve)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, svg);
    if (status != MT_OK)
        return status;
    FILE *script = tmpfile();
    if (script) {
        put_script(script, csv, curve);
        rewind(script);
        status = run_gnuplot(fileno(script), file.fd);
        fclose(script);
    } else {
        status = mt_fail(MT_ERR_IO, "no curve: cannot write a temporary file: %s", strerror(errno));
    }
    if (status == MT_OK)
        return mt_file_writer_close(&file);
    mt_file_writer_abandon(&file);
    return status;
}
