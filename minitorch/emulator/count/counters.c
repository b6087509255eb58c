/* counters.c -- the counts: per access site while blocks run, added up per kernel when a launch has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/count/tally.h"
#include "emulator/run/findings.h"

/* ---- a worker's sites: a hash table by pc, kind, space and size -------------------------------------------------- */

typedef struct emu_sites {
    emu_counter *slots; /* requests == 0 and pc == 0: free */
    size_t capacity, used;
} emu_sites;

emu_sites *emu_sites_new(void)
{
    emu_sites *sites = calloc(1, sizeof *sites);
    sites->capacity = 256;
    sites->slots = calloc(sites->capacity, sizeof *sites->slots);
    return sites;
}

void emu_sites_clear(emu_sites *sites)
{
    memset(sites->slots, 0, sites->capacity * sizeof *sites->slots);
    sites->used = 0;
}

static emu_counter *find(const emu_sites *sites, const emu_counter *key)
{
    size_t i =
        (key->pc ^ (size_t)key->kind << 3 ^ (size_t)key->space << 5 ^ (size_t)key->size << 7) * 0x9E3779B97F4A7C15u >>
        20;
    for (;; i++) {
        emu_counter *slot = &sites->slots[i & (sites->capacity - 1)];
        if (!slot->pc ||
            (slot->pc == key->pc && slot->kind == key->kind && slot->space == key->space && slot->size == key->size))
            return slot;
    }
}

static void grow(emu_sites *sites)
{
    emu_sites old = *sites;
    sites->capacity *= 2;
    sites->slots = calloc(sites->capacity, sizeof *sites->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].pc)
            *find(sites, &old.slots[i]) = old.slots[i];
    free(old.slots);
}

static emu_counter *site_like(emu_sites *sites, const emu_counter *key)
{
    emu_counter *slot = find(sites, key);
    if (EMU_LIKELY(slot->pc))
        return slot;
    if (2 * ++sites->used > sites->capacity) {
        grow(sites);
        slot = find(sites, key);
    }
    *slot = (emu_counter){ .pc = key->pc, .kind = key->kind, .space = key->space, .size = key->size };
    return slot;
}

emu_counter *emu_site_of(emu_sites *sites, uint64_t what, uint64_t where)
{
    emu_counter key = {
        .pc = emu_pc_of(where), .kind = emu_kind_of(what), .space = emu_space_of(what), .size = emu_size_of(what)
    };
    return site_like(sites, &key);
}

static void add_site(emu_sites *to, const emu_counter *from)
{
    emu_counter *site = site_like(to, from);
    site->requests += from->requests;
    site->lanes += from->lanes;
    site->passes += from->passes;
    site->ideal += from->ideal;
}

static void add_sites(emu_sites *to, const emu_sites *from)
{
    for (size_t i = 0; i < from->capacity; i++)
        if (from->slots[i].pc)
            add_site(to, &from->slots[i]);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static emu_counts last, *kernels;
static emu_sites **kernel_sites;
static size_t kernel_count;
static emu_sites *last_sites;

static int by_pc(const void *a, const void *b)
{
    const emu_counter *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->kind != y->kind ? x->kind - y->kind : x->space != y->space ? x->space - y->space : x->size - y->size;
}

/* Fills the sorted list of sites and the totals computed from it. */
static void sum_up(emu_counts *counts, const emu_sites *sites)
{
    free((void *)counts->sites);
    emu_counter *list = malloc((sites->used + 1) * sizeof *list);
    size_t n = 0;
    memset(counts->traffic, 0, sizeof counts->traffic);
    counts->conflicts = 0;
    for (size_t i = 0; i < sites->capacity; i++) {
        const emu_counter *site = &sites->slots[i];
        if (!site->pc)
            continue;
        list[n++] = *site;
        emu_traffic *sum = &counts->traffic[site->space][site->kind];
        sum->requests += site->requests;
        sum->lanes += site->lanes;
        sum->passes += site->passes;
        sum->ideal += site->ideal;
        if (site->space == EMU_SHARED)
            counts->conflicts += site->passes - site->ideal;
    }
    qsort(list, n, sizeof *list, by_pc);
    counts->sites = list;
    counts->site_count = n;
    const emu_traffic *global = counts->traffic[EMU_GLOBAL];
    counts->bytes_read = 32 * (global[EMU_LOAD].passes + global[EMU_ATOMIC].passes);
    counts->bytes_written = 32 * (global[EMU_STORE].passes + global[EMU_ATOMIC].passes);
}

static bool same_launch(const emu_counts *a, const emu_counts *b)
{
    return !strcmp(a->kernel, b->kernel) && !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block);
}

static size_t kernel_of(const emu_counts *launch)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (same_launch(&kernels[i], launch))
            return i;
    kernels = realloc(kernels, (kernel_count + 1) * sizeof *kernels);
    kernel_sites = realloc(kernel_sites, (kernel_count + 1) * sizeof *kernel_sites);
    kernels[kernel_count] = *launch;
    emu_counts *k = &kernels[kernel_count];
    k->busiest = k->launches = k->blocks = k->sampled_blocks = k->barriers = k->branches = 0;
    k->seconds = 0;
    k->sites = NULL;
    k->site_count = 0;
    kernel_sites[kernel_count] = emu_sites_new();
    return kernel_count++;
}

static void begin_last(const emu_launch *launch)
{
    const cuemu_launch_config *c = launch->config;
    const emu_counter *old = last.sites;
    last = (emu_counts){ .kernel = c->kernel,
                         .grid = { c->grid.x, c->grid.y, c->grid.z },
                         .block = { c->block.x, c->block.y, c->block.z },
                         .launches = 1,
                         .blocks = launch->block_count,
                         .static_shared = launch->static_shared,
                         .dynamic_shared = c->dynamic_shared,
                         .seconds = launch->seconds,
                         .sites = old };
    if (!last_sites)
        last_sites = emu_sites_new();
    emu_sites_clear(last_sites);
}

void emu_counts_finish(emu_launch *launch, emu_tally *const *tallies, int count)
{
    begin_last(launch);
    for (int i = 0; i < count; i++) {
        add_sites(last_sites, tallies[i]->sites);
        last.barriers += tallies[i]->totals.barriers;
        last.branches += tallies[i]->totals.branches;
        last.sampled_blocks += tallies[i]->totals.sampled_blocks;
        last.busiest = tallies[i]->totals.busiest > last.busiest ? tallies[i]->totals.busiest : last.busiest;
    }
    sum_up(&last, last_sites);
    size_t k = kernel_of(&last);
    add_sites(kernel_sites[k], last_sites);
    kernels[k].launches++;
    kernels[k].blocks += last.blocks;
    kernels[k].sampled_blocks += last.sampled_blocks;
    kernels[k].busiest = last.busiest > kernels[k].busiest ? last.busiest : kernels[k].busiest;
    kernels[k].barriers += last.barriers;
    kernels[k].branches += last.branches;
    kernels[k].seconds += last.seconds;
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

const emu_counts *emu_counts_last(void)
{
    return last.kernel ? &last : NULL;
}

size_t emu_counts_all(const emu_counts **all)
{
    for (size_t i = 0; i < kernel_count; i++)
        sum_up(&kernels[i], kernel_sites[i]);
    *all = kernels;
    return kernel_count;
}

double emu_counts_per_request(const emu_counts *counts, int space)
{
    uint64_t requests = 0, passes = 0;
    for (int kind = EMU_LOAD; kind <= EMU_ATOMIC; kind++) {
        requests += counts->traffic[space][kind].requests;
        passes += counts->traffic[space][kind].passes;
    }
    return requests ? (double)passes / (double)requests : 0;
}

int emu_counts_line(const emu_counter *site, const char **file, int *line)
{
    return emu_source(site->pc, file, line);
}

void emu_counts_reset(void)
{
    for (size_t i = 0; i < kernel_count; i++) {
        free((void *)kernels[i].sites);
        free(kernel_sites[i]->slots);
        free(kernel_sites[i]);
    }
    kernel_count = 0;
}
