/* course_bars.c -- see course_bars.h. */
#include "course/course_bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bar of lab.json that `key` means: its name, or a row of the lab, "01.5 packed: speed" for the bar "01.5". */
static const cJSON *find_bar(const cJSON *bars, const char *key, const mg_course_lab *lab)
{
    const cJSON *bar = cJSON_GetObjectItemCaseSensitive(bars, key);
    for (int64_t i = 0; !bar && i < lab->count; i++) {
        char row[sizeof lab->rows->step + sizeof lab->rows->name + 1];
        snprintf(row, sizeof row, "%s %s", lab->rows[i].step, lab->rows[i].name);
        if (strcmp(key, row) == 0)
            bar = cJSON_GetObjectItemCaseSensitive(bars, lab->rows[i].step);
    }
    return bar;
}

static mt_status refuse_name(const mg_course_text *t, const cJSON *item, const cJSON *bars, const mg_course_lab *lab)
{
    char names[1024] = "";
    const cJSON *bar;
    cJSON_ArrayForEach(bar, bars)
    {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s\"%s\"", used ? ", " : "", bar->string);
    }
    if (!names[0])
        return mg_course_refuse(t, item, "lab %.2s measures nothing: leave \"bars\" out", lab->lab->id);
    return mg_course_refuse(t, item, "lab %.2s has no bar \"%.80s\": it has %s", lab->lab->id, item->string, names);
}

static double field(const cJSON *bar, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(bar, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static mt_status take_bar(const mg_course_text *t, const cJSON *item, const cJSON *bars, mg_course_lab *lab)
{
    static const char *const known[] = { "low", "full", NULL };
    const cJSON *usual = find_bar(bars, item->string, lab);
    if (!usual)
        return refuse_name(t, item, bars, lab);
    mg_course_bar *bar = &lab->bars[lab->bar_count];
    snprintf(bar->name, sizeof bar->name, "%s", usual->string);
    bar->low = field(usual, "low");
    bar->full = field(usual, "full");
    bool less = bar->full < bar->low;
    double reference = field(usual, "reference");
    for (int64_t i = 0; i < lab->bar_count; i++)
        if (strcmp(lab->bars[i].name, bar->name) == 0)
            return mg_course_refuse(t, item, "the bar \"%s\" occurs twice: keep one", bar->name);
    mt_status status = mg_course_keys(t, item, "a bar", known);
    if (status == MT_OK)
        status = mg_course_number(t, item, "low", 0, 1e12, &bar->low);
    if (status == MT_OK)
        status = mg_course_number(t, item, "full", 0, 1e12, &bar->full);
    if (status == MT_OK && (bar->low == bar->full || (bar->full < bar->low) != less))
        return mg_course_refuse(t, item, "here %s is better: \"full\" must be %s \"low\", and they are %g and %g",
                                less ? "less" : "more", less ? "below" : "above", bar->full, bar->low);
    if (status == MT_OK && (less ? reference > bar->full : reference < bar->full))
        return mg_course_refuse(t, item, "\"full\" is %g, and the reference reaches %g: nobody would have all points",
                                bar->full, reference);
    lab->bar_count += status == MT_OK;
    return status;
}

mt_status mg_course_read_bars(const mg_course_text *t, const cJSON *json, const char *root, mg_course_lab *lab)
{
    const cJSON *item, *own = cJSON_GetObjectItemCaseSensitive(json, "bars");
    mg_labinfo info;
    if (!own)
        return MT_OK;
    mt_status status = mg_course_keys(t, own, "\"bars\"", NULL);
    if (status == MT_OK)
        status = mg_labinfo_read(&info, root, lab->lab->id);
    if (status != MT_OK)
        return status;
    lab->bars = calloc((size_t)cJSON_GetArraySize(own) + 1, sizeof *lab->bars);
    MT_CHECK(lab->bars, "out of memory");
    for (item = own->child; status == MT_OK && item; item = item->next)
        status = take_bar(t, item, cJSON_GetObjectItemCaseSensitive(info.json, "bars"), lab);
    mg_labinfo_free(&info);
    return status;
}
