/* 12-recover.c -- how the checks of step 12.4 run: checkpoints of which some are damaged. Rows: 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <string.h>

static const failure none = { -1, 0, false };
enum { READ = 8192 };

static void replace(mt_io *disk, const saved *s, int64_t i, const void *bytes, int64_t size)
{
    char path[MG_WORDS];
    mg_12_path(path, s->step, s->name[i]);
    mt_disk_sim_put(disk, path, bytes, size);
}

/* Four bytes that make the sum of a file the same as before: behind them the register is what it was at the file's end,
 * so they are those that take it there from there, one bit after the other. */
static void forge(uint8_t tail[4], uint32_t crc)
{
    uint32_t reg = ~crc, before = ~crc;
    for (int bit = 0; bit < 32; bit++) /* backwards through 32 zero bits */
        before = before & 1u << 31 ? (before ^ 0x82F63B78u) << 1 | 1 : before << 1;
    before ^= reg;
    for (int i = 0; i < 4; i++)
        tail[i] = (uint8_t)(before >> 8 * i);
}

/* The manifest's line of file i has so many bytes more, and a sum in which these bits are others. */
static void falsify(saved *s, int64_t i, int64_t more, uint32_t bits)
{
    char from[MG_WORDS], to[MG_WORDS], *text = (char *)s->data[s->count - 1];
    int64_t *size = &s->bytes[s->count - 1];
    uint32_t sum = mg_12_crc_of(0, s->data[i], s->bytes[i]);
    int n = snprintf(from, sizeof from, "file %" PRId64 " %08" PRIx32 " %s\n", s->bytes[i], sum, s->name[i]);
    int m = snprintf(to, sizeof to, "file %" PRId64 " %08" PRIx32 " %s\n", s->bytes[i] + more, sum ^ bits, s->name[i]);
    char *at = memmem(text, (size_t)*size, from, (size_t)n);
    MT_CHECK(at, "the manifest has no line of %s", s->name[i]);
    memmove(at + m, at + n, (size_t)(text + *size - at - n));
    memcpy(at, to, (size_t)m);
    *size += m - n;
}

/* ---- one checkpoint -------------------------------------------------------------------------------------- */

static bool check_call(mg_run *run, after *a, const mt_io *disk, int64_t step)
{
    mg_12_begin(run, "mt_checkpoint_check", disk, none);
    mg_as_called(run, "mt_checkpoint_check(dir, step=%" PRId64 ")", step);
    mg_out(run, "read", MT_U8, MT_SHAPE(READ));
    mg_i64(run, "step", step);
    return mg_12_end(run, a, disk);
}

/* Damages file i; the bytes that it has then. */
static int64_t damage(mt_rng *rng, mt_io *disk, const saved *s, int64_t i, check_about about)
{
    uint8_t bytes[MG_SAVED_BYTES + 8];
    char path[MG_WORDS];
    int64_t size = s->bytes[i];
    memcpy(bytes, s->data[i], (size_t)size);
    if (about == CHECK_SIZE) {
        int64_t longer = mg_pick(rng, 1, 4);
        memset(bytes + size, 7, (size_t)longer);
        size += size > 1 && mt_rng_below(rng, 2) ? -1 : longer;
    } else if (about == CHECK_FORGED) {
        forge(bytes + size, mg_12_crc_of(0, bytes, size));
        size += 4;
        MT_CHECK(mg_12_crc_of(0, bytes, size) == mg_12_crc_of(0, bytes, size - 4), "this tail changes the sum");
    } else if (about == CHECK_GONE) {
        mg_12_path(path, s->step, s->name[i]);
        disk->remove(disk, path);
        return -1;
    } else {
        bytes[size > 99 ? size - 1 : mg_pick(rng, 0, size - 1)] ^= (uint8_t)(1 << mg_pick(rng, 0, 7));
    }
    replace(disk, s, i, bytes, size);
    return size;
}

static bool says(mg_run *run, const after *a, const char *word, const char *what)
{
    if (strstr(a->message, word))
        return true;
    return mg_fail(run, "%s; the message \"%s\" does not say %s", what, a->message, word);
}

/* Besides the path, a reason. */
static bool gives_reason(mg_run *run, const after *a, const char *path)
{
    const char *at = strstr(a->message, path);
    if (at && strlen(a->message) >= strlen(path) + 5)
        return true;
    return mg_fail(run, "the message \"%s\" does not say what is wrong with %s", a->message, path);
}

/* What a check has read is closed again, also where it ends early. */
static bool closes(mg_run *run, const after *a)
{
    if (a->maps == 0 && a->manifests == 0)
        return true;
    mg_hint(run, "an early return leaves out what is below your code: set the status, and let the rest run");
    return mg_fail(run, "mt_checkpoint_check ends with status %" PRId64 ", and %s", a->status,
                   a->maps ? "a file that it has opened is not closed" : "its manifest is not freed");
}

/* File i has `size` bytes, of s->bytes[i] in the manifest. */
static bool check_bad(mg_run *run, const after *a, const saved *s, int64_t i, int64_t size, check_about about)
{
    char what[2 * MG_WORDS], numbers[2][32], path[MG_WORDS];
    mt_status want = about == CHECK_GONE ? MT_ERR_IO : MT_ERR_FORMAT;
    mg_12_path(path, s->step, s->name[i]);
    snprintf(what, sizeof what, "%s is %s", path,
             about == CHECK_GONE    ? "missing"
             : about == CHECK_BITS  ? "empty, and has another sum in the manifest"
             : about == CHECK_FIRST ? "damaged"
                                    : "of another size");
    if (a->status != want)
        return mg_fail(run, "%s, and the status is %" PRId64 ", expected %d", what, a->status, want);
    snprintf(numbers[0], sizeof numbers[0], "%" PRId64, size);
    snprintf(numbers[1], sizeof numbers[1], "%" PRId64, s->bytes[i]);
    for (int k = 0; k < 2 && (about == CHECK_SIZE || about == CHECK_FORGED); k++)
        if (!says(run, a, numbers[k], what))
            return false;
    return says(run, a, s->name[i], what) && gives_reason(run, a, path);
}

static bool reads_on(mg_run *run, const saved *s, int64_t i)
{
    const char *read = mg_result(run, "read");
    for (int64_t k = i + 1; k + 1 < s->count; k++)
        if (memmem(read, READ, s->name[k], strlen(s->name[k]))) {
            mg_fail(run, "%s is damaged, and %s is read after it", s->name[i], s->name[k]);
            return true;
        }
    return false;
}

/* A file that is to be damaged; a large one is longer than the pieces in which files may be read. */
static int64_t choose_file(mt_rng *rng, saved *s, check_about about, int64_t is)
{
    int64_t i = mg_pick(rng, 0, about == CHECK_FIRST ? s->count - 3 : s->count - 2), *bytes = &s->bytes[i];
    *bytes = is == EMPTY ? 0 : is == LONG ? MG_SAVED_BYTES - 4 : about == CHECK_FIRST ? mt_max(*bytes, 5) : *bytes;
    memset(s->data[i], (int)mg_pick(rng, 1, 255), (size_t)*bytes);
    return i;
}

static bool check_one(mg_run *run, check_about about, int64_t is)
{
    char path[MG_WORDS];
    mt_rng *rng = mg_rng(run);
    saved s = mg_12_saved(rng, is == STEP_0 ? 0 : mg_pick(rng, 9, 3000), is == NO_FILES ? 0 : 4);
    mt_io *disk = mg_12_disk(is == FAR);
    int64_t i = is == NO_FILES ? 0 : choose_file(rng, &s, about, is), size = s.bytes[i];
    int64_t away = is == UPPER ? (int64_t)1 << 32 : is == OLDER ? -mg_pick(rng, 1, 9) : mg_pick(rng, 1, 9);
    mg_12_manifest(&s, s.step + (about == CHECK_STEP ? away : 0));
    bool in_manifest = about == CHECK_BITS || (is == UPPER && about != CHECK_STEP);
    int64_t more = in_manifest && about == CHECK_SIZE ? away : 0;
    if (in_manifest)
        falsify(&s, i, more, about == CHECK_SIZE ? 0 : 1u << mg_pick(rng, 16, 31));
    mg_12_put(disk, &s);
    s.bytes[i] += more;
    if (about != CHECK_VALID && about != CHECK_STEP && !in_manifest)
        size = damage(rng, disk, &s, i, about);
    if (about == CHECK_FIRST)
        damage(rng, disk, &s, s.count - 2, CHECK_SIZE);
    after a;
    bool good = check_call(run, &a, disk, s.step);
    if (good) {
        if (about == CHECK_VALID && a.status != MT_OK)
            mg_fail(run, "a valid checkpoint: status %" PRId64 ", %s", a.status, a.message);
        else if (about == CHECK_STEP && a.status != MT_ERR_FORMAT)
            mg_fail(run, "the manifest is that of another step, and the status is %" PRId64 ", expected MT_ERR_FORMAT",
                    a.status);
        good = a.status == (about == CHECK_VALID  ? MT_OK
                            : about == CHECK_GONE ? MT_ERR_IO
                                                  : MT_ERR_FORMAT) ||
               about > CHECK_VALID;
        mg_12_path(path, s.step, NULL);
        if (good && about == CHECK_STEP)
            good = gives_reason(run, &a, path);
        else if (good && about != CHECK_VALID)
            good = check_bad(run, &a, &s, i, size, about) && (about != CHECK_FIRST || !reads_on(run, &s, i));
        good = good && closes(run, &a);
        mt_disk_sim_free(a.disk);
    }
    mt_disk_sim_free(disk);
    return good;
}

/* Every bit of every file, and every shorter one. */
static void check_bits(mg_run *run)
{
    saved s = mg_12_saved(mg_rng(run), mg_pick(mg_rng(run), 0, 3000), 3);
    mt_io *disk = mg_12_disk(false);
    int64_t n = 0, k = 0;
    static uint8_t packed[1 << 16];
    mg_12_put(disk, &s);
    for (int64_t i = 0; i + 1 < s.count; i++)
        n += 9 * s.bytes[i];
    mg_begin(run, "mt_checkpoint_check, damaged");
    mg_out(run, "status", MT_I64, MT_SHAPE(n));
    int64_t bytes = mg_12_packed(packed, sizeof packed, disk);
    memcpy(mg_in(run, "disk", MT_U8, MT_SHAPE(bytes)), packed, (size_t)bytes);
    char *paths = mg_in(run, "paths", MT_U8, MT_SHAPE(s.count, MT_PART_NAME));
    int64_t *file = mg_in(run, "file", MT_I64, MT_SHAPE(n)), *what = mg_in(run, "what", MT_I64, MT_SHAPE(n));
    mg_i64(run, "step", s.step);
    for (int64_t i = 0; i + 1 < s.count; i++) {
        char path[MG_WORDS];
        mg_12_path(path, s.step, s.name[i]);
        snprintf(paths + i * MT_PART_NAME, MT_PART_NAME, "%.63s", path);
        for (int64_t bit = 0; bit < 9 * s.bytes[i]; bit++, k++) {
            file[k] = i;
            what[k] = bit < 8 * s.bytes[i] ? bit : -1 - (bit - 8 * s.bytes[i]);
        }
    }
    mt_disk_sim_free(disk);
    if (!mg_call(run))
        return;
    const int64_t *status = mg_result(run, "status");
    k = 0;
    for (int64_t i = 0; i + 1 < s.count; i++)
        for (int64_t bit = 0; bit < 9 * s.bytes[i]; bit++, k++)
            if (status[k] != MT_ERR_FORMAT) {
                bool flip = bit < 8 * s.bytes[i];
                mg_fail(run, "%s %s %" PRId64 ": status %" PRId64 ", expected MT_ERR_FORMAT", s.name[i],
                        flip ? "with another bit" : "cut after byte", flip ? bit : bit - 8 * s.bytes[i], status[k]);
                return;
            }
}

void mg_12_check(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = {
        { "an empty file", "an empty file has a size and a sum, too", EMPTY, ~(1 << CHECK_FIRST) },
        { .rows = ~(1 << CHECK_BITS) },
        { "a large file", "all bytes of a file count, however many there are", LONG, ~(1 << CHECK_BITS) },
        { MG_12_STEP_0, .rows = ~(1 << CHECK_BITS) },
        { MG_12_FAR, .rows = ~(1 << CHECK_BITS) },
        { "no files", "a manifest without files is valid: nothing is missing", NO_FILES, 1 << CHECK_VALID },
        { "the manifest of an older step", NULL, OLDER, 1 << CHECK_STEP },
        { "the upper half of a number", "64 bits of a size and of a step count, and 32 bits of a sum", UPPER,
          1 << CHECK_SIZE | 1 << CHECK_STEP | 1 << CHECK_FIRST },
    };
    check_about about = ((const check_case *)one_case)->about;
    bool good = true;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);)
        good = check_one(run, about, t.is);
    mg_part(run, NULL, NULL);
    if (good && about == CHECK_BITS)
        check_bits(run);
    if (good && about == CHECK_VALID)
        mg_12_many(run, "mt_checkpoint_check");
}

/* ---- several --------------------------------------------------------------------------------------------- */

enum { SEVERAL = 5, MG_NO_STEP = -7 /* what the worker has in its place */ };

typedef struct several {
    saved s[SEVERAL]; /* newest first */
    int64_t count, damaged;
    bool far, to_zero; /* the path is long; the oldest is of step 0 */
} several;

/* The disk with them, written in another order. */
static mt_io *several_on_disk(mt_rng *rng, several *w)
{
    static const check_about kinds[] = { CHECK_BITS, CHECK_SIZE, CHECK_GONE };
    mt_io *disk = mg_12_disk(w->far);
    int64_t step = w->to_zero ? 3 * (w->count - 1) : mg_pick(rng, 95, 3000);
    for (int64_t i = 0; i < w->count; i++, step -= w->to_zero ? 3 : mg_pick(rng, 1, 8)) {
        saved *s = &w->s[i];
        *s = mg_12_saved(rng, step, 2);
        snprintf(s->name[0], MT_PART_NAME, "part-%0*d", MT_PART_NAME - 6, 1); /* as long as it may be */
        s->bytes[0] = mt_max(s->bytes[0], 2);
        mg_12_manifest(s, step);
    }
    for (int64_t i = 0; i < w->count; i++)
        mg_12_put(disk, &w->s[(i + 1) % w->count]);
    for (int64_t i = 0; i < w->damaged; i++)
        damage(rng, disk, &w->s[i], 0, kinds[mt_rng_below(rng, MT_COUNT(kinds))]);
    return disk;
}

static bool judge_found(mg_run *run, const after *a, const several *w)
{
    int64_t found = *(const int64_t *)mg_result(run, "found");
    int64_t want = w->damaged < w->count ? w->s[w->damaged].step : MG_NO_STEP;
    mt_status status = w->damaged < w->count ? MT_OK : w->count ? MT_ERR_FORMAT : MT_ERR_IO;
    if (a->status != status)
        mg_fail(run, "%" PRId64 " of %" PRId64 " are damaged: status %" PRId64 ", expected %d", w->damaged, w->count,
                a->status, status);
    else if (found != want && want != MG_NO_STEP)
        mg_fail(run, "step %" PRId64 ", expected %" PRId64 ": the newest %" PRId64 " of %" PRId64 " are damaged", found,
                want, w->damaged, w->count);
    else if (found != want)
        mg_fail(run, "none is valid, and the result was changed to %" PRId64, found);
    return a->status == status && found == want;
}

/* Each damaged one is passed on, with a reason that names its damaged file. */
static bool judge_reasons(mg_run *run, const several *w)
{
    const int64_t *skipped = mg_result(run, "skipped");
    const char *reasons = mg_result(run, "reasons");
    char path[MG_WORDS];
    if (skipped[0] != w->damaged)
        return mg_fail(run, "%" PRId64 " were passed to `skipped`, expected %" PRId64, skipped[0], w->damaged);
    for (int64_t i = 0; i < w->damaged; i++) {
        const char *reason = reasons + i * MG_WORDS;
        mg_12_path(path, w->s[i].step, w->s[i].name[0]);
        if (skipped[1 + i] == w->s[i].step && memmem(reason, MG_WORDS, path, strlen(path)))
            continue;
        return mg_fail(run,
                       "%" PRId64 " was passed to `skipped` with the reason \"%.200s\", expected %" PRId64
                       " and words about %s",
                       skipped[1 + i], reason, w->s[i].step, path);
    }
    return true;
}

static bool judge_reads(mg_run *run, const several *w)
{
    const char *read = mg_result(run, "read");
    char path[MG_WORDS];
    for (int64_t i = w->damaged + 1; i < w->count; i++) {
        mg_12_path(path, w->s[i].step, "");
        if (!memmem(read, READ, path, strlen(path)))
            continue;
        return mg_fail(run, "step %" PRId64 " is valid, and a file in %s was read", w->s[w->damaged].step, path);
    }
    return true;
}

static bool recover_one(mg_run *run, recover_about about, several *w)
{
    after a;
    mt_io *disk = several_on_disk(mg_rng(run), w);
    mg_12_begin(run, "mt_recover", disk, none);
    mg_as_called(run, "mt_recover(&step, dir, skipped, user): %" PRId64 " checkpoints", w->count);
    mg_out(run, "read", MT_U8, MT_SHAPE(READ));
    mg_out(run, "found", MT_I64, MT_SHAPE(1));
    mg_out(run, "skipped", MT_I64, MT_SHAPE(SEVERAL + 1));
    mg_out(run, "reasons", MT_U8, MT_SHAPE(SEVERAL, MG_WORDS));
    bool good = mg_12_end(run, &a, disk);
    mt_disk_sim_free(disk);
    if (!good)
        return false;
    mt_disk_sim_free(a.disk);
    return judge_found(run, &a, w) && (about != RECOVER_REASONS || judge_reasons(run, w)) &&
           (about != RECOVER_READS || (judge_reads(run, w) && mg_12_read_once(run, READ)));
}

void mg_12_recover(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = {
        { .times = 2 },
        { MG_12_FAR },
        { MG_12_STEP_0, .rows = ~(1 << RECOVER_EMPTY) },
        { "a single checkpoint", NULL, ALONE, 1 << RECOVER_NEWEST },
        { "only the oldest is valid", "go on to the end of the list", ONE_LEFT, 1 << RECOVER_BACK },
        { "none is valid", "the list may end without a valid checkpoint", NONE_LEFT, 1 << RECOVER_REASONS },
    };
    recover_about about = ((const recover_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    bool good = true;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        several w = { .far = t.is == FAR, .to_zero = t.is == STEP_0 || t.is == ALONE || t.is == ONE_LEFT };
        w.count = about == RECOVER_EMPTY ? 0
                  : t.is == ALONE        ? 1
                  : t.is == ONE_LEFT     ? SEVERAL
                                         : mg_pick(rng, 2, SEVERAL);
        w.damaged = about == RECOVER_NEWEST || about == RECOVER_EMPTY ? 0
                    : about == RECOVER_NONE || t.is == NONE_LEFT      ? w.count
                    : t.is == ONE_LEFT                                ? w.count - 1
                                                                      : mg_pick(rng, 1, w.count - 1);
        w.damaged -= about == RECOVER_READS;
        good = recover_one(run, about, &w);
    }
    if (good && about == RECOVER_BACK)
        mg_12_many_steps(run, "mt_recover");
}
