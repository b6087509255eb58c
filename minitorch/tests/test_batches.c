/* test_batches.c -- batch sources: their samples depend on (seed, step, rank, world) only, and the ranks divide a
 * global batch. */
#include <criterion/criterion.h>

#include "data/loader.h"
#include "fake_set.h"

/* The samples of step `step` of all ranks, in the order of the global batch. */
static void global_batch(int64_t *index, mt_batch_source source, int64_t step, int64_t batch, int64_t world)
{
    int64_t mine[64];
    for (source.world = world, source.rank = 0; source.rank < world; source.rank++) {
        source.pick(mine, &source, step, batch);
        for (int64_t i = 0; i < batch; i++)
            index[i * world + source.rank] = mine[i];
    }
}

Test(batches, ranks_get_disjoint_parts_of_one_global_batch)
{
    fake_set set = fake_set_of(1000);
    const mt_batch_source sources[] = { mt_batches_random(&set.base, 3), mt_batches_spread(&set.base, 5) };
    for (int s = 0; s < 2; s++)
        for (int64_t step = 0; step < 5; step++)
            for (int64_t world = 1; world <= 4; world++) {
                int64_t whole[24], parts[24];
                sources[s].pick(whole, &sources[s], step, 24);
                global_batch(parts, sources[s], step, 24 / world, world);
                cr_assert_arr_eq(parts, whole, sizeof whole, "source %d, step %d, %d ranks", s, (int)step, (int)world);
            }
}

/* Batches of another step or seed differ; each draw is as likely as the others. */
Test(batches, random_batches)
{
    int64_t count[10] = { 0 }, a[64], b[64];
    fake_set set = fake_set_of(10);
    mt_batch_source source = mt_batches_random(&set.base, 1), other = mt_batches_random(&set.base, 2);
    for (int64_t step = 0; step < 1000; step++) {
        source.pick(a, &source, step, 64);
        source.pick(b, &source, step + 1, 64);
        cr_assert(memcmp(a, b, sizeof a) != 0);
        other.pick(b, &other, step, 64);
        cr_assert(memcmp(a, b, sizeof a) != 0);
        for (int i = 0; i < 64; i++)
            count[a[i]]++;
    }
    for (int i = 0; i < 10; i++) /* 6,400 expected; 5 standard deviations are 380 */
        cr_assert(count[i] > 6020 && count[i] < 6780, "%d: %d", i, (int)count[i]);
}

Test(batches, spread_batches_cover_the_set_in_order)
{
    fake_set set = fake_set_of(100);
    mt_loader_config config = mt_loader_config_default(&set.base);
    config.source = mt_batches_spread(&set.base, 4);
    config.batch = 5;
    mt_loader *loader = mt_loader_new(&config);
    mt_batch batch;
    for (int epoch = 0; epoch < 2; epoch++) {
        int64_t next = 0;
        while (mt_loader_next(loader, &batch))
            for (int64_t i = 0; i < batch.count; i++, next += 5)
                cr_assert_eq(batch.index[i], next);
        cr_assert_eq(next, 100);
    }
    mt_loader_free(loader);
}

Test(batches, a_source_resumes_at_any_step)
{
    fake_set set = fake_set_of(1000000);
    mt_loader_config config = mt_loader_config_default(&set.base);
    config.source = mt_batches_random(&set.base, 9);
    config.batch = 7;
    config.workers = 2;
    mt_loader *loader = mt_loader_new(&config);
    for (int64_t step = 0; step < 1000000000000; step = step * 10 + 7) {
        int64_t want[7];
        mt_batch batch;
        cr_assert_eq(mt_loader_seek(loader, (mt_loader_place){ 0, step }), MT_OK);
        cr_assert(mt_loader_next(loader, &batch) && batch.step == step && batch.count == 7);
        config.source.pick(want, &config.source, step, 7);
        cr_assert_arr_eq(batch.index, want, sizeof want);
    }
    mt_loader_free(loader);
}
