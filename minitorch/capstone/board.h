/* board.h -- a leaderboard: a folder with a file for each result, ID.json, which has all that made it. So any program
 * of the same version makes it again from that file alone, and a program that is killed leaves whole files only.
 *
 *   {"format":"minitorch leaderboard 1","id":"...","kind":"plan","name":"Ada","seed":1,"score":1234.5,"within":true,
 *    "result":{"dollars":1234.5,...},"started":"2026-11-23T22:00:00Z","seconds":1.5,"commit":"1a2b...",
 *    "compiler":"12.2.0","machine":{...},"entry_hash":"...","entry":"{...}","cluster_hash":"...","cluster":"{...}"}
 *
 * Entries come from others: they are data, of which every key is checked (plan/keys.h), and nothing of them is run. */
#pragma once

#include <cjson/cJSON.h>

#include "core/base.h"

MT_C_BEGIN

enum { MT_BOARD_MOST = 64 << 10 }; /* bytes of an entry, and of a cluster file */

typedef enum mt_board_kind { MT_BOARD_PLAN, MT_BOARD_TOY, MT_BOARD_GPT2 } mt_board_kind;
extern const char *const mt_board_kinds[]; /* their names, ended by NULL */

typedef struct mt_board_row {
    char id[17];
    int64_t kind; /* mt_board_kind */
    const char *name;
    int64_t seed;
    double score;                            /* the less the better: dollars, or a validation loss */
    bool within;                             /* the budget */
    const cJSON *result;                     /* its numbers, and texts */
    const char *entry, *cluster;             /* the files' text */
    const char *started, *commit, *compiler; /* read, and made anew by mt_board_keep */
    double begin;                            /* for mt_board_keep: mt_now() when it began */
    cJSON *json;                             /* that lends all of this; NULL: others do */
} mt_board_row;

/* mt_board_id -- from kind, seed, entry and cluster: the same in every run. Sets row->id. */
void mt_board_id(mt_board_row *row);

/* mt_board_keep -- write FOLDER/ID.json, in the place of an older one of the same entry, cluster and seed, with
 * what mt_run_made (run_json.h) says. MT_ERR_ARGUMENT: a result of another entry has this id. MT_ERR_IO. */
mt_status mt_board_keep(const char *folder, mt_board_row *row);

/* mt_board_read -- a result. mt_board_free frees it. Fails: as mt_keys_open; MT_ERR_ARGUMENT: it is none, or its entry
 * or cluster are not those that were kept, by their hashes. */
mt_status mt_board_read(mt_board_row *out, const char *path);
void mt_board_free(mt_board_row *row);

/* mt_board_print -- all results of a folder on standard output: a table for each kind and cluster, the best first,
 * those beyond the budget last. What is not a result is named on standard error, and left out. */
mt_status mt_board_print(const char *folder);

/* mt_board_same -- whether both results have the same keys with the same numbers, to the last bit, and texts; else what
 * differs is printed. */
bool mt_board_same(const cJSON *kept, const cJSON *now);

MT_C_END
