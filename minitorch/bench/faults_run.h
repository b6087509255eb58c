/* faults_run.h -- for faults.c: a run whose values are determined by the step, saved as training saves, and compared
 * bit for bit after recovery. */
#pragma once

#include "ckpt/async.h"
#include "ckpt/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAULTS_TENSORS = 6, FAULTS_NONE = -1, FAULTS_LOST = -2 /* not steps */ };

typedef struct faults_run {
    int64_t step;
    mt_rng rng;
    mt_state model, rest;
} faults_run;

/* 32-bit word j of tensor i after `step`: every bit pattern, also those of NaN. safetensors_peer.py has it, too. */
static inline uint32_t faults_word(int64_t step, int64_t i, int64_t j)
{
    return (uint32_t)(step + 1) * 0x9E3779B1u + (uint32_t)i * 0x85EBCA6Bu + (uint32_t)j * 0xC2B2AE35u;
}

/* The words of tensor i: different numbers, so that shards differ in size. */
static inline int64_t faults_words(const mt_tensor *t)
{
    return mt_numel(t) * mt_dtype_size(t->dtype) / 4;
}

static inline void faults_add(mt_state *list, mt_dtype dtype, int64_t words, const char *name)
{
    mt_tensor *t = mt_zeros(MT_SHAPE(2, words * 2 / mt_dtype_size(dtype)), dtype, MT_CPU);
    mt_state_tensor(list, t, "%s", name);
    mt_release(t);
}

static inline mt_tensor *faults_tensor(const faults_run *r, int64_t i)
{
    return i < 4 ? r->model.item[i].tensor : r->rest.item[i - 4].tensor;
}

static inline void faults_set(faults_run *r, int64_t step)
{
    r->step = step;
    r->rng = mt_rng_new(7, (uint64_t)step + 1);
    r->rng.counter = (uint64_t)step * 3;
    for (int64_t i = 0; i < FAULTS_TENSORS; i++) {
        uint32_t *words = mt_data(faults_tensor(r, i));
        for (int64_t j = 0, n = faults_words(faults_tensor(r, i)); j < n; j++)
            words[j] = faults_word(step, i, j);
    }
}

/* words: of the largest tensor, a multiple of 16. */
static inline void faults_begin(faults_run *r, int64_t words, int64_t step)
{
    *r = (faults_run){ 0 };
    faults_add(&r->model, MT_F32, words, "h.0.weight");
    faults_add(&r->model, MT_BF16, words / 4, "h.0.bias");
    faults_add(&r->model, MT_F16, words / 2, "h.1.weight");
    faults_add(&r->model, MT_I64, words / 8, "h.1.steps");
    faults_add(&r->rest, MT_F32, words, "h.0.weight/exp_avg");
    faults_add(&r->rest, MT_I32, words / 4, "mask");
    mt_state_integer(&r->rest, &r->step, "step");
    mt_state_rng(&r->rest, &r->rng, "dropout");
    mt_state_setting(&r->rest, "seed", "7");
    faults_set(r, step);
}

static inline void faults_end(faults_run *r)
{
    mt_state_free(&r->model);
    mt_state_free(&r->rest);
}

static inline bool faults_is(const faults_run *r, int64_t step, bool rest)
{
    bool same = !rest || (r->step == step && r->rng.stream == (uint64_t)step + 1 &&
                          r->rng.counter == (uint64_t)step * 3 && r->rng.seed == 7);
    for (int64_t i = 0; i < (rest ? FAULTS_TENSORS : 4); i++) {
        const uint32_t *words = mt_data(faults_tensor(r, i));
        for (int64_t j = 0, n = faults_words(faults_tensor(r, i)); j < n; j++)
            same &= words[j] == faults_word(step, i, j);
    }
    return same;
}

static inline void faults_ignore(void *user, int64_t step, const char *why)
{
    (void)user, (void)step, (void)why;
}

/* faults_recovered -- the step that a program which starts now continues from; FAULTS_NONE: there is no valid
 * checkpoint. FAULTS_LOST: the one that recovery chose has other bits than were saved. */
static inline int64_t faults_recovered(const char *dir, int64_t words)
{
    int64_t step;
    faults_run r;
    if (mt_recover(&step, dir, faults_ignore, NULL) != MT_OK)
        return FAULTS_NONE;
    faults_begin(&r, words, -5);
    bool good = mt_checkpoint_load(dir, step, &r.model, &r.rest) == MT_OK && faults_is(&r, step, true);
    faults_end(&r);
    return good ? step : FAULTS_LOST;
}

/* faults_saver -- of two checkpoints, the last and one of every 4 steps; shards of a tensor or two. */
static inline mt_status faults_saver(mt_saver **out, const char *dir, int64_t words, bool async)
{
    mt_saver_config config = { dir, .shard_bytes = words * 5, .keep = { 1, 4, -1 }, .async = async };
    return mt_saver_open(out, &config);
}

/* faults_save -- step `step` by a program of its own: lock, save, remove old ones, unlock. */
static inline mt_status faults_save(const char *dir, int64_t words, int64_t step, bool async)
{
    mt_saver *saver;
    faults_run r;
    mt_status status = faults_saver(&saver, dir, words, async);
    if (status != MT_OK)
        return status;
    faults_begin(&r, words, step);
    status = mt_saver_save(saver, step, &r.model, &r.rest);
    faults_set(&r, -9); /* training goes on */
    mt_status written = mt_saver_close(saver);
    faults_end(&r);
    return status == MT_OK ? written : status;
}

/* faults_forever -- saves from the step after what is there on; writes each step that is durable to stdout. */
static inline mt_status faults_forever(const char *dir, int64_t words)
{
    mt_saver *saver;
    faults_run r;
    int64_t step = faults_recovered(dir, words);
    mt_status status = faults_saver(&saver, dir, words, true);
    faults_begin(&r, words, step);
    while (status == MT_OK) {
        faults_set(&r, ++step);
        status = mt_saver_save(saver, step, &r.model, &r.rest);
        faults_set(&r, -9); /* training goes on during the save */
        if (status == MT_OK)
            status = mt_saver_wait(saver);
        if (status == MT_OK && write(STDOUT_FILENO, &step, sizeof step) != sizeof step)
            break;
    }
    return status;
}
