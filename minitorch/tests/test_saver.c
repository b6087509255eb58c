/* test_saver.c -- saving beside training: the copy is that of its moment, the next save waits, errors are reported; and
 * which checkpoints stay. */
#include "ckpt/async.h"
#include "ckpt/checkpoint.h"
#include "small_run.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define SAYS(words) cr_assert(strstr(mt_last_error(), words), "\"%s\" does not say \"%s\"", mt_last_error(), words)

TestSuite(saver, .init = small_run_disk_begin, .fini = small_run_disk_end);

static mt_saver *opened(mt_saver_config config)
{
    mt_saver *saver;
    config.dir = RUNS;
    config.shard_bytes = 40;
    cr_assert_eq(mt_saver_open(&saver, &config), MT_OK, "%s", mt_last_error());
    return saver;
}

static mt_status save(mt_saver *saver, small_run *r, int64_t step)
{
    small_run_set(r, step);
    return mt_saver_save(saver, step, &r->model, &r->rest);
}

/* The checkpoints that are there, each of them right: "7 5 ". */
static const char *there(void)
{
    static char text[256];
    int64_t *steps, count;
    *text = 0;
    cr_assert_eq(mt_checkpoint_steps(&steps, &count, RUNS), MT_OK);
    for (int64_t i = 0; i < count; i++) {
        sprintf(text + strlen(text), "%d ", (int)steps[i]);
        cr_assert_eq(mt_checkpoint_check(RUNS, steps[i]), MT_OK, "%s", mt_last_error());
        cr_assert_eq(small_run_load(RUNS, steps[i]), MT_OK, "%s", mt_last_error());
    }
    free(steps);
    return text;
}

/* ---- a thread that writes ----------------------------------------------------------------------------------- */

static void *release_later(void *disk)
{
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    mt_disk_sim_hold(disk, false);
    return NULL;
}

/* The disk is slow: training has changed all values before the first byte is written, and the next save comes before
 * the last one is written. */
Test(saver, the_copy_is_that_of_its_moment)
{
    small_run r;
    pthread_t thread;
    small_run_begin(&r, 0);
    mt_saver *saver = opened((mt_saver_config){ .async = true, .keep = { 0, 0, -1 } });
    for (int64_t step = 1; step <= 3; step++) {
        cr_assert_eq(mt_saver_wait(saver), MT_OK); /* a disk that is held now would hold the last save, too */
        mt_disk_sim_hold(small_run_disk, true);
        cr_assert_eq(save(saver, &r, 2 * step), MT_OK);
        small_run_set(&r, 99);
        pthread_create(&thread, NULL, release_later, small_run_disk);
        cr_assert_eq(save(saver, &r, 2 * step + 1), MT_OK);
        small_run_set(&r, 98);
        pthread_join(thread, NULL);
    }
    cr_assert_eq(mt_saver_wait(saver), MT_OK);
    cr_assert_str_eq(there(), "7 6 5 4 3 2 ");
    cr_assert_eq(mt_saver_close(saver), MT_OK);
    small_run_end(&r);
}

/* The first save finds the memory of its copies. */
Test(saver, prepared_before_the_first_save)
{
    small_run r;
    small_run_begin(&r, 0);
    for (int async = 0; async < 2; async++) {
        int64_t before = mt_live_bytes(MT_CPU), all = 4 * (6 + 3 + 6 + 6);
        mt_saver *saver = opened((mt_saver_config){ .async = async, .keep = { 1, 0, -1 } });
        mt_saver_prepare(saver, &r.model, &r.rest);
        mt_saver_prepare(saver, &r.model, &r.rest);
        cr_assert_eq(mt_live_bytes(MT_CPU) - before >= all, async);
        int64_t prepared = mt_live_bytes(MT_CPU);
        cr_assert(save(saver, &r, 5 + async) == MT_OK && mt_saver_wait(saver) == MT_OK);
        cr_assert_eq(mt_live_bytes(MT_CPU), prepared);
        cr_assert_str_eq(there(), async ? "6 " : "5 ");
        mt_saver_close(saver);
        cr_assert_eq(mt_live_bytes(MT_CPU), before);
    }
    small_run_end(&r);
}

Test(saver, an_error_is_reported_by_the_next_call)
{
    small_run r;
    small_run_begin(&r, 0);
    for (int async = 0; async < 2; async++) {
        mt_saver *saver = opened((mt_saver_config){ .async = async, .keep = { 1, 0, -1 } });
        cr_assert_eq(save(saver, &r, 10 * async + 1), MT_OK);
        cr_assert_eq(mt_saver_wait(saver), MT_OK);
        mt_disk_sim_fail(small_run_disk, 9, ENOSPC, false);
        cr_assert_eq(save(saver, &r, 10 * async + 2), async ? MT_OK : MT_ERR_IO);
        if (async)
            cr_assert_eq(save(saver, &r, 13), MT_ERR_IO);
        SAYS("No space left");
        cr_assert_str_eq(there(), async ? "11 " : "1 ", "a save that reports an error saves nothing");
        cr_assert_eq(mt_saver_wait(saver), MT_OK, "an error is reported once");
        cr_assert_eq(save(saver, &r, 10 * async + 4), MT_OK);
        cr_assert_eq(mt_saver_wait(saver), MT_OK);
        cr_assert_str_eq(there(), async ? "14 " : "4 ");
        mt_disk_sim_fail(small_run_disk, 0, EROFS, true);
        cr_assert_eq(save(saver, &r, 10 * async + 5), async ? MT_OK : MT_ERR_IO);
        cr_assert_eq(mt_saver_close(saver), async ? MT_ERR_IO : MT_OK);
        SAYS("Read-only");
        mt_disk_sim_fail(small_run_disk, -1, 0, false);
    }
    small_run_end(&r);
    cr_assert_eq(mt_saver_close(NULL), MT_OK);
}

Test(saver, one_program_saves_in_a_folder)
{
    mt_saver *second;
    mt_saver *saver = opened((mt_saver_config){ 0 });
    cr_assert_eq(mt_saver_open(&second, &(mt_saver_config){ .dir = RUNS }), MT_ERR_UNAVAILABLE);
    SAYS("another program saves its checkpoints there");
    mt_saver_close(saver);
    mt_saver_close(opened((mt_saver_config){ 0 }));
    cr_assert_eq(mt_saver_open(&second, &(mt_saver_config){ .dir = "/none" }), MT_ERR_IO);
    SAYS("No such file");
}

/* The run that was there before stays until the new one has saved something. */
Test(saver, a_new_run_in_an_old_folder)
{
    small_run r;
    small_run_begin(&r, 0);
    cr_assert(small_run_save(5) == MT_OK && small_run_save(100) == MT_OK);
    mt_saver *saver = opened((mt_saver_config){ .new_run = true, .keep = { 2, 0, -1 } });
    mt_disk_sim_fail(small_run_disk, 9, ENOSPC, false);
    cr_assert_eq(save(saver, &r, 4), MT_ERR_IO);
    cr_assert_str_eq(there(), "100 5 ");
    for (int64_t step = 6; step <= 8; step++)
        cr_assert(save(saver, &r, step) == MT_OK);
    cr_assert_str_eq(there(), "8 7 ");
    mt_saver_close(saver);
    small_run_end(&r);
}

/* ---- which ones stay ---------------------------------------------------------------------------------------- */

Test(saver, the_last_every_and_the_best)
{
    small_run r;
    small_run_begin(&r, 0);
    mt_saver *saver = opened((mt_saver_config){ .keep = { 2, 4, -1 } });
    for (int64_t step = 1; step <= 11; step++) {
        cr_assert_eq(save(saver, &r, step), MT_OK);
        if (step == 5)
            cr_assert_eq(mt_saver_best(saver, step), MT_OK);
    }
    cr_assert_str_eq(there(), "11 10 8 5 4 ");
    mt_saver_close(saver);
    small_run_end(&r);
    const int64_t steps[] = { 9, 6, 5, 0 };
    for (int64_t i = 0; i < 4; i++) {
        cr_assert(mt_keeps(&(mt_keep){ 0, 0, -1 }, steps, i), "0: all");
        cr_assert_eq(mt_keeps(&(mt_keep){ 1, 0, -1 }, steps, i), i == 0);
        cr_assert_eq(mt_keeps(&(mt_keep){ 1, 3, -1 }, steps, i), i != 2);
        cr_assert_eq(mt_keeps(&(mt_keep){ 1, 0, 5 }, steps, i), i == 0 || i == 2);
    }
}

static void damage(int64_t step)
{
    char path[64];
    int64_t size;
    snprintf(path, sizeof path, RUNS "/step-%d/model-00001-of-00002.safetensors", (int)step);
    mt_disk_sim_file(small_run_disk, path, &size)[100] ^= 1;
}

static int64_t newest(void)
{
    int64_t step = -1;
    mt_recover(&step, RUNS, NULL, NULL);
    return step;
}

/* When all that would be kept are damaged, the newest valid one stays; and when nothing is valid, nothing more. */
Test(saver, the_last_valid_one_stays)
{
    setenv("MT_LOG", "error", 1);
    for (int64_t step = 1; step <= 6; step++)
        cr_assert_eq(small_run_save(step), MT_OK);
    damage(6), damage(5), damage(3);
    cr_assert_eq(mt_checkpoint_prune(RUNS, &(mt_keep){ 2, 0, -1 }), MT_OK);
    cr_assert_eq(newest(), 4);
    int64_t *steps, count;
    cr_assert(mt_checkpoint_steps(&steps, &count, RUNS) == MT_OK && count == 3);
    free(steps);
    damage(4);
    cr_assert_eq(mt_checkpoint_prune(RUNS, &(mt_keep){ 1, 0, -1 }), MT_OK);
    cr_assert(mt_checkpoint_steps(&steps, &count, RUNS) == MT_OK && count == 1 && steps[0] == 6);
    free(steps);
}

/* A newer one that a crash left incomplete takes the place of the last, and an old one is valid: what was saved just
 * now stays. */
Test(saver, a_newer_invalid_one_does_not_displace_the_newest_valid)
{
    setenv("MT_LOG", "error", 1);
    for (int64_t step = 4; step <= 6; step++)
        cr_assert_eq(small_run_save(step), MT_OK);
    damage(6);
    cr_assert_eq(mt_checkpoint_prune(RUNS, &(mt_keep){ 1, 4, -1 }), MT_OK);
    cr_assert_eq(newest(), 5);
}

/* A removal that fails leaves parts, which are not taken for a checkpoint, and the others are removed. */
Test(saver, a_removal_that_fails)
{
    for (int64_t n = 0;; n++) {
        small_run_disk_end();
        small_run_disk_begin();
        for (int64_t step = 1; step <= 3; step++)
            cr_assert_eq(small_run_save(step), MT_OK);
        mt_disk_sim_fail(small_run_disk, n, EIO, false);
        mt_status status = mt_checkpoint_prune(RUNS, &(mt_keep){ 1, 0, -1 });
        if (!mt_disk_sim_failed(small_run_disk)) {
            cr_assert(status == MT_OK && n > 12);
            break;
        }
        cr_assert_eq(status, MT_ERR_IO, "call %d", (int)n);
        SAYS("cannot be removed: Input/output error");
        mt_disk_sim_fail(small_run_disk, -1, 0, false);
        cr_assert_eq(newest(), 3);
        cr_assert_eq(mt_checkpoint_prune(RUNS, &(mt_keep){ 1, 0, -1 }), MT_OK);
        cr_assert_str_eq(there(), "3 ");
    }
}
