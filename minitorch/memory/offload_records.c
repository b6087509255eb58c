/* offload_records.c -- which storages a segment's backward reads, and the calls of mt_offload_leave and
 * mt_offload_arrive at the moments that their contracts name: the end of the module's forward, and the first read of
 * one of these storages (core/storage.h, `use`). See offload.h. */
#include "memory/offload.h"

#include "autograd/node.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local mt_offload *first; /* those of this thread */

void mt_offload_give(mt_storage *storage)
{
    mt_free(storage->data, storage->bytes, storage->device);
    storage->data = NULL;
}

void mt_offload_take(mt_storage *storage)
{
    MT_CHECK(!storage->data, "memory is taken for a storage that has some");
    mt_memory_use before = mt_alloc_for(MT_USE_ACTIVATION);
    storage->data = mt_alloc(storage->bytes, storage->device);
    mt_alloc_for(before);
}

/* ---- the storages of a part --------------------------------------------------------------------------- */

/* They belong to the nodes alone again. */
static void let_go(mt_offload_part *part)
{
    for (int64_t i = 0; i < part->count; i++) {
        part->storage[i]->use = NULL;
        mt_storage_release(part->storage[i]);
    }
    part->count = part->bytes = 0;
}

static void arrive(mt_storage *storage)
{
    mt_offload_part *part = storage->user;
    mt_offload_arrive(part->owner, part - part->owner->part);
    let_go(part);
}

static void add(mt_offload_part *part, mt_storage *storage)
{
    if (part->count == part->room) {
        part->room = mt_max(32, 2 * part->room);
        part->storage = mt_realloc(part->storage, part->room, sizeof *part->storage);
    }
    part->storage[part->count++] = mt_storage_retain(storage);
    part->bytes += storage->bytes;
    storage->use = arrive;
    storage->user = part;
}

/* A leaf's own memory, or that of its values in another type. */
static bool of_a_leaf(const mt_node *node, const mt_storage *storage)
{
    for (int i = 0; i < node->edge_count; i++) {
        const mt_tensor *leaf = node->edges[i].leaf;
        if (leaf && (leaf->storage == storage || (leaf->cast && leaf->cast->storage == storage)))
            return true;
    }
    return false;
}

/* What the node saved: neither parameters nor what comes by itself when it is read, nor `out`, which the next segment
 * reads at once, nor an x that the program made. */
static void add_saved(mt_offload_part *part, const mt_node *node, const mt_tensor *out, const mt_tensor *x)
{
    for (int i = 0; i < node->saved_count; i++) {
        mt_storage *storage = node->saved[i].tensor ? node->saved[i].tensor->storage : NULL;
        if (storage && storage->bytes > 0 && !storage->use && storage != out->storage &&
            (x->node || storage != x->storage) && !of_a_leaf(node, storage))
            add(part, storage);
    }
}

/* All nodes from out back to x, each once. */
static void collect(mt_offload_part *part, const mt_tensor *out, const mt_tensor *x)
{
    const int64_t x_number = x->node ? x->node->number : 0;
    mt_node_list nodes = { 0 };
    mt_node_list_push(&nodes, out->node);
    for (int64_t n = 0; n < nodes.count; n++) {
        const mt_node *node = nodes.item[n];
        add_saved(part, node, out, x);
        for (int i = 0; i < node->edge_count; i++) {
            mt_node *input = node->edges[i].node;
            bool known = !input || input->number <= x_number;
            for (int64_t k = 0; k < nodes.count && !known; k++)
                known = nodes.item[k] == input;
            if (!known)
                mt_node_list_push(&nodes, input);
        }
    }
    mt_node_list_free(&nodes);
}

/* ---- forward -------------------------------------------------------------------------------------------- */

/* What an earlier forward left. Where its graph still lives, backward may come, and finds all on the device. */
static void clear(mt_offload_part *part)
{
    if (part->count > 0)
        arrive(part->storage[0]);
    part->away = false;
}

/* Memory of the host, if the part is chosen; without it the part stays on the device. */
static void provide(mt_offload *o, mt_offload_part *part)
{
    void *host = NULL;
    if (!part->chosen || part->bytes <= part->host_bytes)
        return;
    mt_bus_host_free(o->bus, part->host, part->host_bytes);
    part->host = NULL, part->host_bytes = 0;
    mt_status status = mt_bus_host(o->bus, &host, part->bytes);
    if (status == MT_OK) {
        part->host = host, part->host_bytes = part->bytes;
    } else {
        fprintf(stderr, "a segment stays on the device: %s\n", mt_last_error());
        o->status = o->status == MT_OK ? status : o->status;
        part->chosen = false;
    }
}

static mt_offload_part *part_of(const mt_module *module)
{
    for (mt_offload *o = first; o; o = o->next)
        for (mt_offload_part *part = o->part; part < o->part + o->parts; part++)
            if (part->module == module)
                return part;
    MT_CHECK(false, "a segment (%s) that another thread offloads", module->kind->name);
    return NULL;
}

static mt_tensor *run(mt_module *module, mt_tensor *x)
{
    mt_offload_part *part = part_of(module);
    mt_tensor *out = (part->run ? part->run : module->kind->forward)(module, x);
    if (!out->node)
        return out;
    clear(part);
    if (out != x)
        collect(part, out, x);
    provide(part->owner, part);
    mt_offload_leave(part->owner, part - part->owner->part);
    return out;
}

/* ---- life ------------------------------------------------------------------------------------------------- */

mt_offload *mt_offload_new(mt_bus *bus, mt_module *const *module, const bool *chosen, int64_t count)
{
    mt_offload *o = mt_calloc(1, sizeof *o);
    *o = (mt_offload){ .bus = bus, .part = mt_calloc(count + 1, sizeof *o->part), .parts = count, .next = first };
    const int64_t none = mt_bus_mark(bus); /* of a part that forward has not left: nothing of it was recorded */
    for (int64_t s = 0; s < count; s++) {
        o->part[s] = (mt_offload_part){
            .chosen = chosen[s], .mark = none, .owner = o, .module = module[s], .run = module[s]->run
        };
        module[s]->run = run;
    }
    return first = o;
}

void mt_offload_free(mt_offload *o)
{
    if (!o)
        return;
    mt_offload **at = &first;
    while (*at != o) {
        MT_CHECK(*at, "mt_offload_free in another thread than mt_offload_new");
        at = &(*at)->next;
    }
    *at = o->next;
    for (mt_offload_part *part = o->part; part < o->part + o->parts; part++) {
        clear(part);
        mt_bus_host_free(o->bus, part->host, part->host_bytes);
        part->module->run = part->run;
        free(part->storage);
    }
    free(o->part);
    free(o);
}
