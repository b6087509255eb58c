/* course.c -- see course.h. */
#include "course/course.h"
#include "course/course_bars.h"
#include "course/course_text.h"
#include "course/students.h"
#include "labs.h"
#include "rows/rows.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* ---- single values -------------------------------------------------------------------------------- */

static mt_status read_late(const mg_course_text *t, const cJSON *object, mg_late *late)
{
    static const char *const known[] = { "percent_per_day", "days", "grace_minutes", NULL };
    const cJSON *item = get(object, "late");
    if (!item)
        return MT_OK;
    *late = (mg_late){ .days = INFINITY };
    mt_status status = mg_course_keys(t, item, "\"late\"", known);
    if (status == MT_OK)
        status = mg_course_number(t, item, "percent_per_day", 0, 100, &late->percent_per_day);
    if (status == MT_OK)
        status = mg_course_number(t, item, "days", 0, 1000, &late->days);
    if (status == MT_OK)
        status = mg_course_number(t, item, "grace_minutes", 0, 10000, &late->grace_minutes);
    return status;
}

/* Which of several submissions counts. */
static mt_status read_counts(const mg_course_text *t, const cJSON *object, bool *last)
{
    const cJSON *item = get(object, "counts");
    const char *value = cJSON_GetStringValue(item);
    if (item && !(value && (strcmp(value, "best") == 0 || strcmp(value, "last") == 0)))
        return mg_course_refuse(t, item, "\"counts\" must be \"best\" or \"last\": which submission of a lab counts");
    if (item)
        *last = strcmp(value, "last") == 0;
    return MT_OK;
}

static mt_status read_seed(const mg_course_text *t, const cJSON *lab, uint64_t *seed)
{
    const cJSON *item = get(lab, "seed");
    const char *value = cJSON_GetStringValue(item);
    size_t length = value ? strspn(value, "0123456789abcdefABCDEF") : 0;
    if (!item)
        return MT_OK;
    *seed = length > 0 && length <= 16 && !value[length] ? strtoull(value, NULL, 16) : 0;
    if (*seed == 0)
        return mg_course_refuse(t, item,
                                "\"seed\" must be up to 16 hexadecimal digits in quotes, not all 0: \"5eed01\"");
    return MT_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static const char *const visibilities[] = {
    [MG_ALWAYS] = "always", [MG_AFTER_DUE] = "after_due", [MG_NEVER] = "never"
};

bool mg_course_means(const char *key, const mg_course_row *row)
{
    size_t n = strlen(row->step);
    return strncmp(key, row->step, n) == 0 && (!key[n] || (key[n] == ' ' && strcmp(key + n + 1, row->name) == 0));
}

static bool is_step(const char *key)
{
    return !strchr(key, ' ');
}

/* Refuse a key that means no row of the lab. */
static mt_status check_row(const mg_course_text *t, const mg_course_lab *lab, const cJSON *item, const char *key)
{
    char steps[200] = "";
    for (int64_t i = 0; i < lab->count; i++) {
        const mg_course_row *row = &lab->rows[i];
        if (mg_course_means(key, row))
            return MT_OK;
        if (i == 0 || strcmp(row->step, row[-1].step) != 0)
            snprintf(steps + strlen(steps), sizeof steps - strlen(steps), " %s", row->step);
    }
    return mg_course_refuse(t, item,
                            "lab %.2s has no \"%.80s\": use a step (%s), or a step and a row as make grade shows it",
                            lab->lab->id, key, steps + 1);
}

/* Give these rows `points` together, in the proportion of the checks' weights. False: they have none. */
static bool share_out(mg_course_lab *lab, const bool *chosen, double points)
{
    double sum = 0;
    for (int64_t i = 0; i < lab->count; i++)
        sum += chosen[i] ? lab->rows[i].points : 0;
    for (int64_t i = 0; i < lab->count; i++)
        if (chosen[i])
            lab->rows[i].points *= sum > 0 ? points / sum : 0;
    return sum > 0 || points == 0;
}

/* The points of a row, or of a step: its rows without points of their own share what the others leave. */
static mt_status take_points(const mg_course_text *t, mg_course_lab *lab, const cJSON *points, const cJSON *item)
{
    const char *key = item->string;
    double value = 0;
    mt_status status = check_row(t, lab, item, key);
    if (status == MT_OK)
        status = mg_course_number(t, points, key, 0, 1e6, &value);
    if (status != MT_OK)
        return status;
    bool *chosen = calloc((size_t)lab->count, sizeof *chosen);
    MT_CHECK(chosen, "out of memory");
    double left = value;
    for (int64_t i = 0; i < lab->count; i++) {
        char own[sizeof lab->rows[i].step + sizeof lab->rows[i].name + 1];
        mg_course_row *row = &lab->rows[i];
        snprintf(own, sizeof own, "%s %s", row->step, row->name);
        const cJSON *number = is_step(key) ? get(points, own) : NULL;
        chosen[i] = mg_course_means(key, row) && !number;
        if (mg_course_means(key, row) && cJSON_IsNumber(number))
            left -= number->valuedouble;
        if (chosen[i] && !is_step(key))
            row->points = value;
    }
    if (is_step(key) && left < -1e-9)
        status = mg_course_refuse(t, item, "step %s has %g points, and its rows with points of their own have more",
                                  key, value);
    else if (is_step(key) && !share_out(lab, chosen, fmax(left, 0)))
        status = mg_course_refuse(t, item, "%g points of step %s are left for no row: its rows must add up to them",
                                  left, key);
    free(chosen);
    return status;
}

/* A number for the whole lab, or an object with those of steps and rows; others keep the checks' weights. */
static mt_status read_points(const mg_course_text *t, const cJSON *json, mg_course_lab *lab)
{
    const cJSON *item, *points = get(json, "points");
    mt_status status = MT_OK;
    if (cJSON_IsNumber(points)) {
        double value = 0;
        bool *all = malloc((size_t)lab->count);
        MT_CHECK(all, "out of memory");
        memset(all, true, (size_t)lab->count);
        status = mg_course_number(t, json, "points", 0, 1e6, &value);
        if (status == MT_OK)
            share_out(lab, all, value);
        free(all);
    } else if (points) {
        if (!cJSON_IsObject(points))
            return mg_course_refuse(t, points, "\"points\" must be a number without quotes, or an object: { ... }");
        status = mg_course_keys(t, points, "\"points\"", NULL);
        for (item = points->child; status == MT_OK && item; item = item->next)
            status = take_points(t, lab, points, item);
    }
    lab->points = 0;
    for (int64_t i = 0; i < lab->count; i++)
        lab->points += lab->rows[i].points;
    if (status == MT_OK && !(lab->points > 0))
        return mg_course_refuse(t, points, "lab %.2s has no points: give it some, or leave the lab out", lab->lab->id);
    return status;
}

static mt_status take_visibility(const mg_course_text *t, const cJSON *item, const char *key, mg_course_lab *lab)
{
    const char *value = cJSON_GetStringValue(item);
    int v = MG_ALWAYS;
    while (value && v <= MG_NEVER && strcmp(value, visibilities[v]) != 0)
        v++;
    if (!value || v > MG_NEVER)
        return mg_course_refuse(t, item, "a visibility must be \"always\", \"after_due\" or \"never\"");
    if (v == MG_AFTER_DUE && !lab->due)
        return mg_course_refuse(t, item, "\"after_due\" needs the date: write \"due\" of lab %.2s", lab->lab->id);
    for (int64_t i = 0; i < lab->count; i++)
        if (!key || mg_course_means(key, &lab->rows[i]))
            lab->rows[i].visibility = (mg_visibility)v;
    return MT_OK;
}

/* One for the whole lab, or an object with those of steps, then of rows. */
static mt_status read_visibility(const mg_course_text *t, const cJSON *json, mg_course_lab *lab)
{
    const cJSON *item, *visibility = get(json, "visibility");
    if (!visibility || cJSON_IsString(visibility))
        return visibility ? take_visibility(t, visibility, NULL, lab) : MT_OK;
    mt_status status = mg_course_keys(t, visibility, "\"visibility\"", NULL);
    for (int rows = 0; rows < 2; rows++)
        for (item = visibility->child; status == MT_OK && item; item = item->next) {
            status = check_row(t, lab, item, item->string);
            if (status == MT_OK && is_step(item->string) == !rows)
                status = take_visibility(t, item, item->string, lab);
        }
    return status;
}

/* Who can still submit must not have the reference's objects. */
static mt_status read_after(const mg_course_text *t, const cJSON *json, mg_course_lab *lab)
{
    mt_status status = mg_course_time(t, json, "after", &lab->after);
    if (status == MT_OK && lab->after && mg_course_share(lab, lab->after) > 0)
        return mg_course_refuse(t, get(json, "after"),
                                "\"after\" must be later than the last submission of lab %.2s that earns points: see "
                                "\"due\" and \"late\"",
                                lab->lab->id);
    return status;
}

static mt_status make_rows(mg_course_lab *lab)
{
    mg_results results = { 0 };
    mt_status status = mg_rows_make(&results, lab->lab, NULL);
    if (status != MT_OK)
        return status;
    lab->count = results.count;
    lab->rows = calloc((size_t)lab->count, sizeof *lab->rows);
    MT_CHECK(lab->rows, "out of memory");
    for (int64_t i = 0; i < lab->count; i++) {
        memcpy(lab->rows[i].step, results.rows[i].step, sizeof lab->rows[i].step);
        memcpy(lab->rows[i].name, results.rows[i].name, sizeof lab->rows[i].name);
        lab->rows[i].points = results.rows[i].max;
    }
    mg_results_free(&results);
    return MT_OK;
}

/* ---- labs ----------------------------------------------------------------------------------------- */

/* What a person grades in a lab: the names of such parts, and their points. */
static mt_status read_by_hand(const mg_course_text *t, const cJSON *json, mg_course_lab *lab)
{
    const cJSON *item, *parts = get(json, "by_hand");
    mt_status status = parts ? mg_course_keys(t, parts, "\"by_hand\"", NULL) : MT_OK;
    for (item = parts ? parts->child : NULL; status == MT_OK && item; item = item->next) {
        mg_course_part *part = &lab->part[lab->parts];
        if (lab->parts == MG_COURSE_PARTS || strlen(item->string) >= sizeof part->name ||
            mg_students_word(item->string))
            return mg_course_refuse(t, item,
                                    "\"by_hand\" has at most %d parts with names of at most %d letters, which are no "
                                    "words of students.csv: call \"%.40s\" otherwise",
                                    MG_COURSE_PARTS, (int)sizeof part->name - 1, item->string);
        snprintf(part->name, sizeof part->name, "%s", item->string);
        status = mg_course_number(t, parts, part->name, 0, 1e6, &part->points);
        lab->parts++;
    }
    return status;
}

static mt_status read_lab(const mg_course_text *t, const cJSON *json, const char *root, mg_course_lab *lab)
{
    static const char *const known[] = { "due",  "late",  "counts", "points",  "visibility",
                                         "seed", "after", "bars",   "by_hand", NULL };
    char what[16];
    snprintf(what, sizeof what, "lab %.2s", lab->lab->id);
    mt_status status = mg_course_keys(t, json, what, known);
    if (status == MT_OK)
        status = make_rows(lab);
    if (status == MT_OK)
        status = mg_course_time(t, json, "due", &lab->due);
    if (status == MT_OK)
        status = read_late(t, json, &lab->late);
    if (status == MT_OK)
        status = read_counts(t, json, &lab->last);
    if (status == MT_OK)
        status = read_seed(t, json, &lab->seed);
    if (status == MT_OK)
        status = read_points(t, json, lab);
    if (status == MT_OK)
        status = read_visibility(t, json, lab);
    if (status == MT_OK)
        status = mg_course_read_bars(t, json, root, lab);
    if (status == MT_OK)
        status = read_by_hand(t, json, lab);
    return status == MT_OK ? read_after(t, json, lab) : status;
}

static int by_number(const void *a, const void *b)
{
    return strcmp(((const mg_course_lab *)a)->lab->id, ((const mg_course_lab *)b)->lab->id);
}

static mt_status read_labs(const mg_course_text *t, const char *root, mg_course *course)
{
    const cJSON *item, *labs = get(t->root, "labs");
    mg_course_lab usual = { 0 };
    if (!cJSON_IsObject(labs) || !labs->child)
        return mg_course_refuse(t, labs ? labs : t->root, "\"labs\" must name the labs: {\"01\": {\"points\": 100}}");
    mt_status status = read_late(t, t->root, &usual.late);
    if (status == MT_OK)
        status = read_counts(t, t->root, &usual.last);
    course->labs = calloc((size_t)cJSON_GetArraySize(labs), sizeof *course->labs);
    MT_CHECK(course->labs, "out of memory");
    for (item = labs->child; status == MT_OK && item; item = item->next) {
        usual.lab = mg_lab_find(item->string);
        if (!usual.lab)
            return mg_course_refuse(t, item, "there is no lab \"%.40s\": write its number, \"01\"", item->string);
        if (mg_course_find(course, usual.lab))
            return mg_course_refuse(t, item, "lab \"%.40s\" occurs twice: keep one", item->string);
        course->labs[course->count++] = usual;
        status = read_lab(t, item, root, &course->labs[course->count - 1]);
    }
    qsort(course->labs, (size_t)course->count, sizeof *course->labs, by_number);
    return status;
}

/* What a release of the course has; without a key, the first of its words. */
static mt_status read_release(const mg_course_text *t, mg_course *course)
{
    const struct {
        const char *key, **value, *word[4], *refused;
    } part[] = {
        { "language_models",
          &course->models,
          { "tutor", "closed", "open" },
          "\"language_models\" must be \"tutor\" (they explain), \"closed\" (no help with labs) or \"open\" (they may "
          "write, and it is said)" },
        { "checks",
          &course->checks,
          { "objects", "source" },
          "\"checks\" must be \"objects\" (a release has them compiled) or \"source\" (students can read them)" },
    };
    for (int p = 0; p < MT_COUNT(part); p++) {
        const cJSON *item = get(t->root, part[p].key);
        const char *value = cJSON_GetStringValue(item);
        *part[p].value = item ? NULL : part[p].word[0];
        for (const char *const *word = part[p].word; value && *word; word++)
            if (strcmp(value, *word) == 0)
                *part[p].value = *word;
        if (!*part[p].value)
            return mg_course_refuse(t, item, "%s", part[p].refused);
    }
    return MT_OK;
}

static mt_status read_course(const mg_course_text *t, const char *root, mg_course *course)
{
    static const char *const known[] = { "course",          "late",   "counts", "best_of",
                                         "language_models", "checks", "labs",   NULL };
    const cJSON *title = get(t->root, "course");
    double best = 0;
    mt_status status = mg_course_keys(t, t->root, "the course", known);
    if (status == MT_OK && title && !cJSON_IsString(title))
        status = mg_course_refuse(t, title, "\"course\" is its name, in quotes");
    snprintf(course->title, sizeof course->title, "%s", title && title->valuestring ? title->valuestring : "minitorch");
    if (status == MT_OK)
        status = mg_course_number(t, t->root, "best_of", 1, 99, &best);
    if (status == MT_OK)
        status = read_release(t, course);
    if (status == MT_OK)
        status = read_labs(t, root, course);
    course->best_of = (int)best;
    if (status == MT_OK && (best != course->best_of || course->best_of > course->count))
        return mg_course_refuse(t, get(t->root, "best_of"),
                                "\"best_of\" must be a number of labs, at most the %lld "
                                "that the course has",
                                (long long)course->count);
    return status;
}

mt_status mg_course_read(mg_course *course, const char *path, const char *root)
{
    mg_course_text t;
    *course = (mg_course){ 0 };
    mt_status status = mg_course_text_open(&t, path);
    if (status == MT_OK)
        status = read_course(&t, root, course);
    mg_course_text_close(&t);
    if (status != MT_OK)
        mg_course_free(course);
    return status;
}

void mg_course_free_lab(mg_course_lab *lab)
{
    free(lab->rows);
    free(lab->bars);
}

void mg_course_free(mg_course *course)
{
    for (int64_t i = 0; i < course->count; i++)
        mg_course_free_lab(&course->labs[i]);
    free(course->labs);
    *course = (mg_course){ 0 };
}
