/* run_json.h -- OUT/run.json: what a run was made with and of, and how it ended.
 *
 *   {"status":"done","started":"2026-11-23T03:00:00Z","seconds":12.5,"commit":"1a2b...",
 *    "compiler":"12.2.0","machine":{"host":"...","cpu":"...","threads":2},
 *    "data":{"path":"/home/me/kjv.tokens","checksum":"5d1c0f8a"},"vocabulary":{"path":"...","checksum":"..."},
 *    "settings":{"seed":"1","lr":"0.001",...},"values":{"step":"9380","best step":"6880",...},
 *    "result":{"test_accuracy":0.98}} */
#pragma once

#include "ckpt/values.h"

MT_C_BEGIN

/* A step of a rank, in bytes, by plan and as measured: the most memory at once, and what it sent. -1: unknown. */
typedef struct mt_rank_took {
    int64_t planned_peak, peak, planned_sent, sent;
} mt_rank_took;

typedef struct mt_run_note {
    const char *dir;
    double start;     /* mt_now() when the program began */
    bool running;     /* else it ended: */
    mt_status status; /* "done", "stopped" or "failed" */
    const char *name; /* of the result, which is written when it is done */
    double value;
    const char *strategy;     /* of several ranks (train/team.h); NULL: left out */
    const mt_rank_took *took; /* [ranks]; NULL: left out */
    int ranks;
    const char *data;       /* path of a file or a folder */
    const char *valid;      /* path of a file for validation; NULL: there is none */
    const char *summed;     /* the file whose checksum (mt_saving_sum) says that it is the same data */
    const char *vocabulary; /* folder, of a token file; NULL: there is none. Of any text DIR/vocab.bpe has a checksum */
} mt_run_note;

/* mt_run_json -- write it, in the place of an older one: at the start, and again at the end. Settings and numbers are
 * those of the list; those of single parameters ("0.weight/step") are left out. "commit" is that of the source that the
 * program's folder is in, with "-dirty" behind it when files were changed; "" where git does not say. Returns
 * note->status, with the message that belongs to it; MT_ERR_IO where that is MT_OK and the file cannot be written. */
mt_status mt_run_json(const mt_run_note *note, const mt_state *rest);

/* mt_run_data -- what the run in DIR was made of, as its run.json says; empty texts where it does not, or is not there.
 * data: a path that is the same from any folder. MT_ERR_FORMAT: no JSON. */
typedef struct mt_run_data {
    char path[4096], valid[4096], checksum[16], vocabulary_checksum[16];
} mt_run_data;
mt_status mt_run_data_read(mt_run_data *out, const char *dir);

/* mt_run_write -- an object as a file, in the place of an older one. Deletes the object. MT_ERR_IO.
 * mt_run_made -- append "started", "seconds", "commit", "compiler" and "machine" to an object; start: mt_now() then. */
struct cJSON;
mt_status mt_run_write(const char *path, struct cJSON *json);
void mt_run_made(struct cJSON *json, double start);

MT_C_END
