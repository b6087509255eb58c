/* curve.c -- writes a gnuplot script into a nameless file and lets gnuplot read it. No shell: names may hold any
 * character. */
#include "prof/curve.h"
#include "core/io.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* put_quoted -- a gnuplot string; in single quotes only the quote itself is special, and doubled. */
static void put_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++)
        fprintf(script, *text == '\'' ? "''" : "%c", *text);
    fputc('\'', script);
}

static void put_setting(FILE *script, const char *name, const char *value)
{
    fprintf(script, "set %s ", name);
    put_quoted(script, value);
    fputc('\n', script);
}

static void put_column(FILE *script, const char *column)
{
    fputs("column(", script);
    put_quoted(script, column);
    fputc(')', script);
}

static void plot_lines(FILE *script, const char *csv, const mt_curve *curve, const char *const *colors)
{
    for (int i = 0; i < MT_CURVE_LINES && curve->line[i].column; i++) {
        fputs(i == 0 ? "plot " : ", ", script);
        put_quoted(script, csv);
        fputs(" using (", script);
        put_column(script, curve->x);
        fputs("):(", script);
        put_column(script, curve->line[i].column);
        fputs(") title ", script);
        put_quoted(script, curve->line[i].label);
        fprintf(script, " axes x1%s with linespoints lw 2 pt 7 ps 0.5 lc rgb '%s'",
                curve->line[i].axis == MT_CURVE_RIGHT ? "y2" : "y1", colors[i]);
    }
}

/* The highest area first: each covers the lower part of the one before. */
static void plot_areas(FILE *script, const char *csv, const mt_curve *curve, const char *const *colors)
{
    int lines = 0;
    while (lines < MT_CURVE_LINES && curve->line[lines].column)
        lines++;
    for (int i = lines - 1; i >= 0; i--) {
        fputs(i == lines - 1 ? "plot " : ", ", script);
        put_quoted(script, csv);
        fputs(" using (", script);
        put_column(script, curve->x);
        fputs("):(0", script);
        for (int k = 0; k <= i; k++) {
            fputc('+', script);
            put_column(script, curve->line[k].column);
        }
        fputs(") title ", script);
        put_quoted(script, curve->line[i].label);
        fprintf(script, " with filledcurves y1=0 lc rgb '%s'", colors[i]);
    }
}

static void put_script(FILE *script, const char *csv, const mt_curve *curve)
{
    static const char *const colors[MT_CURVE_LINES] = {
        "#1f5fa8", "#6fa8dc", "#c0392b", "#2e7d32", "#8e44ad", "#7f8c8d"
    };
    fputs("set terminal svg size 720,420 dynamic enhanced background rgb 'white' font 'sans-serif,13'\n"
          "set datafile separator ','\nset border 3 lc rgb '#888888'\nset tics nomirror\n"
          "set grid lc rgb '#dddddd'\nset key below height 1\nset format y '%g'\n",
          script);
    fputs(curve->stacked ? "set key rmargin top vertical Left reverse samplen 2 width -4\nset yrange [0:*]\n"
                           "set autoscale xfix\n"
                         : "set logscale y\n",
          script);
    put_setting(script, "title", curve->title);
    put_setting(script, "xlabel", curve->x);
    put_setting(script, "ylabel", curve->left);
    if (curve->right) {
        fputs("set border 11\nset y2tics\n", script);
        put_setting(script, "y2label", curve->right);
    }
    (curve->stacked ? plot_areas : plot_lines)(script, csv, curve, colors);
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
