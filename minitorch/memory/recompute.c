/* recompute.c -- which blocks of a model are segments; see recompute.h. How a segment is computed again in backward:
 * mt_segment_backward in unit segment.c of lab 10. */
#include "memory/recompute.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/segment.h"
#include "cli/cli.h"

const char *const mt_recompute_names[] = { "none", "selective", "block", NULL };

void mt_gpt2_recompute(mt_module *model, const mt_recompute *recompute)
{
    static mt_tensor *(*const run[MT_RECOMPUTES])(mt_module *, mt_tensor *) = { NULL, mt_selective_forward,
                                                                                mt_segment_forward };
    mt_module *h = model->child[MT_GPT2_H];
    for (int l = 0; l < h->children; l++)
        h->child[l]->run = run[recompute[l]];
}

mt_status mt_gpt2_offload(mt_offload **out, mt_module *model)
{
    mt_module *h = model->child[MT_GPT2_H];
    bool *chosen = mt_calloc(h->children + 1, sizeof *chosen);
    mt_bus *bus = NULL;
    mt_status status = h->children > 1 ? mt_bus_open(&bus, mt_module_device(model)) : MT_OK;
    for (int l = 0; l < h->children - 1; l++)
        chosen[l] = true;
    *out = bus ? mt_offload_new(bus, h->child, chosen, h->children) : NULL;
    free(chosen);
    return status;
}

void mt_gpt2_offload_end(mt_offload *offload)
{
    mt_bus *bus = offload ? offload->bus : NULL;
    mt_offload_free(offload);
    mt_bus_free(bus);
}

const char *mt_recompute_text(const mt_recompute *recompute, int64_t layers)
{
    static _Thread_local char text[400];
    size_t at = (size_t)snprintf(text, sizeof text, "layers ");
    for (int64_t first = 0, last; first < layers && at < sizeof text; first = last + 1) {
        for (last = first; last + 1 < layers && recompute[last + 1] == recompute[first];)
            last++;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRId64, first ? ", " : "", first);
        if (last > first && at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "-%" PRId64, last);
        if (at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s", mt_recompute_names[recompute[first]]);
    }
    return text;
}

mt_status mt_recompute_parse(const char *text, void *choice)
{
    mt_recompute_choice *c = choice;
    for (int k = 0; k < MT_RECOMPUTES; k++)
        if (strcmp(text, mt_recompute_names[k]) == 0) {
            *c = (mt_recompute_choice){ .each = (mt_recompute)k };
            return MT_OK;
        }
    *c = (mt_recompute_choice){ .offload = strcmp(text, "offload") == 0 };
    return c->offload || mt_cli_bytes(&c->budget, text) == MT_OK
               ? MT_OK
               : mt_fail(MT_ERR_ARGUMENT,
                         "recompute \"%s\": use one of none, selective, block, offload, or a size such as 2.5GB", text);
}
