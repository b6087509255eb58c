/* course_use.c -- what a course changes in a grade, and the course file of students. */
#include "course/course.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const mg_course_lab *mg_course_find(const mg_course *course, const mg_lab *lab)
{
    for (int64_t i = 0; i < course->count; i++)
        if (course->labs[i].lab == lab)
            return &course->labs[i];
    return NULL;
}

double mg_course_late(const mg_course_lab *lab, time_t submitted)
{
    double late = difftime(submitted, lab->due);
    return lab->due && late > 60 * lab->late.grace_minutes ? ceil(late / 86400) : 0;
}

double mg_course_share(const mg_course_lab *lab, time_t submitted)
{
    double days = mg_course_late(lab, submitted);
    if (days > 0 && difftime(submitted, lab->due) > 86400 * lab->late.days)
        return 0;
    return fmax(0, 1 - lab->late.percent_per_day / 100 * days);
}

static bool is_hidden(const mg_course_lab *lab, const mg_course_row *row, time_t now)
{
    return row->visibility == MG_NEVER || (row->visibility == MG_AFTER_DUE && now <= lab->due);
}

void mg_course_apply(mg_results *results, const mg_course_lab *lab, time_t now)
{
    for (int64_t i = 0; lab && i < results->count; i++) {
        mg_row *row = &results->rows[i];
        for (int64_t j = 0; j < lab->count; j++)
            if (strcmp(lab->rows[j].step, row->step) == 0 && strcmp(lab->rows[j].name, row->name) == 0) {
                row->max = lab->rows[j].points;
                row->hidden = is_hidden(lab, &lab->rows[j], now);
            }
    }
}

void mg_course_set_bars(mg_labinfo *info, const mg_course_lab *lab)
{
    for (int64_t i = 0; lab && i < lab->bar_count; i++) {
        mg_labinfo_set_bar(info, lab->bars[i].name, "low", lab->bars[i].low);
        mg_labinfo_set_bar(info, lab->bars[i].name, "full", lab->bars[i].full);
    }
}

/* ---- the file of students -------------------------------------------------------------------------- */

static void set_time(cJSON *object, const char *key, time_t when)
{
    char text[32];
    struct tm tm;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &tm));
    MT_CHECK(cJSON_AddStringToObject(object, key, text), "out of memory");
}

static cJSON *add_object(cJSON *object, const char *key)
{
    cJSON *item = cJSON_AddObjectToObject(object, key);
    MT_CHECK(item, "out of memory");
    return item;
}

/* Whether the step of this bar, "01.5" of "01.5 packed: speed", has a row that is not always visible. */
static bool step_hides(const mg_course_lab *lab, const char *bar)
{
    bool hides = false;
    for (int64_t i = 0; i < lab->count; i++) {
        size_t n = strlen(lab->rows[i].step);
        bool same = strncmp(bar, lab->rows[i].step, n) == 0 && (!bar[n] || bar[n] == ' ');
        hides = hides || (same && lab->rows[i].visibility != MG_ALWAYS);
    }
    return hides;
}

static void add_lab(cJSON *labs, const mg_course_lab *lab)
{
    char key[sizeof lab->rows->step + sizeof lab->rows->name + 1];
    snprintf(key, sizeof key, "%.2s", lab->lab->id);
    cJSON *json = add_object(labs, key);
    if (lab->due)
        set_time(json, "due", lab->due);
    if (lab->after)
        set_time(json, "after", lab->after);
    if (lab->due) {
        cJSON *late = add_object(json, "late");
        mg_json_add_number(late, "percent_per_day", lab->late.percent_per_day);
        mg_json_add_number(late, "days", lab->late.days);
        mg_json_add_number(late, "grace_minutes", lab->late.grace_minutes);
    }
    MT_CHECK(cJSON_AddStringToObject(json, "counts", lab->last ? "last" : "best"), "out of memory");
    cJSON *points = add_object(json, "points");
    for (int64_t i = 0; i < lab->count; i++) {
        const mg_course_row *row = &lab->rows[i];
        snprintf(key, sizeof key, "%s %s", row->step, row->name);
        if (row->visibility == MG_ALWAYS)
            mg_json_add_number(points, key, row->points);
    }
    cJSON *parts = lab->parts ? add_object(json, "by_hand") : NULL;
    for (int i = 0; i < lab->parts; i++)
        mg_json_add_number(parts, lab->part[i].name, lab->part[i].points);
    cJSON *bars = lab->bar_count ? add_object(json, "bars") : NULL;
    for (int64_t i = 0; i < lab->bar_count; i++)
        if (!step_hides(lab, lab->bars[i].name)) {
            cJSON *bar = add_object(bars, lab->bars[i].name);
            mg_json_add_number(bar, "low", lab->bars[i].low);
            mg_json_add_number(bar, "full", lab->bars[i].full);
        }
}

mt_status mg_course_for_students(const mg_course *course, const char *path)
{
    cJSON *root = cJSON_CreateObject();
    MT_CHECK(root && cJSON_AddStringToObject(root, "course", course->title), "out of memory");
    if (course->best_of && course->best_of <= course->count)
        mg_json_add_number(root, "best_of", course->best_of);
    cJSON *labs = add_object(root, "labs");
    for (int64_t i = 0; i < course->count; i++)
        add_lab(labs, &course->labs[i]);
    return mg_json_write(root, path);
}
