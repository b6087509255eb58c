/* test_denormals.c -- ordinary arithmetic unless a program asks for flushed denormal numbers, and then in every thread
 * that computes: OpenMP's, a loader's, ranks and their teams. */
#include <criterion/criterion.h>
#include <float.h>
#include <omp.h>

#include "cli/cli.h"
#include "core/denormals.h"
#include "core/scope.h"
#include "data/loader.h"
#include "on_ranks.h"

enum { THREADS = 3, SAMPLES = 64 };

#if defined __x86_64__ || defined __aarch64__
static const bool has_mode = true;
#else
static const bool has_mode = false;
#endif

static int flushed_in_team(void)
{
    int flushed = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : flushed)
    flushed += mt_denormals_flushed();
    return flushed;
}

static mt_status get_mode(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y)
{
    (void)set, (void)index, (void)rng;
    *(float *)x = mt_denormals_flushed();
    *(int32_t *)y = 0;
    return MT_OK;
}

static int flushed_in_workers(void)
{
    mt_dataset set = { .count = SAMPLES, .x = { MT_F32, MT_SCALAR }, .y = { MT_I32, MT_SCALAR }, .get = get_mode };
    mt_loader_config config = mt_loader_config_default(&set);
    config.workers = THREADS;
    mt_loader *loader = mt_loader_new(&config);
    mt_batch batch;
    int flushed = 0;
    while (mt_loader_next(loader, &batch))
        for (int64_t i = 0; i < batch.count; i++)
            flushed += mt_f32(batch.x)[i] == 1;
    mt_loader_free(loader);
    return flushed;
}

static mt_status on_rank(mt_comm *comm, void *user)
{
    int *flushed = user;
    flushed[comm->rank] = mt_denormals_flushed() + flushed_in_team();
    return MT_OK;
}

static void expect(bool flushed)
{
    int on[THREADS];
    volatile float least = FLT_MIN, kept = FLT_MIN / 2;
    cr_assert_eq(least / 4 == 0, flushed, "a result");
    cr_assert_eq(kept * 4 == 0, flushed, "an operand");
    cr_assert_eq(least / 4 * 4 == least, !flushed);
    cr_assert_eq(mt_denormals_flushed(), flushed);
    cr_assert_eq(flushed_in_team(), flushed * THREADS);
    cr_assert_eq(flushed_in_workers(), flushed * SAMPLES);
    run(THREADS, (mt_wires){ 0 }, on_rank, on);
    for (int rank = 0; rank < THREADS; rank++)
        cr_assert_eq(on[rank], flushed * (1 + THREADS), "rank %d", rank);
}

Test(denormals, kept_until_a_program_asks)
{
    expect(false);
}

Test(denormals, flushed_in_every_thread)
{
    mt_flush_denormals(true);
    expect(has_mode);
    mt_flush_denormals(true);
    expect(has_mode);
    mt_flush_denormals(false); /* in this thread: a team keeps the mode with which it started */
    cr_assert(!mt_denormals_flushed());
}

Test(denormals, flushed_by_a_command_line)
{
    char *argv[] = { "test", NULL };
    static const mt_option none[] = { { 0 } };
    mt_cli_parse(1, argv, "A test.", none, NULL);
    expect(has_mode);
}
