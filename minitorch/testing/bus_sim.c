/* bus_sim.c -- a queue of copies, each with the time of its end; see bus_sim.h. */
#include "testing/bus_sim.h"

#include <stdlib.h>
#include <string.h>

typedef struct copy {
    void *to;
    const void *from;
    int64_t bytes, ends;
} copy;

typedef struct sim {
    mt_bus bus;
    int64_t rate, now, free; /* free: when the bus is */
    int64_t host_bytes, freed;
    copy *queue; /* all copies, in order */
    int64_t copies, room, made;
    int64_t *behind; /* [marks] how many copies each mark is behind */
} sim;

static mt_status sim_host(mt_bus *bus, void **host, int64_t bytes)
{
    *host = mt_calloc(bytes, 1);
    ((sim *)bus)->host_bytes += bytes;
    return MT_OK;
}

static void sim_host_free(mt_bus *bus, void *host, int64_t bytes)
{
    ((sim *)bus)->host_bytes -= bytes;
    ((sim *)bus)->made = ((sim *)bus)->copies; /* what nobody has waited for never happens */
    free(host);
}

static void sim_copy(mt_bus *bus, void *to, const void *from, int64_t bytes, bool out)
{
    sim *s = (sim *)bus;
    if (s->copies == s->room) {
        s->room = mt_max(64, 2 * s->room);
        s->queue = mt_realloc(s->queue, s->room, sizeof *s->queue);
    }
    s->free = mt_max(s->free, s->now) + bytes * s->rate;
    s->queue[s->copies++] = (copy){ to, from, bytes, s->free };
    if (!out)
        memset(to, 0xff, (size_t)bytes);
}

static void sim_mark(mt_bus *bus, int64_t mark)
{
    sim *s = (sim *)bus;
    s->behind = mt_realloc(s->behind, mark, sizeof *s->behind);
    s->behind[mark - 1] = s->copies;
}

static void sim_wait(mt_bus *bus, int64_t mark)
{
    sim *s = (sim *)bus;
    for (; s->made < s->behind[mark - 1]; s->made++) {
        const copy *c = &s->queue[s->made];
        memcpy(c->to, c->from, (size_t)c->bytes);
        s->now = mt_max(s->now, c->ends);
    }
}

/* A block is freed: is it one that will be read or written? Then it is not. */
static void watch(void *user, mt_device device, const void *data, int64_t bytes)
{
    sim *s = user;
    (void)device;
    bool pending = false;
    for (int64_t i = s->made; bytes < 0 && i < s->copies; i++)
        if (s->queue[i].from == data || s->queue[i].to == data)
            pending = true, s->queue[i].bytes = 0;
    s->freed += pending;
}

static void sim_free(mt_bus *bus)
{
    sim *s = (sim *)bus;
    mt_alloc_observe(NULL, NULL);
    free(s->queue);
    free(s->behind);
    free(s);
}

static const mt_bus_kind sim_kind = { sim_host, sim_host_free, sim_copy, sim_mark, sim_wait, sim_free };

mt_bus *mt_bus_sim_open(int64_t rate)
{
    sim *s = mt_calloc(1, sizeof *s);
    *s = (sim){ .bus = { .kind = &sim_kind }, .rate = rate };
    mt_alloc_observe(watch, s);
    return &s->bus;
}

void mt_bus_sim_compute(mt_bus *bus, int64_t flops)
{
    ((sim *)bus)->now += flops;
}

int64_t mt_bus_sim_now(const mt_bus *bus)
{
    return ((const sim *)bus)->now;
}

int64_t mt_bus_sim_freed(const mt_bus *bus)
{
    return ((const sim *)bus)->freed;
}

int64_t mt_bus_sim_host_bytes(const mt_bus *bus)
{
    return ((const sim *)bus)->host_bytes;
}
