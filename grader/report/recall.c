/* recall.c -- the rows of an earlier grade, from its results.json (results_json.c), for those that were not run now. */
#include "rows/counted.h"
#include "json.h"
#include "rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_string(const cJSON *object, const char *key, char *text, size_t size)
{
    snprintf(text, size, "%s", mg_json_string(object, key));
}

static const char not_graded[] = "not graded yet";

static bool is_row(const cJSON *test, const mg_row *row)
{
    return strcmp(mg_json_string(test, "number"), row->step) == 0 &&
           strcmp(mg_json_string(test, "name"), row->name) == 0;
}

static void take_row(mg_row *row, const cJSON *test)
{
    const cJSON *extra = cJSON_GetObjectItem(test, "extra_data");
    double points = mg_json_number(extra, "points");
    for (mg_verdict v = MG_PASS; v <= MG_ERROR; v++)
        if (strcmp(mg_json_verdict(test), mg_verdict_name(v)) == 0)
            row->verdict = v;
    row->max = row->verdict == MG_SKIPPED ? 0 : row->max;
    row->points = points > 0 && row->verdict == MG_PASS ? fmin(points, row->max) : 0;
    row->seed = strtoull(mg_json_string(extra, "seed"), NULL, 16);
    take_string(extra, "part", row->part, sizeof row->part);
    take_string(extra, "call", row->call, sizeof row->call);
    take_string(extra, "detail", row->detail, sizeof row->detail);
    take_string(extra, "hint", row->hint, sizeof row->hint);
    take_string(extra, "note", row->note, sizeof row->note);
    take_string(extra, "printed", row->printed, sizeof row->printed);
    take_string(extra, "follows", row->follows, sizeof row->follows);
    row->measured = mg_json_number(extra, "measured");
    row->low = mg_json_number(extra, "low");
    row->full = mg_json_number(extra, "full");
    row->toy = mg_json_number(extra, "toy");
    row->reference = mg_json_number(extra, "reference");
    row->seconds = fmax(mg_json_number(extra, "seconds"), 0); /* not NaN */
    mg_counted_take(row, extra);
}

static bool take_ran(mg_row *row, const mg_results *now)
{
    for (int64_t i = 0; i < now->count; i++)
        if (now->rows[i].ran && strcmp(now->rows[i].step, row->step) == 0 &&
            strcmp(now->rows[i].name, row->name) == 0) {
            *row = now->rows[i];
            return true;
        }
    return false;
}

/* A row that has not run and was not there before is as it was: "not graded yet". */
static bool take_earlier(mg_row *row, const cJSON *json)
{
    const cJSON *test;
    cJSON_ArrayForEach(test, cJSON_GetObjectItem(json, "tests"))
    {
        if (is_row(test, row)) {
            take_row(row, test);
            return strcmp(row->note, not_graded) != 0;
        }
    }
    return false;
}

void mg_recall_open(mg_results *results, const char *path)
{
    int64_t kept = 0;
    cJSON *json = mg_json_read(path);
    const cJSON *test;
    for (int64_t i = 0; i < results->count; i++) {
        bool open = false;
        cJSON_ArrayForEach(test, cJSON_GetObjectItem(json, "tests"))
        {
            open = open || (is_row(test, &results->rows[i]) &&
                            strcmp(mg_json_verdict(test), mg_verdict_name(MG_INCONCLUSIVE)) == 0);
        }
        if (open)
            results->rows[kept++] = results->rows[i];
    }
    results->count = kept;
    cJSON_Delete(json);
}

mt_status mg_recall(mg_results *all, const mg_results *now, const mg_lab *lab, const char *path)
{
    *all = *now;
    all->rows = NULL;
    all->sources = NULL;
    mt_status status = mg_rows_make(all, lab, NULL);
    if (status != MT_OK)
        return status;
    cJSON *json = mg_json_read(path);
    const cJSON *units = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "extra_data"), "units");
    if (cJSON_IsString(units) && strcmp(units->valuestring, now->units) != 0) { /* of other units */
        cJSON_Delete(json);
        json = NULL;
    }
    for (int64_t i = 0; i < all->count; i++) {
        mg_row *row = &all->rows[i];
        row->verdict = MG_TODO;
        row->measured = row->low = row->full = row->toy = row->reference = NAN;
        snprintf(row->note, sizeof row->note, "%s", not_graded);
        if (!take_ran(row, now)) {
            bool earlier = take_earlier(row, json);
            all->recalled += earlier;
            all->missing += !earlier;
        }
        row->ran = true;
    }
    cJSON_Delete(json);
    mg_rows_add_up(all);
    return MT_OK;
}
