/* 12-disk.h -- checkpoints on a simulated disk, for the checks of steps 12.3 to 12.5. */
#pragma once

#include "checks/12-checkpoints.h"
#include "ckpt/commit.h"
#include "testing/disk_sim.h"

enum { MG_SAVED_FILES = 6, MG_SAVED_BYTES = 9000, MG_WORDS = 1024 };

/* What a checkpoint consists of; the last file is the manifest (worker/calls_12_manifest.c has its format). */
typedef struct saved {
    int64_t step, count;
    char name[MG_SAVED_FILES][MT_PART_NAME];
    int64_t bytes[MG_SAVED_FILES];
    uint8_t data[MG_SAVED_FILES][MG_SAVED_BYTES];
} saved;

/* mg_12_saved -- random files, one of them empty now and then; `files` without the manifest. */
saved mg_12_saved(mt_rng *rng, int64_t step, int64_t files);
void mg_12_manifest(saved *s, int64_t step); /* make the manifest again, with this step in it */
uint32_t mg_12_crc_of(uint32_t crc, const uint8_t *data, int64_t bytes);

/* mg_12_disk -- a disk with a folder of runs; far: its path has 300 bytes, and another user has files and folders in
 * it. All that follows is about this disk. mg_12_runs -- that path. mg_12_strangers -- how many names the other user
 * has there. */
mt_io *mg_12_disk(bool far);
const char *mg_12_runs(void);
int64_t mg_12_strangers(void);
void mg_12_put(mt_io *disk, const saved *s); /* as if another program had written it */
void mg_12_path(char path[MG_WORDS], int64_t step,
                const char *name); /* name NULL: of the folder; step < 0: in that of all runs */
bool mg_12_has(mt_io *disk, const saved *s, int64_t i, int64_t step); /* the i-th file of s, in that step's folder */

/* What is special in a try of a row. */
enum { PLAIN, STEP_0, FAR, EMPTY, LONG, NO_FILES, OLDER, UPPER, ALONE, ONE_LEFT, NONE_LEFT, EVERY, BEST };
#define MG_12_FAR    "a long path", "a path may be long, and others may have files in the folder of the runs", .is = FAR
#define MG_12_STEP_0 "step 0", "0 is a step like any other", .is = STEP_0

/* mg_12_packed -- all of a disk as the worker takes it; the bytes used. */
int64_t mg_12_packed(uint8_t *out, int64_t room, const mt_io *disk);

/* mg_12_many -- a save, check or removal (by the function's name) of a checkpoint with many files. */
bool mg_12_many(mg_run *run, const char *function);

/* mg_12_many_steps -- a recovery or a pruning (by the function's name) of a folder with many checkpoints, of which only
 * the oldest are valid. */
bool mg_12_many_steps(mg_run *run, const char *function);

/* What the unit did, seen from here. */
typedef struct after {
    mt_io *disk; /* with all changes; to be freed */
    int64_t first, status;
    bool failed;             /* a call of mt_io did, as asked for */
    int64_t maps, manifests; /* left open, not freed */
    char message[MG_WORDS];
} after;

/* A call that fails: the n-th, with this errno, and all after it. n < 0: none. */
typedef struct failure {
    int64_t n;
    int error;
    bool from;
} failure;

/* mg_12_begin -- what every call on a disk begins with; then the arguments of its own, then mg_12_end: makes the call,
 * and replays what the unit did. False: the run has its verdict, also because a stranger's file was changed. */
void mg_12_begin(mg_run *run, const char *function, const mt_io *before, failure f);
bool mg_12_end(mg_run *run, after *a, const mt_io *before);

/* mg_12_read_once -- whether no path is twice in the lines of the call's output "read" [room]. */
bool mg_12_read_once(mg_run *run, int64_t room);

/* mg_12_survives -- every state that a power cut may leave, from the first change of the call on: rule(left, user, true
 * if the call is complete) is NULL or says what is wrong. */
typedef const char *(*disk_rule)(mt_io *left, const void *user, bool complete);
bool mg_12_survives(mg_run *run, const after *a, disk_rule rule, const void *user);
