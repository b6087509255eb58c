/* 12-checkpoints.c -- the rows of lab 12. How they run: 12-numbers.c, 12-commit.c, 12-recover.c,
 * 12-retain.c, 12-saver.c. */
#include "checks/12-checkpoints.h"

// clang-format off

/* ---- 12.1 sums */
static const join_case join_cases[] = {
    { { 3, "two parts", "shift the crc of A by the bytes of B (a product with a power of x), then add that of B" },
      JOIN_ANY },
    { { 1, "an empty part", "x^0 is bit 31: a times it is a" }, JOIN_EMPTY },
    { { 1, "parts above 2 GiB", "all 32 bits of a have a coefficient, and the length has up to 63 bits" }, JOIN_FAR },
};
static const crc_case table_cases[] = {
    { { 1, "the published value", "the first byte of a word is its lowest, at whatever address it is" },
      "mt_crc32c_table",
      CRC_KNOWN },
    { { 3, "up to 300 bytes", "process the last 0 to 7 bytes one at a time with table[0]" },
      "mt_crc32c_table", CRC_SHORT },
    { { 2, "continued", "the crc so far is added to the first four bytes, whatever their number is afterwards" },
      "mt_crc32c_table", CRC_CONTINUED },
};
static const crc_case instruction_cases[] = {
    { { 1, "the published value", "the first byte of a word is its lowest, at whatever address it is" },
      "mt_crc32c_sse42",
      CRC_KNOWN },
    { { 2, "up to 300 bytes", "below three streams: words of 8 bytes, then single bytes" }, "mt_crc32c_sse42",
      CRC_SHORT },
    { { 3, "blocks of three streams", "the second stream stands in front of the third: join them in that order" },
      "mt_crc32c_sse42", CRC_LONG },
    { { 1, "continued", "the first stream goes on from the crc so far, the other two begin with 0" },
      "mt_crc32c_sse42", CRC_CONTINUED },
};
static const mg_case speed_cases[] = {
    { 3, "speed", "compute three checksums in one loop, in three variables: no instruction then waits for another" },
};

/* ---- 12.2 the plan */
static const plan_case plan_cases[] = {
    { { 3, "any list", "a file ends before the tensor that would make it larger than the limit" }, PLAN_ANY },
    { { 2, "files exactly full", "a tensor that fills the file to the byte is still in it" }, PLAN_FULL },
    { { 2, "tensors larger than a file", "such a tensor gets a file of its own, and no file stays empty before it" },
      PLAN_LARGE },
    { { 2, "items without bytes", "an empty tensor never opens a new file: put it into the current one" },
      PLAN_WITHOUT },
    { { 1, "no bytes at all", "there is one file, even if nothing is in it" }, PLAN_NONE },
    { { 1, "above 2^53 bytes", "bytes are int64_t" }, PLAN_HUGE },
};

/* ---- 12.3 a file, a folder, a removal */
static const commit_case file_cases[] = {
    { { 1, "contents", "flush, then give the file its name: nothing with a temporary name is left" }, "mt_commit_file",
      COMMIT_WHOLE, false },
    { { 3, "a power cut", "a name on the disk is worth nothing before the bytes of its file are: which call waits for "
        "them?" }, "mt_commit_file", COMMIT_CUT, false },
    { { 2, "a power cut, an old file", "the old file stays whole until the new one takes its place in one step" },
      "mt_commit_file", COMMIT_CUT, true },
    { { 2, "a power cut afterwards", "the new name is an entry of the folder, which must be synced too" },
      "mt_commit_file", COMMIT_DURABLE, true },
    { { 3, "every call fails", "after a call that failed no other may follow, and the status says it" },
      "mt_commit_file", COMMIT_FAILS, true },
};
static const commit_case folder_cases[] = {
    { { 1, "contents", "the folder, then every file in it" }, "mt_commit", COMMIT_WHOLE, false },
    { { 3, "a power cut", "the files in the order of the list: the manifest is the last" }, "mt_commit", COMMIT_CUT,
      false },
    { { 3, "a power cut afterwards", "the folder is a name in its parent, which must be synced too" }, "mt_commit",
      COMMIT_DURABLE, false },
    { { 3, "every call fails", "the first file that fails ends it; no manifest after that" }, "mt_commit",
      COMMIT_FAILS, false },
    { { 2, "in place of an older one", "the older one is removed before (mt_checkpoint_remove)" }, "mt_commit",
      COMMIT_CUT, true },
    { { 1, "every call fails, an older one", "a failed removal of the older one ends it" }, "mt_commit", COMMIT_FAILS,
      true },
};
static const commit_case removal_cases[] = {
    { { 1, "nothing is left", "all files of the list, then the folder itself" }, "mt_checkpoint_remove",
      COMMIT_WHOLE, false },
    { { 3, "a power cut", "while a file is missing there must be no manifest on the disk: removals may be lost one by "
        "one" }, "mt_checkpoint_remove", COMMIT_CUT, false },
    { { 1, "without a manifest",
        "a missing manifest (ENOENT) is not a failure, and its removal may not be on the disk yet: sync the folder" },
      "mt_checkpoint_remove", COMMIT_HALF, false },
    { { 2, "every call fails", "each call can fail, and none may follow it" }, "mt_checkpoint_remove", COMMIT_FAILS,
      false },
};

/* ---- 12.4 what is valid, and the newest of that */
static const check_case check_cases[] = {
    { { 1, "a valid one", "all files are right: MT_OK" }, CHECK_VALID },
    { { 2, "another size", "compare file.size with that of the manifest, and say both" }, CHECK_SIZE },
    { { 1, "another size, the same sum", "four bytes behind a file can make its sum the same: compare the size too" },
      CHECK_FORGED },
    { { 3, "every bit and every beginning", "compare the sum of all bytes with that of the manifest" }, CHECK_BITS },
    { { 1, "a missing file", "pass on the status of the file that cannot be opened" }, CHECK_GONE },
    { { 1, "another step", "a folder may have been renamed: its number is that of the manifest" }, CHECK_STEP },
    { { 1, "the first error", "the first file that is wrong ends it, so that mt_last_error() is about that one" },
      CHECK_FIRST },
};
static const recover_case recover_cases[] = {
    { { 1, "the newest", "the list begins with the newest" }, RECOVER_NEWEST },
    { { 3, "one before", "go on to the next while the checkpoint is not valid" }, RECOVER_BACK },
    { { 2, "reasons", "each that is not valid is passed to `skipped`, with mt_last_error()" }, RECOVER_REASONS },
    { { 1, "none is valid", "the status is MT_ERR_FORMAT, and *step is as before" }, RECOVER_NONE },
    { { 1, "no checkpoint", "the status of an empty list is set before your code" }, RECOVER_EMPTY },
    { { 1, "older ones are not read", "leave the loop at the first valid one" }, RECOVER_READS },
};

/* ---- 12.5 what is kept */
static const keep_case keep_cases[] = {
    { { 1, "the newest", "steps are sorted, newest first: i counts from there" }, KEEP_LAST },
    { { 2, "every so many", "a step that is a multiple of keep->every, 0 included; 0 for `every` means none" },
      KEEP_EVERY },
    { { 1, "the best", "best is a step, not a place in the list" }, KEEP_BEST },
    { { 1, "all", "last = 0 keeps everything" }, KEEP_ALL },
    { { 1, "all reasons", "one of the reasons is enough" }, KEEP_ANY },
};
static const prune_case prune_cases[] = {
    { { 1, "valid ones", "what is kept stays, everything else goes: here the newest is valid, and kept anyway" },
      PRUNE_VALID },
    { { 3, "none of the kept ones is valid",
      "then the newest valid one of the others is all that is left: spare it" }, PRUNE_SPARED },
    { { 2, "one of the kept ones is valid",
      "an old one that is kept and valid is no reason to lose a newer valid one" }, PRUNE_SOME },
    { { 1, "none is valid", "nothing is worth sparing" }, PRUNE_DAMAGED },
    { { 3, "a power cut", "at every moment one valid checkpoint must be whole on the disk" }, PRUNE_CUT },
};

/* ---- 12.6 intervals */
static const mg_case young_cases[] = {
    { 2, "the best interval", "where is the derivative of C / t + t / 2M by t zero?" },
};
static const run_case run_cases[] = {
    { { 1, "no failures", "each piece takes its work and one save, the last one too" }, RUN_SAFE },
    { { 1, "a shorter last piece", "the last piece is what is left of the work, and is saved too" }, RUN_SHORTER },
    { { 3, "failures", "a piece lasts only if its save ends before the failure" }, RUN_FAILS },
    { { 2, "failures during saves", "the work of a piece is lost too when the failure comes during its save" },
      RUN_SAVES },
    { { 2, "long restarts", "the time to the next failure begins when the run works again" }, RUN_RESTART },
};

/* ---- 12.7 saving in a thread */
static const saver_case saver_cases[] = {
    { { 1, "waiting", "pthread_join returns when the thread is done" }, SAVER_WAITS },
    { { 2, "training goes on", "`save` returns as soon as the copy is taken: the thread writes it" }, SAVER_GOES_ON },
    { { 2, "values of that moment", "the thread writes the copies, as training changes the originals" }, SAVER_VALUES },
    { { 2, "the next save", "there is one copy: it must not be changed before it is written" }, SAVER_NEXT },
    { { 2, "an error, once", "keep what the thread said until somebody asks, and then forget it" }, SAVER_ERROR },
    { { 1, "an error, and the next save",
        "the next save reports it and ends; the one after that saves again, and close has its error" },
      SAVER_ENDS },
    { { 1, "without a thread", "write at once, in this thread, and return what it says" }, SAVER_HERE },
    { { 1, "no thread to be had", "pthread_create may fail: then this thread writes, and the next save tries again" },
      SAVER_REFUSED },
};

static const mg_group groups[] = {
    MG_GROUP("12.1", "join", mg_12_join, join_cases),
    MG_GROUP("12.1", "tables", mg_12_crc, table_cases),
    MG_GROUP("12.1", "instruction", mg_12_crc, instruction_cases),
    MG_GROUP("12.1", "instruction", mg_12_crc_speed, speed_cases),
    MG_GROUP("12.2", "plan", mg_12_plan, plan_cases),
    MG_GROUP("12.3", "file", mg_12_commit, file_cases),
    MG_GROUP("12.3", "folder", mg_12_commit, folder_cases),
    MG_GROUP("12.3", "removal", mg_12_commit, removal_cases),
    MG_GROUP("12.4", "check", mg_12_check, check_cases),
    MG_GROUP("12.4", "recovery", mg_12_recover, recover_cases),
    MG_GROUP("12.5", "rule", mg_12_keeps, keep_cases),
    MG_GROUP("12.5", "pruning", mg_12_prune, prune_cases),
    MG_GROUP("12.6", "interval", mg_12_young, young_cases),
    MG_GROUP("12.6", "waste", mg_12_waste, run_cases),
    MG_GROUP("12.7", "saver", mg_12_saver, saver_cases),
};

// clang-format on

const mg_lab mg_lab_12 = { "12-checkpoints", groups, MT_COUNT(groups) };
