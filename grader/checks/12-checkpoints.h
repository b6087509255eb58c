/* 12-checkpoints.h -- the checks of lab 12: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"

/* ---- sums, plans of shards, intervals: 12-numbers.c ------------------------------------------------------ */

typedef enum crc_about {
    CRC_KNOWN,     /* published values */
    CRC_SHORT,     /* up to some words */
    CRC_LONG,      /* around one and two blocks of three streams, at any address */
    CRC_CONTINUED, /* begun with the sum of what was before */
} crc_about;

typedef struct crc_case {
    mg_case head;
    const char *function;
    crc_about about;
} crc_case;

void mg_12_crc(mg_run *run, const void *one_case); /* a crc_case */

typedef enum join_about { JOIN_ANY, JOIN_EMPTY, JOIN_FAR } join_about;

typedef struct join_case {
    mg_case head;
    join_about about;
} join_case;

void mg_12_join(mg_run *run, const void *one_case);      /* a join_case */
void mg_12_crc_speed(mg_run *run, const void *one_case); /* a mg_case */

typedef enum plan_about {
    PLAN_ANY,
    PLAN_FULL,    /* files that are exactly full */
    PLAN_LARGE,   /* tensors larger than a file */
    PLAN_WITHOUT, /* items without a tensor, and tensors without elements */
    PLAN_NONE,    /* no items, or no bytes */
    PLAN_HUGE,    /* above 2 GiB, and sums above 2^53 */
} plan_about;

typedef struct plan_case {
    mg_case head;
    plan_about about;
} plan_case;

void mg_12_plan(mg_run *run, const void *one_case); /* a plan_case */

typedef enum run_about {
    RUN_SAFE,    /* no failures */
    RUN_SHORTER, /* the last piece is shorter */
    RUN_FAILS,
    RUN_SAVES,   /* mostly during saves */
    RUN_RESTART, /* long restarts */
} run_about;

typedef struct run_case {
    mg_case head;
    run_about about;
} run_case;

void mg_12_young(mg_run *run, const void *one_case); /* a mg_case */
void mg_12_waste(mg_run *run, const void *one_case); /* a run_case */

/* ---- files, folders and removals: 12-commit.c ------------------------------------------------------------ */

typedef enum commit_about {
    COMMIT_WHOLE,   /* nothing fails */
    COMMIT_CUT,     /* the power is cut at any moment */
    COMMIT_DURABLE, /* ... after it */
    COMMIT_FAILS,   /* every call of mt_io fails once */
    COMMIT_HALF,    /* a removal of what has no manifest */
} commit_about;

typedef struct commit_case {
    mg_case head;
    const char *function;
    commit_about about;
    bool again; /* there is a file or a checkpoint of this name */
} commit_case;

void mg_12_commit(mg_run *run, const void *one_case); /* a commit_case */

/* ---- finding a valid checkpoint, keeping some: 12-recover.c ---------------------------------------------- */

typedef enum check_about {
    CHECK_VALID,
    CHECK_SIZE,   /* a file is shorter or longer */
    CHECK_FORGED, /* longer, with the same sum */
    CHECK_BITS,   /* each bit of each file, each shorter file */
    CHECK_GONE,   /* a file is missing */
    CHECK_STEP,   /* the manifest is that of another step */
    CHECK_FIRST,  /* two files are damaged: the first is named, and no other read after it */
} check_about;

typedef struct check_case {
    mg_case head;
    check_about about;
} check_case;

void mg_12_check(mg_run *run, const void *one_case); /* a check_case */

typedef enum recover_about {
    RECOVER_NEWEST,
    RECOVER_BACK,    /* the newest ones are damaged */
    RECOVER_REASONS, /* what is said of them */
    RECOVER_NONE,    /* all are damaged */
    RECOVER_EMPTY,   /* there is none */
    RECOVER_READS,   /* which files are read */
} recover_about;

typedef struct recover_case {
    mg_case head;
    recover_about about;
} recover_case;

void mg_12_recover(mg_run *run, const void *one_case); /* a recover_case */

typedef enum keep_about { KEEP_LAST, KEEP_EVERY, KEEP_BEST, KEEP_ALL, KEEP_ANY } keep_about;

typedef struct keep_case {
    mg_case head;
    keep_about about;
} keep_case;

void mg_12_keeps(mg_run *run, const void *one_case); /* a keep_case */

typedef enum prune_about {
    PRUNE_VALID,   /* all are valid */
    PRUNE_SPARED,  /* none of what is kept is valid */
    PRUNE_SOME,    /* the oldest is kept and valid, newer ones are valid and not kept */
    PRUNE_DAMAGED, /* none is valid */
    PRUNE_CUT,     /* the power is cut */
} prune_about;

typedef struct prune_case {
    mg_case head;
    prune_about about;
} prune_case;

void mg_12_prune(mg_run *run, const void *one_case); /* a prune_case */

/* ---- saving in a thread: 12-saver.c ---------------------------------------------------------------------- */

typedef enum saver_about {
    SAVER_WAITS,   /* `wait` returns when the save is written */
    SAVER_GOES_ON, /* `save` returns before it is written */
    SAVER_VALUES,  /* values of the moment of the save */
    SAVER_NEXT,    /* the next save comes before the first is written */
    SAVER_ERROR,   /* an error is reported once; the same step is saved again */
    SAVER_ENDS,    /* ... by the next save, which saves nothing, and by close */
    SAVER_HERE,    /* without a thread */
    SAVER_REFUSED, /* pthread_create fails for two saves and succeeds for the third */
} saver_about;

typedef struct saver_case {
    mg_case head;
    saver_about about;
} saver_case;

void mg_12_saver(mg_run *run, const void *one_case); /* a saver_case */
