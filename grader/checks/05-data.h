/* 05-data.h -- the checks of lab 05: the struct of their rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "checks/fill.h"
#include "rows/traffic.h"

/* The run function defines the meaning of kind and spread. */
typedef struct data_case {
    mg_case head;
    int64_t kind, spread;
} data_case;

enum { MG_IDX_GOOD, MG_IDX_HIGH_BYTES, MG_IDX_SHORT, MG_IDX_LONG, MG_IDX_TORN, MG_IDX_HOSTILE };
enum { MG_TOKENS_GOOD, MG_TOKENS_SIZE, MG_TOKENS_ODD, MG_TOKENS_SHORT, MG_TOKENS_HOSTILE };

/* 05-formats.c */
void mg_05_idx(mg_run *run, const void *one_case);
void mg_05_pixels(mg_run *run, const void *one_case);
void mg_05_tokens(mg_run *run, const void *one_case);
void mg_05_windows(mg_run *run, const void *one_case);
void mg_05_window(mg_run *run, const void *one_case);

/* 05-pictures.c */
void mg_05_resize(mg_run *run, const void *one_case);
void mg_05_choose(mg_run *run, const void *one_case);
void mg_05_colours(mg_run *run, const void *one_case);
void mg_05_apply(mg_run *run, const void *one_case);

/* 05-samplers.c */
void mg_05_order(mg_run *run, const void *one_case);
void mg_05_shares(mg_run *run, const void *one_case);
void mg_05_batches(mg_run *run, const void *one_case);
void mg_05_sample_rng(mg_run *run, const void *one_case);
void mg_05_collate(mg_run *run, const void *one_case);

/* 05-ring.c */
void mg_05_ring(mg_run *run, const void *one_case);
void mg_05_stop(mg_run *run, const void *one_case);

/* 05-loader.c */
enum { MG_LOADER_ORDER, MG_LOADER_RESUME, MG_LOADER_AHEAD, MG_LOADER_LAW };
void mg_05_loader(mg_run *run, const void *one_case);

/* The sampler that a call gets: count, shuffle, seed, rank, world, uneven (1: drop). */
enum { MG_COUNT, MG_SHUFFLE, MG_SEED, MG_RANK, MG_WORLD, MG_UNEVEN, MG_SAMPLER };

/* mg_05_order_of -- the expected order of the whole set in this epoch; [count], freed by the caller. */
int64_t *mg_05_order_of(const int64_t *sampler, int64_t epoch);

/* mg_05_sample_stream -- the stream that a sample should use. */
mt_rng mg_05_sample_stream(int64_t seed, int64_t epoch, int64_t index);
