/* dates.c -- see dates.h. */
#include "dates.h"
#include "course/csv.h"
#include "course/course_text.h"
#include "json.h"
#include "sandbox/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char canvas_list[] = "submissions.json", fifty_list[] = "scores.csv";

bool mg_dates_is_list(const char *folder, const char *name)
{
    char path[PATH_MAX], head[32] = "";
    size_t length = strlen(name);
    if (strcmp(name, canvas_list) == 0)
        return true;
    if (length < 4 || strcasecmp(name + length - 4, ".csv") != 0)
        return false;
    mg_path(path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    head[fread(head, 1, sizeof head - 1, file)] = 0;
    fclose(file);
    char *text = head + (strncmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    text += *text == '"';
    return strncmp(text, "Identifier", 10) == 0 || (strcmp(name, fifty_list) == 0 && strncmp(text, "username", 8) == 0);
}

static mg_handin *find(mg_class *class, mg_system system, const char *id)
{
    for (int64_t i = 0; id[0] && i < class->count; i++)
        if (class->handin[i].system == system && strcmp(class->handin[i].student[0].id, id) == 0)
            return &class->handin[i];
    return NULL;
}

/* ---- Moodle --------------------------------------------------------------------------------- */

/* "Friday, 20 November 2026, 6:30 PM", as an English Moodle writes it; "-" for nothing handed in. */
static bool moodle_time(const char *text, time_t *when)
{
    struct tm tm = { .tm_isdst = -1 };
    const char *end = strptime(text, "%A, %d %B %Y, %I:%M %p", &tm);
    *when = end && !*end ? mktime(&tm) : 0;
    return *when > 0 || strcmp(text, "-") == 0 || !text[0];
}

static int column(const mg_csv *csv, const char *name)
{
    int i = csv->cells - 1;
    while (i >= 0 && strcmp(csv->cell[i], name) != 0)
        i--;
    return i;
}

static const char *cell_of(const mg_csv *csv, int column)
{
    return column >= 0 && column < csv->cells ? csv->cell[column] : "";
}

static mt_status read_moodle(mg_class *class, mg_csv *csv)
{
    static const char participant[] = "Participant ";
    if (!mg_csv_next(csv))
        return csv->status;
    int who = column(csv, "Identifier"), at = column(csv, "Last modified (submission)");
    int email = column(csv, "Email address");
    if (who < 0 || at < 0)
        return mg_csv_refuse(csv, "no column \"%s\": download the grading worksheet again, in English",
                             who < 0 ? "Identifier" : "Last modified (submission)");
    while (mg_csv_next(csv)) {
        const char *id = cell_of(csv, who), *address = cell_of(csv, email);
        time_t when;
        if (strncmp(id, participant, sizeof participant - 1) == 0)
            id += sizeof participant - 1;
        if (!moodle_time(cell_of(csv, at), &when))
            return mg_csv_refuse(csv,
                                 "\"%.60s\" is no time: download the worksheet in English, or write \"Friday, 20 "
                                 "November 2026, 6:30 PM\"",
                                 cell_of(csv, at));
        mg_handin *h = find(class, MG_MOODLE, id);
        if (!h)
            continue;
        h->when = when;
        snprintf(h->student[0].email, sizeof h->student[0].email, "%s", address);
    }
    return csv->status;
}

/* ---- Classroom 50 --------------------------------------------------------------------------- */

/* The repository CLASSROOM-ASSIGNMENT-USERNAME. A name may be the end of another: the shortest repository is its own,
 * if no longer name has that. */
static mg_handin *find_repository(mg_class *class, const char *username)
{
    mg_handin *found = NULL;
    size_t n = strlen(username);
    for (int64_t i = 0; n && i < class->count; i++) {
        mg_handin *h = &class->handin[i];
        size_t length = strlen(h->key);
        if (length > n + 1 && h->key[length - n - 1] == '-' && strcasecmp(h->key + length - n, username) == 0 &&
            (!found || length < strlen(found->key)))
            found = h;
    }
    return found && strlen(found->student[0].id) < n ? found : NULL;
}

/* What `gh teacher download` writes beside the repositories. */
static mt_status read_fifty(mg_class *class, mg_csv *csv)
{
    static const char *const names[] = { "username", "first_name", "last_name", "email", "datetime", "late" };
    int at[MT_COUNT(names)];
    if (!mg_csv_next(csv))
        return csv->status;
    for (int i = 0; i < MT_COUNT(names); i++)
        if ((at[i] = column(csv, names[i])) < 0)
            return mg_csv_refuse(csv, "no column \"%s\": keep the scores.csv that gh teacher download wrote", names[i]);
    while (mg_csv_next(csv)) {
        const char *cell[MT_COUNT(names)];
        time_t when = 0;
        for (int i = 0; i < MT_COUNT(names); i++)
            cell[i] = cell_of(csv, at[i]);
        if (cell[4][0] && !mg_course_moment(cell[4], &when))
            return mg_csv_refuse(csv, "\"%.60s\" is no time such as 2026-11-20T18:30:00Z", cell[4]);
        mg_handin *h = find_repository(class, cell[0]);
        if (!h)
            continue;
        mg_student *s = &h->student[0];
        h->system = MG_CLASSROOM50;
        h->when = when;
        h->late = strcmp(cell[5], "true") == 0;
        snprintf(s->id, sizeof s->id, "%s", cell[0]);
        snprintf(s->email, sizeof s->email, "%s", cell[3]);
        snprintf(s->name, sizeof s->name, "%s%s%s", cell[1], cell[1][0] && cell[2][0] ? " " : "", cell[2]);
        if (!s->name[0])
            snprintf(s->name, sizeof s->name, "%s", cell[0]);
    }
    return csv->status;
}

/* ---- Canvas --------------------------------------------------------------------------------- */

static mt_status read_canvas(mg_class *class, const char *path)
{
    cJSON *list = mg_json_read(path);
    const cJSON *item;
    mt_status status = MT_OK;
    if (!cJSON_IsArray(list))
        status = mt_fail(MT_ERR_FORMAT,
                         "%s:1: not a list: keep what Canvas answers for GET "
                         "/api/v1/courses/NN/assignments/NN/submissions?per_page=100, all pages as one list",
                         path);
    for (item = list ? list->child : NULL; status == MT_OK && item; item = item->next) {
        char id[32];
        time_t when = 0;
        const char *text = mg_json_string(item, "submitted_at");
        snprintf(id, sizeof id, "%.0f", mg_json_number(item, "user_id"));
        if (text[0] && !mg_course_moment(text, &when))
            status = mt_fail(MT_ERR_FORMAT, "%s: \"%.60s\" of user_id %s is no time such as 2026-11-20T18:30:00Z", path,
                             text, id);
        mg_handin *h = find(class, MG_CANVAS, id);
        if (!h)
            continue;
        h->when = when;
        h->late = h->late || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "late"));
    }
    cJSON_Delete(list);
    return status;
}

mt_status mg_dates_read(mg_class *class, const char *name)
{
    char path[PATH_MAX];
    mg_csv csv;
    mg_path(path, "%s/%s", class->folder, name);
    if (strcmp(name, canvas_list) == 0)
        return read_canvas(class, path);
    mt_status status = mg_csv_open(&csv, path);
    if (status == MT_OK)
        status = strcmp(name, fifty_list) == 0 ? read_fifty(class, &csv) : read_moodle(class, &csv);
    mg_csv_close(&csv);
    return status;
}
