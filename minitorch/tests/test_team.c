/* test_team.c -- a team of ranks (train/team.h): each has its part of a batch; when one fails or stops, all end and the
 * message names it. Training itself: test_train_ranks.sh. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dist/replicas.h" /* the ranks: without that folder a team has none */
#include "train/team.h"

TestSuite(team, .timeout = 60);

enum { RANKS = 3 };

typedef struct trial {
    int who;          /* this rank fails, */
    useconds_t pause; /* or takes no part for so long */
    mt_status statuses[RANKS];
    double mean[RANKS];
} trial;

static mt_status take_part(mt_team *team, void *user)
{
    trial *t = user;
    mt_status status = MT_OK;
    for (int k = 0; k < 3 && status == MT_OK; k++) {
        double value = 0.1 * team->rank;
        if (team->rank == t->who && k == 1) {
            if (!t->pause)
                return t->statuses[t->who] = mt_fail(MT_ERR_IO, "the disk is full");
            usleep(t->pause);
        }
        status = team->mean(team, &value);
        t->mean[team->rank] = value;
    }
    return t->statuses[team->rank] = status;
}

static mt_status run_team(trial *t)
{
    return mt_team_run(&(mt_team_config){ .ranks = RANKS, .deadline = 0.2, .engine = "threads" }, take_part, t);
}

Test(team, a_mean_has_the_same_bits_on_all_ranks)
{
    trial t = { .who = -1 };
    cr_assert_eq(run_team(&t), MT_OK, "%s", mt_last_error());
    for (int rank = 0; rank < RANKS; rank++)
        cr_assert_eq(t.mean[rank], (0.0 + 0.1 * 1 + 0.1 * 2) / 3);
}

Test(team, a_rank_that_fails_ends_all_and_its_words_are_told)
{
    for (int who = 0; who < RANKS; who++) {
        char words[64];
        trial t = { .who = who };
        cr_assert_eq(run_team(&t), MT_ERR_IO);
        snprintf(words, sizeof words, "rank %d: the disk is full", who);
        cr_assert_str_eq(mt_last_error(), words);
        for (int rank = 0; rank < RANKS; rank++)
            cr_assert_eq(t.statuses[rank], rank == who ? MT_ERR_IO : MT_ERR_UNAVAILABLE);
    }
}

Test(team, a_rank_that_stops_is_named_after_the_deadline)
{
    trial t = { .who = 1, .pause = 600000 };
    cr_assert_eq(run_team(&t), MT_ERR_UNAVAILABLE);
    cr_assert(strstr(mt_last_error(), "rank 1 did not take part within 0.2 s"), "%s", mt_last_error());
}

Test(team, the_parts_of_a_batch_are_the_batch)
{
    int64_t whole[12], part[4];
    const mt_dataset set = { .count = 1000 };
    mt_batch_source all = mt_batches_random(&set, 7);
    all.pick(whole, &all, 5, 12);
    for (int rank = 0; rank < RANKS; rank++) {
        mt_team team = { .rank = rank, .size = RANKS, .replica = rank, .replicas = RANKS };
        mt_batch_source mine = mt_team_share(&team, all);
        mine.pick(part, &mine, 5, 4);
        for (int i = 0; i < 4; i++)
            cr_assert_eq(part[i], whole[i * RANKS + rank]);
    }
    cr_assert_eq(mt_team_share(NULL, all).world, 1);
}
