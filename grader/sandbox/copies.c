/* copies.c -- see copies.h. */
#include "sandbox/copies.h"

#include <stdio.h>
#include <string.h>

enum { SLACK_BYTE = 0xFF };

/* Where an array is in our memory, and what else its pages hold. */
typedef struct place {
    char *pages, *array, *array_end, *pages_end;
} place;

static place place_of(const mg_arena *arena, const mg_wire_request *request, int i)
{
    const mg_wire_value *v = &request->value[i];
    char *pages = arena->base + v->offset, *pages_end = pages + mg_pages(v->bytes);
    char *array = request->at_end ? pages_end - v->bytes : pages;
    return (place){ pages, array, array + v->bytes, pages_end };
}

void mg_copy_in(const mg_arena *input, const mg_arena *output, const mg_invocation *in, const mg_wire_request *request)
{
    for (int i = 0; i < in->count; i++) {
        const mg_argument *a = &in->argument[i];
        if (!mg_is_array(a) || a->bytes == 0)
            continue;
        place p = place_of(a->kind == MG_IN ? input : output, request, i);
        memset(p.pages, SLACK_BYTE, (size_t)(p.array - p.pages));
        memcpy(p.array, a->data, (size_t)a->bytes);
        memset(p.array_end, SLACK_BYTE, (size_t)(p.pages_end - p.array_end));
    }
}

static int64_t spoiled(const char *from, const char *to)
{
    int64_t count = 0;
    for (; from < to; from++)
        count += (unsigned char)*from != SLACK_BYTE;
    return count;
}

void mg_copy_out(const mg_arena *output, const mg_invocation *in, const mg_wire_request *request, mg_outcome *outcome)
{
    for (int i = 0; i < in->count; i++) {
        mg_argument *a = &in->argument[i];
        if (!mg_is_array(a) || a->kind == MG_IN || a->bytes == 0)
            continue;
        place p = place_of(output, request, i);
        int64_t before = spoiled(p.pages, p.array), after = spoiled(p.array_end, p.pages_end);
        memcpy(a->result, p.array, (size_t)a->bytes);
        if (before + after == 0 || outcome->verdict != MG_PASS)
            continue;
        outcome->verdict = MG_FAIL;
        snprintf(outcome->detail, sizeof outcome->detail, "%lld bytes %s %s %s were overwritten",
                 (long long)(before ? before : after), before ? "before the start of" : "past the end of", a->name,
                 mt_shape_text(a->shape));
    }
}
