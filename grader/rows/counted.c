/* counted.c -- see counted.h. Counts come from the worker: they are shown, and nothing is indexed by them unchecked. */
#include "rows/counted.h"
#include "rows/device.h"
#include "json.h"
#include "rows/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_sound(const mg_device_site *s)
{
    return s->kind >= 0 && s->kind < 3 && s->space >= 0 && s->space < 2 && s->size > 0 && s->size <= 16 &&
           s->requests > 0 && s->lanes >= 0 && s->passes >= 0 && s->ideal >= 0;
}

/* "labs/06-cuda-kernels/transpose.cu:41" */
static mg_site site_at(const mg_device_site *count, const char *where)
{
    mg_site site = { .count = *count };
    const char *name = strrchr(where, '/'), *colon = strrchr(where, ':');
    if (name && colon && name < colon) {
        snprintf(site.unit, sizeof site.unit, "%.*s", (int)(colon - name - 1), name + 1);
        site.line = atoi(colon + 1);
    }
    return site;
}

void mg_counted_keep(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    mg_counted *c = &run->row->counted;
    char where[MG_MOST_LINES][MG_LINE_TEXT];
    uint64_t pc[MG_SITES + 1];
    int n = 0;
    while (n < MG_SITES && is_sound(&r->site[n])) {
        pc[n] = r->site[n].pc;
        n++;
    }
    pc[n] = r->drawn.pc;
    bool drawn = r->lanes && is_sound(&r->drawn);
    mg_build_lines(&run->bench->build, run->bench->worker_path, pc, n + drawn, where);
    for (int i = 0; i < n; i++)
        c->site[i] = site_at(&r->site[i], where[i]);
    c->sites = n;
    c->lanes = drawn ? r->lanes : 0;
    if (drawn)
        c->drawn = site_at(&r->drawn, where[n]);
    memcpy(c->offset, r->offset, sizeof c->offset);
    for (int kind = 0; kind < 3; kind++)
        run->row->bytes += 32 * (double)r->global[kind].passes;
}

/* ---- results.json ----------------------------------------------------------------------------- */

enum { NUMBERS = 8 }; /* of a site: line, kind, space, size, requests, lanes, passes, ideal */

static cJSON *json_of(const mg_site *site)
{
    const mg_device_site *s = &site->count;
    const double number[NUMBERS] = { site->line,          s->kind,          s->space,          s->size,
                                     (double)s->requests, (double)s->lanes, (double)s->passes, (double)s->ideal };
    cJSON *object = cJSON_CreateObject(), *numbers = cJSON_CreateDoubleArray(number, NUMBERS);
    MT_CHECK(object && numbers && cJSON_AddStringToObject(object, "unit", site->unit), "out of memory");
    cJSON_AddItemToObject(object, "counts", numbers);
    return object;
}

void mg_counted_json(cJSON *extra, const mg_row *row)
{
    const mg_counted *c = &row->counted;
    if (row->flops > 0 && row->bytes > 0) {
        cJSON_AddNumberToObject(extra, "flops", row->flops);
        cJSON_AddNumberToObject(extra, "bytes", row->bytes);
    }
    if (c->sites) {
        cJSON *lines = cJSON_AddArrayToObject(extra, "lines");
        for (int i = 0; i < c->sites; i++)
            cJSON_AddItemToArray(lines, json_of(&c->site[i]));
    }
    if (c->lanes) {
        cJSON *drawn = json_of(&c->drawn), *offsets = cJSON_AddArrayToObject(drawn, "offsets");
        for (int lane = 0; lane < 32; lane++)
            cJSON_AddItemToArray(offsets,
                                 c->lanes >> lane & 1 ? cJSON_CreateNumber(c->offset[lane]) : cJSON_CreateNull());
        cJSON_AddItemToObject(extra, "drawn", drawn);
    }
}

static double number_at(const cJSON *array, int i)
{
    const cJSON *item = cJSON_GetArrayItem(array, i);
    return cJSON_IsNumber(item) && fabs(item->valuedouble) < 0x1p53 ? item->valuedouble : -1;
}

static bool take_site(mg_site *site, const cJSON *object)
{
    const cJSON *counts = cJSON_GetObjectItem(object, "counts");
    double n[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        n[i] = number_at(counts, i);
    for (int i = 0; i < 4; i++)
        n[i] = fmin(n[i], 1e6);
    *site = (mg_site){ { 0, (int)n[1], (int)n[2], (int)n[3], 0, (int64_t)n[4], (int64_t)n[5], (int64_t)n[6],
                         (int64_t)n[7] },
                       "",
                       (int)fmax(n[0], 0) };
    snprintf(site->unit, sizeof site->unit, "%s", mg_json_string(object, "unit"));
    return is_sound(&site->count);
}

void mg_counted_take(mg_row *row, const cJSON *extra)
{
    const cJSON *each, *drawn = cJSON_GetObjectItem(extra, "drawn");
    mg_counted *c = &row->counted;
    *c = (mg_counted){ 0 };
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(extra, "lines"))
    {
        if (c->sites < MG_SITES && take_site(&c->site[c->sites], each))
            c->sites++;
    }
    for (int lane = 0; drawn && take_site(&c->drawn, drawn) && lane < 32; lane++) {
        double offset = number_at(cJSON_GetObjectItem(drawn, "offsets"), lane);
        if (offset >= 0 && offset < 0x1p32) {
            c->lanes |= 1u << lane;
            c->offset[lane] = (uint32_t)offset;
        }
    }
    row->flops = fmax(mg_json_number(extra, "flops"), 0); /* not NaN */
    row->bytes = fmax(mg_json_number(extra, "bytes"), 0);
}
