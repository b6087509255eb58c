/* unnamed.c -- rows that no mutant names: nobody has seen them fail.
 *
 *   unnamed [NN] <ROWS
 *
 * ROWS has the rows of the mutants' heads, one in a line, "02.6 softmax: random shapes": they name the rows of that
 * step whose names hold the words. Prints the rows of lab NN, or of all labs, that none names; exit status 1 when there
 * are some. */
#include "labs.h"
#include "rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct list {
    char **line;
    int64_t count;
} list;

static list read_lines(FILE *in)
{
    list all = { 0 };
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, in) > 0) {
        line[strcspn(line, "\n")] = 0;
        all.line = realloc(all.line, (size_t)(all.count + 1) * sizeof *all.line);
        MT_CHECK(all.line, "out of memory");
        all.line[all.count++] = strdup(line);
    }
    free(line);
    return all;
}

static bool names(const char *line, const mg_row *row)
{
    size_t n = strlen(row->step);
    return strncmp(line, row->step, n) == 0 && line[n] == ' ' && strstr(row->name, line + n + 1);
}

static int64_t print_unnamed(const mg_lab *lab, const list *mutants)
{
    mg_results results = { 0 };
    int64_t missing = 0;
    MT_CHECK(mg_rows_make(&results, lab, NULL) == MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < results.count; i++) {
        bool named = false;
        for (int64_t m = 0; m < mutants->count && !named; m++)
            named = names(mutants->line[m], &results.rows[i]);
        if (!named)
            printf("%s %s\n", results.rows[i].step, results.rows[i].name);
        missing += !named;
    }
    mg_results_free(&results);
    return missing;
}

int main(int argc, char **argv)
{
    int64_t missing = 0;
    list mutants = read_lines(stdin);
    for (const mg_lab *const *lab = mg_labs; *lab; lab++)
        if (argc < 2 || strncmp((*lab)->id, argv[1], 2) == 0)
            missing += print_unnamed(*lab, &mutants);
    for (int64_t m = 0; m < mutants.count; m++)
        free(mutants.line[m]);
    free(mutants.line);
    return missing > 0;
}
