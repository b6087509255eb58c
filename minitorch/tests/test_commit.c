/* test_commit.c -- a save that any call fails, and a power cut after any change: what was complete before is still
 * there, or what was being saved is. */
#include "ckpt/crc32c.h"
#include "ckpt/checkpoint.h"
#include "small_run.h"

#include <errno.h>

#define SAYS(words) cr_assert(strstr(mt_last_error(), words), "\"%s\" does not say \"%s\"", mt_last_error(), words)

TestSuite(commit, .init = small_run_disk_begin, .fini = small_run_disk_end);

static void ignore(void *user, int64_t step, const char *why)
{
    (void)user, (void)step, (void)why;
}

/* The step of the newest valid checkpoint, whose values are right; -1: there is none. */
static int64_t recovered(mt_io *disk)
{
    int64_t step;
    mt_io *before = mt_io_now();
    mt_io_use(disk);
    mt_status status = mt_recover(&step, RUNS, ignore, NULL);
    if (status == MT_OK)
        cr_assert_eq(small_run_load(RUNS, step), MT_OK, "%s", mt_last_error());
    mt_io_use(before);
    return status == MT_OK ? step : -1;
}

/* Saves `step` and keeps no other. */
static mt_status save_and_prune(int64_t step)
{
    mt_status status = small_run_save(step);
    return status == MT_OK ? mt_checkpoint_prune(RUNS, &(mt_keep){ 1, 0, -1 }) : status;
}

Test(commit, what_is_saved_is_loaded)
{
    cr_assert_eq(small_run_save(3), MT_OK, "%s", mt_last_error());
    cr_assert_eq(recovered(small_run_disk), 3);
    cr_assert_eq(small_run_save(3), MT_OK, "once more");
    cr_assert_eq(recovered(small_run_disk), 3);
    cr_assert_eq(small_run_load(RUNS, 4), MT_ERR_IO);
}

static void count(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
}

static int names_in_runs(void)
{
    int names = 0;
    small_run_disk->list(small_run_disk, RUNS, count, &names);
    return names;
}

/* Every state that a cut may leave gives `least` to `most`. */
static int64_t cut_everywhere(int64_t from, int64_t to, int64_t least, int64_t most)
{
    int64_t states = 0;
    for (int64_t ops = from; ops <= to; ops++)
        for (int64_t s = 0; s < mt_disk_sim_states(small_run_disk, ops); s++, states++) {
            mt_io *left = mt_disk_sim_cut(small_run_disk, ops, s);
            int64_t step = recovered(left);
            cr_assert(step >= least && step <= most, "after %d changes, state %d: step %d", (int)ops, (int)s,
                      (int)step);
            mt_disk_sim_free(left);
        }
    return states;
}

Test(commit, a_power_cut_leaves_the_old_or_the_new)
{
    int64_t begin = mt_disk_sim_ops(small_run_disk), first, second, third, fifth, again;
    cr_assert_eq(save_and_prune(1), MT_OK);
    first = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(save_and_prune(2), MT_OK);
    second = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(save_and_prune(3), MT_OK);
    third = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(small_run_save(5), MT_OK);
    fifth = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(small_run_save(5), MT_OK, "in place of the one of this step");
    again = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(names_in_runs(), 2);
    int64_t states = cut_everywhere(begin, first - 1, -1, 1);
    states += cut_everywhere(first, second - 1, 1, 2);
    states += cut_everywhere(second, third - 1, 2, 3);
    states += cut_everywhere(third, fifth - 1, 3, 5);
    states += cut_everywhere(fifth, again, 5, 5); /* the older one or the new one at every moment */
    cr_assert_gt(states, 700, "only %d states", (int)states);
}

static void put_user(mt_part *part, const void *user)
{
    mt_part_put(part, user, (int64_t)strlen(user));
}

static mt_status commit_text(mt_part *part, const char *text)
{
    *part = (mt_part){ .name = "file", .put = put_user, .user = text };
    return mt_commit_file(RUNS, part);
}

static int no_exchange(mt_io *io, const char *a, const char *b)
{
    (void)io, (void)a, (void)b;
    errno = EINVAL;
    return -1;
}

/* Call n of saving a step again fails, alone or with all after it, and then the power is cut. Where names cannot be
 * exchanged, the new one may have its own name for a moment; the next program gives it that of the step. */
static bool again_at(int64_t n, bool from, bool exchange)
{
    if (!exchange)
        small_run_disk->exchange = no_exchange;
    cr_assert_eq(small_run_save(5), MT_OK);
    mt_disk_sim_fail(small_run_disk, n, EIO, from);
    mt_status status = small_run_save(5);
    bool failed = mt_disk_sim_failed(small_run_disk);
    mt_disk_sim_fail(small_run_disk, -1, 0, false);
    cr_assert_eq(status == MT_OK, !failed, "call %d: %s", (int)n, mt_last_error());
    if (failed)
        SAYS("Input/output error");
    int64_t ops = mt_disk_sim_ops(small_run_disk);
    for (int64_t s = 0; s < mt_disk_sim_states(small_run_disk, ops); s++) {
        mt_io *left = mt_disk_sim_cut(small_run_disk, ops, s), *before = mt_io_now();
        cr_assert(!exchange || recovered(left) == 5, "call %d, state %d", (int)n, (int)s);
        mt_io_use(left);
        mt_checkpoint_mend(RUNS);
        mt_io_use(before);
        cr_assert_eq(recovered(left), 5, "call %d, state %d, mended", (int)n, (int)s);
        mt_disk_sim_free(left);
    }
    mt_checkpoint_mend(RUNS);
    cr_assert_eq(names_in_runs(), 1);
    return failed;
}

Test(commit, a_step_that_is_saved_again)
{
    for (int kind = 0; kind < 4; kind++)
        for (int64_t n = 0, failed = true; failed; n++) {
            failed = again_at(n, kind & 1, kind & 2);
            small_run_disk_end();
            small_run_disk_begin();
            cr_assert(failed || n > 40, "only %d calls", (int)n);
        }
}

/* One file alone, which no manifest protects. */
Test(commit, a_file_is_replaced_whole)
{
    mt_part part;
    cr_assert_eq(commit_text(&part, "old text"), MT_OK);
    int64_t old = mt_disk_sim_ops(small_run_disk);
    cr_assert_eq(commit_text(&part, "new text, longer"), MT_OK);
    cr_assert(part.bytes == 16 && part.crc32c == mt_crc32c(0, "new text, longer", 16));
    for (int64_t ops = old; ops <= mt_disk_sim_ops(small_run_disk); ops++)
        for (int64_t s = 0, size; s < mt_disk_sim_states(small_run_disk, ops); s++) {
            mt_io *left = mt_disk_sim_cut(small_run_disk, ops, s);
            const uint8_t *bytes = mt_disk_sim_file(left, RUNS "/file", &size);
            bool is_old = bytes && size == 8 && memcmp(bytes, "old text", 8) == 0;
            bool is_new = bytes && size == 16 && memcmp(bytes, "new text, longer", 16) == 0;
            cr_assert(is_new || (is_old && ops < mt_disk_sim_ops(small_run_disk)), "after %d changes, state %d",
                      (int)ops, (int)s);
            mt_disk_sim_free(left);
        }
    for (int64_t n = 0; n < 6; n++) { /* create, write, name, fsync, rename, fsync of the folder */
        mt_disk_sim_fail(small_run_disk, n, EIO, false);
        cr_assert_eq(commit_text(&part, "third"), MT_ERR_IO, "call %d", (int)n);
        SAYS("Input/output error");
    }
}

/* Call n of a save fails, alone or with all after it; then the power is cut, too. */
static bool fail_at(int64_t n, int error, bool from)
{
    cr_assert_eq(save_and_prune(1), MT_OK);
    mt_disk_sim_fail(small_run_disk, n, error, from);
    mt_status status = save_and_prune(2);
    bool failed = mt_disk_sim_failed(small_run_disk);
    mt_disk_sim_fail(small_run_disk, -1, 0, false);
    cr_assert(status == MT_OK || failed, "%s", mt_last_error());
    if (status != MT_OK)
        SAYS(strerror(error));
    int64_t ops = mt_disk_sim_ops(small_run_disk), least = status == MT_OK ? 2 : 1;
    cr_assert(recovered(small_run_disk) >= least, "call %d", (int)n);
    cut_everywhere(ops, ops, least, 2);
    cr_assert_eq(save_and_prune(3), MT_OK, "%s", mt_last_error());
    cr_assert_eq(recovered(small_run_disk), 3);
    return failed;
}

Test(commit, each_call_fails_in_turn)
{
    for (int from = 0; from < 2; from++)
        for (int64_t n = 0, failed = true; failed; n++) {
            failed = fail_at(n, n % 2 ? ENOSPC : EIO, from);
            small_run_disk_end();
            small_run_disk_begin();
            cr_assert(failed || n > 40, "only %d calls", (int)n);
        }
}

Test(commit, a_full_disk_and_a_read_only_one)
{
    cr_assert_eq(small_run_save(1), MT_OK);
    mt_disk_sim_fail(small_run_disk, 12, ENOSPC, false); /* in the middle: removing is possible, writing is not */
    cr_assert_eq(small_run_save(2), MT_ERR_IO);
    SAYS("No space left on device");
    cr_assert_eq(names_in_runs(), 1, "what was written of step 2 is not gone");
    mt_disk_sim_fail(small_run_disk, 0, EROFS, true);
    cr_assert_eq(small_run_save(3), MT_ERR_IO);
    SAYS("Read-only file system");
    mt_disk_sim_fail(small_run_disk, -1, 0, false);
    cr_assert_eq(recovered(small_run_disk), 1);
    mt_io_use(NULL); /* a real one */
    small_run r;
    small_run_begin(&r, 1);
    cr_assert_eq(mt_checkpoint_save("/proc", 1, &r.model, &r.rest, 40), MT_ERR_IO);
    SAYS("/proc/step-1");
    small_run_end(&r);
}
