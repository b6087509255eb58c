/* 12-checkpoints.c -- the rows of lab 12. How they run: 12-numbers.c, 12-commit.c, 12-recover.c,
 * 12-retain.c, 12-saver.c. */
#include "checks/12-checkpoints.h"

// clang-format off

/* ---- 12.1 sums */
static const join_case join_cases[] = {
    { { 3, "two parts",
        "appending B shifts the crc of A by the bytes of B: it is multiplied by a power of x, and the crc of B is "
        "added. Sums of polynomials have no carries" }, JOIN_ANY },
    { { 1, "an empty part", "the polynomial 1, which is x^0, is bit 31: the product of a and 1 is a" }, JOIN_EMPTY },
    { { 1, "parts above 2 GiB", "each of the 32 bits of a is a coefficient, and the length has up to 63 bits" },
      JOIN_FAR },
};
static const crc_case table_cases[] = {
    { { 1, "the published value", "the first byte of a word is the lowest, at whatever address it is" },
      "mt_crc32c_table", CRC_KNOWN },
    { { 3, "up to 300 bytes",
        "a word of 8 bytes uses all eight tables, each byte the one for its distance from the end; the last 0 to 7 "
        "bytes are processed one at a time" }, "mt_crc32c_table", CRC_SHORT },
    { { 2, "continued", "the crc so far is added to the first four bytes of a word, however many bytes follow" },
      "mt_crc32c_table", CRC_CONTINUED },
};
static const crc_case instruction_cases[] = {
    { { 1, "the published value", "the first byte of a word is the lowest, at whatever address it is" },
      "mt_crc32c_sse42", CRC_KNOWN },
    { { 2, "up to 300 bytes",
        "what is too short for three streams is processed in words of 8 bytes, then in single bytes" },
      "mt_crc32c_sse42", CRC_SHORT },
    { { 3, "blocks of three streams",
        "a block has three streams of STREAM bytes each; join their checksums in the order of their bytes, an "
        "earlier one shifted by the bytes behind it" }, "mt_crc32c_sse42", CRC_LONG },
    { { 1, "continued", "the first stream goes on from the crc so far, the other two begin with 0" },
      "mt_crc32c_sse42", CRC_CONTINUED },
};
static const mg_case speed_cases[] = {
    { 3, "speed",
        "compute three checksums in one loop, in three variables: then no instruction waits for another", MG_TIMED },
};

/* ---- 12.2 the plan */
static const plan_case plan_cases[] = {
    { { 3, "any list",
        "a file ends before the tensor that would make it larger than the limit; each item is in one file, however "
        "many items there are" }, PLAN_ANY },
    { { 2, "files exactly full", "a tensor that fills a file to the last byte still belongs to it" }, PLAN_FULL },
    { { 2, "tensors larger than a file",
        "a tensor above the limit has a file of its own, and no file before it is empty" }, PLAN_LARGE },
    { { 2, "items without bytes",
        "what has no bytes in the files, an empty tensor or a number, never opens a new one: it belongs to the "
        "current file" }, PLAN_WITHOUT },
    { { 1, "no bytes at all", "there is one file, even if nothing is in it" }, PLAN_NONE },
    { { 1, "above 2^53 bytes", "sums of bytes are int64_t: neither int nor double holds them" }, PLAN_HUGE },
};

/* ---- 12.3 a file, a folder, a removal */
static const commit_case file_cases[] = {
    { { 1, "contents",
        "flush the writer, then give the file its name: afterwards no file with a temporary name is left" },
      "mt_commit_file", COMMIT_WHOLE, false },
    { { 3, "a power cut", "a file's name may reach the disk before its data: which call waits for the data?" },
      "mt_commit_file", COMMIT_CUT, false },
    { { 2, "a power cut, an old file", "the old file stays whole until the new one takes its place, in one step" },
      "mt_commit_file", COMMIT_CUT, true },
    { { 2, "a power cut afterwards",
        "the new name is an entry of the folder: once it is there, the folder must be synced, too" },
      "mt_commit_file", COMMIT_DURABLE, true },
    { { 3, "every call fails", "after a call that failed no other call follows, and the status says that it failed" },
      "mt_commit_file", COMMIT_FAILS, true },
};
static const commit_case folder_cases[] = {
    { { 1, "contents", "make the folder, then commit every file of the list in it" },
      "mt_commit", COMMIT_WHOLE, false },
    { { 3, "a power cut", "commit the files in the order of the list: the manifest is the last" },
      "mt_commit", COMMIT_CUT, false },
    { { 3, "a power cut afterwards", "the folder is an entry of its parent, which must be synced, too" },
      "mt_commit", COMMIT_DURABLE, false },
    { { 3, "every call fails",
        "the first call that fails ends the commit, and the status and the message are about it: no manifest after "
        "that" }, "mt_commit", COMMIT_FAILS, false },
    { { 2, "in place of an older one",
        "an older checkpoint of this step is removed first, its folder included (mt_checkpoint_remove)" },
      "mt_commit", COMMIT_CUT, true },
    { { 1, "every call fails, an older one", "if the older one cannot be removed, nothing is committed" },
      "mt_commit", COMMIT_FAILS, true },
};
static const commit_case removal_cases[] = {
    { { 1, "nothing is left",
        "remove every file that is in the folder, hidden and temporary ones, too, then the folder itself" },
      "mt_checkpoint_remove", COMMIT_WHOLE, false },
    { { 3, "a power cut",
        "while a file is missing, no manifest may be on the disk: the disk may lose removals one by one" },
      "mt_checkpoint_remove", COMMIT_CUT, false },
    { { 1, "without a manifest",
        "a missing manifest (ENOENT) is not a failure, but its removal may not be on the disk yet: sync the folder" },
      "mt_checkpoint_remove", COMMIT_HALF, false },
    { { 2, "every call fails",
        "each call can fail, the removal of the manifest and the sync after it, too: no other call follows it" },
      "mt_checkpoint_remove", COMMIT_FAILS, false },
};

/* ---- 12.4 what is valid, and the newest of that */
static const check_case check_cases[] = {
    { { 1, "a valid one",
        "every file of the manifest is checked, however many there are; if all are right, the status is MT_OK",
        MG_EASY },
      CHECK_VALID },
    { { 2, "another size",
        "compare the file's size with the size in the manifest, and give the path and both sizes in the message" },
      CHECK_SIZE },
    { { 1, "another size, the same sum", "four more bytes can give a file the sum that it had: compare its size, too" },
      CHECK_FORGED },
    { { 3, "every bit and every beginning", "compare the sum of all bytes of each file with that in the manifest" },
      CHECK_BITS },
    { { 1, "a missing file", "pass on the status of the file that cannot be opened" }, CHECK_GONE },
    { { 1, "another step", "a folder may have been renamed: compare its number with the step in the manifest" },
      CHECK_STEP },
    { { 1, "the first error",
        "the first file that is wrong ends the check, so that mt_last_error() is about that file" }, CHECK_FIRST },
};
static const recover_case recover_cases[] = {
    { { 1, "the newest", "the list begins with the newest step: the first valid one is the answer" }, RECOVER_NEWEST },
    { { 3, "one before", "while the checkpoint is not valid, go on to the next older one" }, RECOVER_BACK },
    { { 2, "reasons", "each checkpoint that is not valid is passed to `skipped`, with its step and mt_last_error()" },
      RECOVER_REASONS },
    { { 1, "none is valid", "the status is then MT_ERR_FORMAT, and *step is as before", MG_EASY }, RECOVER_NONE },
    { { 1, "no checkpoint", "the status of an empty list is set before your code: leave it as it is", MG_EASY },
      RECOVER_EMPTY },
    { { 1, "older ones are not read", "leave the loop at the first valid checkpoint" }, RECOVER_READS },
};

/* ---- 12.5 what is kept */
static const keep_case keep_cases[] = {
    { { 1, "the newest", "the steps are sorted, newest first: the first keep->last of them stay" }, KEEP_LAST },
    { { 2, "every nth step", "a step that is a multiple of keep->every stays, 0 included; 0 for `every` means none" },
      KEEP_EVERY },
    { { 1, "the best", "keep->best is a step, not a place in the list" }, KEEP_BEST },
    { { 1, "all", "keep->last = 0 keeps everything, whatever the other rules are", MG_EASY }, KEEP_ALL },
    { { 1, "all reasons", "one reason is enough to keep a step" }, KEEP_ANY },
};
static const prune_case prune_cases[] = {
    { { 1, "valid ones", "what is kept stays, everything else goes: here the newest one is valid, and is kept anyway" },
      PRUNE_VALID },
    { { 3, "none of the kept ones is valid",
        "then the newest valid one among the others is all that is left: spare it" }, PRUNE_SPARED },
    { { 2, "one of the kept ones is valid",
        "an old checkpoint that is kept and valid is no reason to lose a newer valid one" }, PRUNE_SOME },
    { { 1, "none is valid", "if no checkpoint is valid, none is worth sparing" }, PRUNE_DAMAGED },
    { { 3, "a power cut", "at every moment one valid checkpoint must be whole on the disk" }, PRUNE_CUT },
};

/* ---- 12.6 intervals */
static const mg_case young_cases[] = {
    { 2, "the best interval", "the best interval t makes C / t + t / 2M smallest: where is its derivative zero?" },
};
static const run_case run_cases[] = {
    { { 1, "no failures", "each piece takes its work and one save, the last piece, too" }, RUN_SAFE },
    { { 1, "a shorter last piece", "the last piece is what remains of the work, and it is saved, too" }, RUN_SHORTER },
    { { 3, "failures",
        "a piece lasts only if its save ends before the failure; else it is done again, as often as needed" },
      RUN_FAILS },
    { { 2, "failures during saves", "a failure during the save loses the work of the piece, too" }, RUN_SAVES },
    { { 2, "long restarts", "the time to the next failure begins when the run works again, after its restart" },
      RUN_RESTART },
};

/* ---- 12.7 saving in a thread */
static const saver_case saver_cases[] = {
    { { 1, "waiting", "pthread_join returns when the thread has ended; a thread is joined once" }, SAVER_WAITS },
    { { 2, "training goes on", "`save` returns as soon as the copy is taken: the thread writes it" }, SAVER_GOES_ON },
    { { 2, "values of that moment", "the thread writes copies, as training changes the originals" }, SAVER_VALUES },
    { { 2, "the next save", "there is one copy: it must not be changed before it is written" }, SAVER_NEXT },
    { { 2, "an error, once", "keep what the thread has reported until somebody asks, and then forget it" },
      SAVER_ERROR },
    { { 1, "an error, and the next save",
        "the next save reports the error and does nothing else; the one after it saves again, and close reports its "
        "error" }, SAVER_ENDS },
    { { 1, "without a thread", "write at once, in this thread, and return the status of that" }, SAVER_HERE },
    { { 1, "no thread can be started",
        "pthread_create may fail: then this thread writes, and the next save tries again" }, SAVER_REFUSED },
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
