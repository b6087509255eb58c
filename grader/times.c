/* times.c -- see times.h. */
#include "times.h"
#include "text.h"

#include <inttypes.h>

enum { ROWS = 512, VERDICTS = MG_ERROR + 1 };

static int64_t counts[ROWS][VERDICTS];

void mg_times_add(const mg_results *results)
{
    bool full = true;
    MT_CHECK(results->count <= ROWS, "more than %d rows", ROWS);
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        char points[32], max[32];
        counts[i][row->verdict]++;
        if (row->points >= row->max)
            continue;
        full = false;
        printf("%" PRIx64 "  %s %s/%s  %s %s\n", row->seed, mg_verdict_name(row->verdict),
               mg_points(points, row->points), mg_points(max, row->max), row->step, row->name);
    }
    if (full)
        printf("%" PRIx64 "  full\n", results->rows[0].seed);
    fflush(stdout);
}

void mg_times_report(const mg_results *results)
{
    int width = 0;
    for (int64_t i = 0; i < results->count; i++)
        width = (int)mt_max(width, mg_width(results->rows[i].name));
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        printf(" %s  %-*s", row->step, width, row->name);
        for (int v = 0; v < VERDICTS; v++)
            if (counts[i][v] > 0)
                printf("  %s %" PRId64, mg_verdict_name(v), counts[i][v]);
        printf("\n");
    }
}
