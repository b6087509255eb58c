/* calls_05.c -- how the worker calls the units of lab 05: kernels and samplers directly, the loader by scenarios, the
 * ring in calls_05_ring.c.
 *
 * The data set is in memory: sample i contains i and random numbers, takes simulated time, and may be bad. Scenarios
 * run in simulated time (testing/clock_sim.h): hours of loading take no time; a deadlock aborts instead of hanging. */
#include "testing/clock_sim.h"
#include "data/augment.h"
#include "data/collate.h"
#include "data/idx_map.h"
#include "data/loader.h"
#include "data/sampler.h"
#include "data/tokens.h"
#include "worker/calls_05.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ------------------------------------------------------------------------------------ */

static const char *const path = "folder/file-of-the-check"; /* as in 05-formats.c */

static void note_message(const mg_value *v)
{
    snprintf((char *)U8(message), (size_t)ARRAY(message)->count, "%s", mt_last_error());
}

static void idx_header(const mg_value *v)
{
    mt_idx_header h = { -7, -7, -7, -7 };
    mt_fail(MT_OK, "none"); /* the message of an earlier call does not count */
    I64(out)[0] = mt_idx_header_read(&h, path, U8(bytes), N(size), (mt_idx_kind)N(kind));
    memcpy(I64(out) + 1, &h, sizeof h);
    note_message(v);
}

static void pixels(const mg_value *v)
{
    mt_pixels_to_floats(F(out), U8(bytes), ARRAY(bytes)->count, (mt_pixel_norm){ S(mean), S(stddev) });
}

/* A file of tokens is aligned; an input ends where its pages do, and is copied if its size is no multiple of 8. */
static uint8_t *aligned(const mg_value *bytes)
{
    if ((uintptr_t)bytes->u8 % 8 == 0)
        return bytes->u8;
    mg_keeps = true;
    uint8_t *copy = malloc((size_t)bytes->count + 1);
    MT_CHECK(copy, "out of memory");
    return memcpy(copy, bytes->u8, (size_t)bytes->count);
}

static void tokens_read(const mg_value *v)
{
    uint8_t *bytes = aligned(ARRAY(bytes));
    mt_tokens t = { bytes - 7, -7, -7 };
    mt_fail(MT_OK, "none");
    I64(out)[0] = mt_tokens_read(&t, path, bytes, N(size));
    I64(out)[1] = t.data - bytes;
    I64(out)[2] = t.count;
    I64(out)[3] = t.size;
    note_message(v);
}

static void tokens_windows(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(windows)->count; i++)
        I64(windows)[i] = mt_tokens_windows(I64(count)[i], I64(T)[i], I64(stride)[i]);
}

static void tokens_window(const mg_value *v)
{
    mt_tokens t = { aligned(ARRAY(data)), ARRAY(data)->count / N(size), N(size) };
    mt_tokens_window(I32(x), I32(y), &t, N(start), ARRAY(x)->count);
}

/* ---- pictures ----------------------------------------------------------------------------------- */

static void resize(const mg_value *v)
{
    mt_image out = { U8(out), N(out height), N(out width) }, in = { U8(in), N(in height), N(in width) };
    mt_resize(&out, &in);
}

static void choose(const mg_value *v)
{
    const int64_t *size = I64(size);
    const float *spread = F(spread);
    mt_augment a = mt_augment_default(size[0], size[1]);
    mt_rng rng = mt_rng_new((uint64_t)N(seed), MT_STREAM_USER);
    a.random_crop = N(random_crop);
    a.flip = spread[0];
    a.brightness = spread[1];
    a.contrast = spread[2];
    a.saturation = spread[3];
    mt_augment_choice c = mt_augment_choose(&a, size[2], size[3], &rng);
    int64_t place[4] = { c.top, c.left, c.flip, mt_rng_u32(&rng) };
    float factor[3] = { c.brightness, c.contrast, c.saturation };
    memcpy(I64(place), place, sizeof place);
    memcpy(F(factor), factor, sizeof factor);
}

static void colour_map(const mg_value *v)
{
    mt_augment_choice c = { .brightness = F(factor)[0], .contrast = F(factor)[1], .saturation = F(factor)[2] };
    mt_colour_map((float(*)[4])F(map), &c, F(mean)); /* not a copy: behind this array a store is seen */
}

static void apply(const mg_value *v)
{
    const int64_t *size = I64(size), *place = I64(place);
    mt_augment a = mt_augment_default(size[0], size[1]);
    mt_image in = { U8(in), size[2], size[3] };
    memcpy(a.mean, F(norm), sizeof a.mean);
    memcpy(a.stddev, F(norm) + 3, sizeof a.stddev);
    mt_augment_choice c = { place[0], place[1], place[2], F(factor)[0], F(factor)[1], F(factor)[2] };
    mt_augment_apply(F(out), &in, &a, &c);
}

/* ---- samplers ----------------------------------------------------------------------------------- */

/* The checker's sampler: count, shuffle, seed, rank, world, uneven. */
static mt_sampler sampler_of(const int64_t *s)
{
    mt_sampler all = s[1] ? mt_sampler_shuffling(s[0], (uint64_t)s[2]) : mt_sampler_sequential(s[0]);
    return mt_sampler_distributed(all, s[3], s[4], (mt_uneven)s[5]);
}

static void order(const mg_value *v)
{
    mt_sampler s = sampler_of(I64(sampler));
    mt_sampler_order(I64(order), &s, N(epoch));
}

static void shares(const mg_value *v)
{
    mt_sampler s = sampler_of(I64(sampler));
    I64(length)[0] = mt_sampler_length(&s);
    memset(I64(place), 0xff, sizeof *I64(place) * (size_t)ARRAY(place)->count);
    for (int64_t i = 0, k = N(first k); i < ARRAY(place)->count && k < I64(length)[0] && s.count > 0; i++, k++)
        I64(place)[i] = mt_sampler_place(&s, k);
}

static void batches(const mg_value *v)
{
    enum { UNWRITTEN = -9 };
    mt_sampler s = sampler_of(I64(sampler));
    int64_t done = 0, size = N(batch), *index = calloc((size_t)size, sizeof *index);
    MT_CHECK(index, "out of memory");
    I64(steps, and with drop_last)[0] = mt_sampler_steps(&s, size, false);
    I64(steps, and with drop_last)[1] = mt_sampler_steps(&s, size, true);
    I64(written behind the last)[0] = 0;
    memset(I64(index), 0xff, sizeof *I64(index) * (size_t)ARRAY(index)->count);
    memset(I64(size), 0xff, sizeof *I64(size) * (size_t)ARRAY(size)->count);
    for (int64_t step = 0; step < mt_min(I64(steps, and with drop_last)[0], ARRAY(size)->count); step++) {
        for (int64_t i = 0; i < size; i++)
            index[i] = UNWRITTEN;
        int64_t n = I64(size)[step] = mt_sampler_batch(index, &s, I64(order), step, size);
        for (int64_t i = mt_max(n, 0); i < size; i++)
            I64(written behind the last)[0] += index[i] != UNWRITTEN;
        for (int64_t i = 0; i < mt_min(n, size) && done < ARRAY(index)->count; i++)
            I64(index)[done++] = index[i];
    }
    free(index);
}

/* ---- what samplers refuse ---- */

static void distribute(const mg_value *v)
{
    sampler_of(I64(sampler));
}

static void steps(const mg_value *v)
{
    mt_sampler s = sampler_of(I64(sampler));
    mt_sampler_steps(&s, N(batch), false);
}

/* ---- samples into batches ----------------------------------------------------------------------- */

enum { FIELDS = 4 };

typedef struct own_set {
    mt_dataset base;
    mt_clock *clock;
    double seconds; /* of a sample, times 1 .. 1 + uneven by its number */
    int64_t uneven;
    const uint8_t *bad; /* [count]: 1 bad content, 2 cannot be read; NULL: all good */
    atomic_llong begun;
    int64_t stop_in; /* the number of the sample during which stopped becomes true; 0: none, -1: before the first */
    atomic_bool stopped;
} own_set;

static mt_status own_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    own_set *set = (own_set *)base;
    float value[FIELDS] = { (float)index };
    int32_t label = (int32_t)index;
    if (atomic_fetch_add(&set->begun, 1) + 1 == set->stop_in)
        set->stopped = true;
    if (set->clock)
        set->clock->sleep(set->clock, set->seconds * (double)(1 + (set->uneven ? index * 7 % (set->uneven + 1) : 0)));
    for (int i = 1; i < FIELDS; i++) /* a bad sample draws its numbers, too */
        value[i] = mt_rng_uniform(rng);
    if (set->bad && set->bad[index])
        return mt_fail(set->bad[index] == 1 ? MT_ERR_FORMAT : MT_ERR_IO, "sample-%d.png", (int)index);
    memcpy(x, value, sizeof value);
    memcpy(y, &label, sizeof label);
    return MT_OK;
}

static own_set own_set_of(int64_t count)
{
    mt_field x = { MT_F32, MT_SHAPE(FIELDS) }, y = { MT_I32, MT_SCALAR };
    return (own_set){ .base = { .count = count, .x = x, .y = y, .get = own_get } };
}

static void sample_rng(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(first draw)->count; i++) {
        mt_rng rng = mt_sample_rng((uint64_t)N(seed), I64(epoch)[i], I64(index)[i]);
        I64(first draw)[i] = mt_rng_u32(&rng);
    }
}

/* result [3]: status, skipped, samples read; x; y; index; bad; seed, epoch, skip, the sample that stops */
static void collate(const mg_value *v)
{
    own_set set = own_set_of(ARRAY(bad)->count);
    set.bad = U8(bad);
    set.stop_in = N(stop in sample);
    set.stopped = set.stop_in < 0;
    mt_collation how = { &set.base, (uint64_t)N(seed), N(epoch), N(skip) ? MT_BAD_SKIP : MT_BAD_FATAL, NULL };
    how.stopped = set.stop_in ? &set.stopped : NULL;
    memset(F(x), 0, sizeof(float) * (size_t)ARRAY(x)->count);
    I64(status, skipped, read)
    [0] = mt_collate(F(x), I32(y), I64(index), &I64(status, skipped, read)[1], &how, ARRAY(index)->count);
    I64(status, skipped, read)[2] = atomic_load(&set.begun);
}

/* ---- loader ------------------------------------------------------------------------------------- */

typedef struct scenario {
    mt_clock *clock;
    own_set set;
    mt_loader *loader;
} scenario;

/* config: batch, workers, prefetch, uneven, load ns of a sample, compute ns. */
static void scenario_begin(scenario *s, const int64_t *sampler, const int64_t *config, int64_t seed)
{
    s->clock = mt_clock_sim_new();
    s->set = own_set_of(sampler[0]);
    s->set.clock = s->clock;
    s->set.uneven = config[3];
    s->set.seconds = (double)config[4] * 1e-9;
    mt_loader_config c = mt_loader_config_default(&s->set.base);
    c.sampler = sampler_of(sampler);
    c.batch = config[0];
    c.workers = (int)config[1];
    c.prefetch = config[2];
    c.seed = (uint64_t)seed;
    c.clock = s->clock;
    s->loader = mt_loader_new(&c);
}

static void scenario_end(scenario *s)
{
    mt_loader_free(s->loader);
    mt_clock_sim_free(s->clock);
}

/* From place on, until x is full; a batch is read only after the simulated computation: it must be unchanged. */
static void loader_run(const mg_value *v)
{
    scenario s;
    mt_batch b;
    int64_t done = 0, most = ARRAY(x)->count / FIELDS, ahead = 0, ends = 0, *config = I64(config);
    memset(F(x), 0, sizeof(float) * (size_t)ARRAY(x)->count);
    scenario_begin(&s, I64(sampler), config, N(seed));
    mt_status status = mt_loader_seek(s.loader, (mt_loader_place){ N(epoch), N(step) });
    for (int64_t calls = 0; done < most && calls < most * 3; calls++) {
        if (!mt_loader_next(s.loader, &b)) {
            ends++;
            continue;
        }
        s.clock->sleep(s.clock, (double)config[5] * 1e-9);
        int64_t n = mt_min(b.count, most - done);
        memcpy(F(x) + done * FIELDS, mt_f32(b.x), sizeof(float) * (size_t)(n * FIELDS));
        done += b.count;
        ahead = mt_max(ahead, atomic_load(&s.set.begun) - done);
    }
    int64_t facts[4] = { status, (int64_t)(s.clock->now(s.clock) * 1e9), ahead, ends };
    memcpy(I64(status, ns, ahead, ends), facts, sizeof facts);
    scenario_end(&s);
}

const mg_function mg_calls_05[] = {
    { "mt_idx_header_read", idx_header },
    { "mt_pixels_to_floats", pixels },
    { "mt_tokens_read", tokens_read },
    { "mt_tokens_windows", tokens_windows },
    { "mt_tokens_window", tokens_window },
    { "mt_resize", resize },
    { "mt_augment_choose", choose },
    { "mt_colour_map", colour_map },
    { "mt_augment_apply", apply },
    { "mt_sampler_order", order },
    { "mt_sampler_length and _place", shares },
    { "mt_sampler_steps and _batch", batches },
    { "mt_sampler_distributed", distribute },
    { "mt_sampler_steps", steps },
    { "mt_sample_rng", sample_rng },
    { "mt_collate", collate },
    { "a ring, step by step", mg_call_ring_script },
    { "a ring that is stopped", mg_call_ring_stop },
    { "a ring that is stopped just before a wait", mg_call_ring_stop_before_wait },
    { "a loader", loader_run },
    { NULL, NULL },
};
