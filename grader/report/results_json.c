/* results_json.c -- results.json in Gradescope's schema.
 * Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (Output Format). */
#include "rows/counted.h"
#include "json.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_string(cJSON *object, const char *key, const char *text)
{
    char *plain = mg_plain(text); /* cJSON escapes quotes and newlines, but does not check UTF-8 */
    MT_CHECK(cJSON_AddStringToObject(object, key, plain), "out of memory");
    free(plain);
}

static void add_item(cJSON *object, const char *key, cJSON *item)
{
    MT_CHECK(item && cJSON_AddItemToObject(object, key, item), "out of memory");
}

/* The lines that the terminal shows below the row. */
static void add_output(cJSON *test, const mg_row *row)
{
    char text[sizeof *row + 100];
    size_t used = (size_t)snprintf(text, sizeof text, "%s  %s", mg_verdict_name(row->verdict), row->note);
    if (row->verdict != MG_PASS && row->verdict != MG_TODO) {
        if (row->part[0])
            used += (size_t)snprintf(text + used, sizeof text - used, "\npart: %s", row->part);
        if (row->call[0])
            used += (size_t)snprintf(text + used, sizeof text - used, "\n%s   seed %llx", row->call,
                                     (unsigned long long)row->seed);
        if (row->detail[0])
            used += (size_t)snprintf(text + used, sizeof text - used, "\n%s", row->detail);
        if (row->printed[0])
            used += (size_t)snprintf(text + used, sizeof text - used, "\nprinted: %s", row->printed);
        if (row->follows[0])
            snprintf(text + used, sizeof text - used, "\nhint: mend this first: %s", row->follows);
        else if (row->hint[0])
            snprintf(text + used, sizeof text - used, "\nhint: %s", row->hint);
    }
    add_string(test, "output", text);
    add_string(test, "output_format", "text");
}

/* Only rows of a grade have a score, which Gradescope adds up; extra_data has their points for later grades. */
static cJSON *test_of(const mg_row *any, bool graded)
{
    const mg_row seen = mg_row_seen(any), *row = &seen;
    cJSON *test = cJSON_CreateObject(), *extra = cJSON_CreateObject();
    char seed[32];
    MT_CHECK(test && extra, "out of memory");
    add_string(test, "number", row->step);
    add_string(test, "name", row->name);
    if (graded)
        mg_json_add_number(test, "score", row->points);
    mg_json_add_number(test, "max_score", row->max);
    /* An open row did not fail: it has no status, so that Gradescope uses the points. */
    if (!mg_verdict_open(row->verdict))
        add_string(test, "status", row->verdict == MG_PASS ? "passed" : "failed");
    add_output(test, row);
    mg_json_add_number(extra, "points", row->points);
    add_string(extra, "verdict", mg_verdict_name(row->verdict));
    snprintf(seed, sizeof seed, "%llx", (unsigned long long)row->seed); /* a double cannot hold 64 bits */
    add_string(extra, "seed", seed);
    add_string(extra, "part", row->part);
    add_string(extra, "call", row->call);
    add_string(extra, "detail", row->detail);
    add_string(extra, "hint", row->hint);
    add_string(extra, "note", row->note);
    add_string(extra, "printed", row->printed);
    add_string(extra, "follows", row->follows);
    mg_json_add_number(extra, "seconds", row->seconds);
    mg_json_add_number(extra, "measured", row->measured);
    if (isfinite(row->measured)) {
        mg_json_add_number(extra, "low", row->low);
        mg_json_add_number(extra, "full", row->full);
        mg_json_add_number(extra, "toy", row->toy);
        mg_json_add_number(extra, "reference", row->reference);
    }
    mg_counted_json(extra, row);
    add_item(test, "extra_data", extra);
    return test;
}

static void add_words(cJSON *root, const mg_results *results)
{
    char text[sizeof results->remark + sizeof results->build_log + sizeof results->warning + sizeof results->ignored +
              264];
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s%s",
             mg_errors(results) ? "This is not a grade: the grader could not run some rows (ERROR), and that is not "
                                  "the fault of the submission. It must be graded again.\n"
                                : "",
             results->remark, results->remark[0] ? "\n" : "", results->warning[0] ? "warning: " : "", results->warning,
             results->ignored[0] ? "\nignored: " : "", results->ignored,
             results->build_log[0] ? "\nThe compiler says:\n" : "", results->build_log);
    add_string(root, "output", text);
    add_string(root, "output_format", "text");
}

mt_status mg_report_json(const char *path, const mg_results *results)
{
    cJSON *root = cJSON_CreateObject(), *tests = cJSON_CreateArray(), *extra = cJSON_CreateObject();
    MT_CHECK(root && tests && extra, "out of memory");
    bool graded = mg_errors(results) == 0;
    if (graded)
        mg_json_add_number(root, "score", results->points);
    mg_json_add_number(root, "execution_time", results->seconds);
    add_words(root, results);
    add_string(root, "visibility", "visible");
    for (int64_t i = 0; i < results->count; i++)
        MT_CHECK(cJSON_AddItemToArray(tests, test_of(&results->rows[i], graded)), "out of memory");
    add_item(root, "tests", tests);
    MT_CHECK(cJSON_AddBoolToObject(extra, "graded", graded), "out of memory");
    add_string(extra, "lab", results->lab);
    add_string(extra, "title", results->title);
    add_string(extra, "units", results->units);
    add_string(extra, "machine", results->machine);
    mg_json_add_number(extra, "max_score", results->max);
    mg_json_add_number(extra, "calls", results->calls);
    add_item(root, "extra_data", extra);
    return mg_json_write(root, path);
}
