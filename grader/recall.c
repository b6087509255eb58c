/* recall.c -- the rows of an earlier grade, from its results.json (report_json.c), for those that were not run now. */
#include "counted.h"
#include "rows.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_report(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    ssize_t n = getdelim(&text, &size, 0, file);
    fclose(file);
    cJSON *json = n > 0 ? cJSON_Parse(text) : NULL;
    free(text);
    return json;
}

static void take_string(const cJSON *object, const char *key, char *text, size_t size)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    snprintf(text, size, "%s", value ? value : "");
}

static double take_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is_row(const cJSON *test, const mg_row *row)
{
    const char *step = cJSON_GetStringValue(cJSON_GetObjectItem(test, "number"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(test, "name"));
    return step && name && strcmp(step, row->step) == 0 && strcmp(name, row->name) == 0;
}

static void take_row(mg_row *row, const cJSON *test)
{
    const cJSON *extra = cJSON_GetObjectItem(test, "extra_data");
    char verdict[32], seed[32];
    double points = take_number(test, "score");
    take_string(extra, "verdict", verdict, sizeof verdict);
    for (mg_verdict v = MG_PASS; v <= MG_ERROR; v++)
        if (strcmp(verdict, mg_verdict_name(v)) == 0)
            row->verdict = v;
    row->points = points > 0 && row->verdict == MG_PASS ? fmin(points, row->max) : 0;
    take_string(extra, "seed", seed, sizeof seed);
    row->seed = strtoull(seed, NULL, 16);
    take_string(extra, "call", row->call, sizeof row->call);
    take_string(extra, "detail", row->detail, sizeof row->detail);
    take_string(extra, "hint", row->hint, sizeof row->hint);
    take_string(extra, "note", row->note, sizeof row->note);
    take_string(extra, "printed", row->printed, sizeof row->printed);
    take_string(extra, "follows", row->follows, sizeof row->follows);
    row->measured = take_number(extra, "measured");
    row->low = take_number(extra, "low");
    row->full = take_number(extra, "full");
    row->toy = take_number(extra, "toy");
    row->reference = take_number(extra, "reference");
    row->seconds = fmax(take_number(extra, "seconds"), 0); /* not NaN */
    mg_counted_take(row, extra);
}

static void take_ran(mg_row *row, const mg_results *now)
{
    for (int64_t i = 0; i < now->count; i++)
        if (now->rows[i].ran && strcmp(now->rows[i].step, row->step) == 0 && strcmp(now->rows[i].name, row->name) == 0)
            *row = now->rows[i];
}

void mg_recall_open(mg_results *results, const char *path)
{
    int64_t kept = 0;
    cJSON *json = read_report(path);
    const cJSON *test;
    for (int64_t i = 0; i < results->count; i++) {
        bool open = false;
        cJSON_ArrayForEach(test, cJSON_GetObjectItem(json, "tests"))
        {
            const cJSON *verdict = cJSON_GetObjectItem(cJSON_GetObjectItem(test, "extra_data"), "verdict");
            open = open || (is_row(test, &results->rows[i]) && cJSON_IsString(verdict) &&
                            strcmp(verdict->valuestring, mg_verdict_name(MG_INCONCLUSIVE)) == 0);
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
    cJSON *json = read_report(path);
    const cJSON *test, *units = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "extra_data"), "units");
    if (cJSON_IsString(units) && strcmp(units->valuestring, now->units) != 0) { /* of other units */
        cJSON_Delete(json);
        json = NULL;
    }
    for (int64_t i = 0; i < all->count; i++) {
        mg_row *row = &all->rows[i];
        row->verdict = MG_TODO;
        row->measured = row->low = row->full = row->toy = row->reference = NAN;
        snprintf(row->note, sizeof row->note, "not graded yet");
        cJSON_ArrayForEach(test, cJSON_GetObjectItem(json, "tests"))
        {
            if (is_row(test, row))
                take_row(row, test);
        }
        take_ran(row, now);
        row->ran = true;
    }
    cJSON_Delete(json);
    mg_rows_add_up(all);
    return MT_OK;
}
