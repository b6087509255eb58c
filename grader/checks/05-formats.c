/* 05-formats.c -- how the checks of steps 05.1 to 05.4 run: IDX files and token files. Rows: 05-data.c. */
#include "checks/05-data.h"
#include "checks/answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 /* of a part of a row */, MESSAGE = 200 };

/* What a header's read must leave and say of a file that it refuses: a message with the path and an offset. */
static bool expect_refused(mg_run *run, int64_t fields)
{
    static const char *const statuses[] = { "MT_OK",           "MT_ERR_IO",          "MT_ERR_FORMAT",
                                            "MT_ERR_ARGUMENT", "MT_ERR_UNAVAILABLE", "MT_ERR_STOPPED" };
    const double refused[5] = { MT_ERR_FORMAT, -7, -7, -7, -7 };
    char said[MESSAGE + 1] = "";
    MT_CHECK(fields <= MT_COUNT(refused), "too many");
    if (!mg_call(run))
        return false;
    int64_t status = *(const int64_t *)mg_result(run, "out");
    if (status != MT_ERR_FORMAT) {
        mg_fail(run, "returned %s, must be MT_ERR_FORMAT",
                status >= 0 && status < MT_COUNT(statuses) ? statuses[status] : "a number that is no mt_status");
        return false;
    }
    if (!mg_expect(run, "out", refused, NULL))
        return false;
    memcpy(said, mg_result(run, "message"), MESSAGE);
    const char *offset = strstr(said, "offset ");
    bool has_path = strstr(said, "folder/file-of-the-check");
    if (has_path && offset && isdigit((unsigned char)offset[7]))
        return true;
    mg_hint(run, "every refusal is a return mt_fail(MT_ERR_FORMAT, \"%%s: offset ...: ...\", path, ...)");
    mg_fail(run, "refused, but mt_last_error() has no %s", has_path ? "offset" : "path");
    return false;
}

static void big_endian(uint8_t *p, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* Begins a call with `size` bytes, of which `known` are given: a header of these words, and zeros. */
static void begin_idx(mg_run *run, int64_t kind, int64_t known, int64_t size, const uint32_t words[4])
{
    uint8_t header[16];
    for (int w = 0; w < 4; w++)
        big_endian(header + 4 * w, words[w]);
    mg_begin(run, "mt_idx_header_read");
    mg_out(run, "out", MT_I64, MT_SHAPE(5));
    mg_out(run, "message", MT_U8, MT_SHAPE(MESSAGE));
    memcpy(mg_in(run, "bytes", MT_U8, MT_SHAPE(known)), header, (size_t)mt_min(known, 4 + 4 * kind));
    mg_i64(run, "kind", kind);
    mg_i64(run, "size", size);
}

/* A file that must be refused: the first `size` bytes of a header of these words and of zeros. */
static bool is_idx_refused(mg_run *run, int64_t kind, int64_t size, const uint32_t words[4])
{
    begin_idx(run, kind, size, size, words);
    return expect_refused(run, 5);
}

/* Refused for something else than the number of bytes, which agrees with the header. */
static void refuse_idx(mg_run *run)
{
    static const uint32_t magics[] = { 0x801, 0x802, 0x813, 0xd03, 0x03080000, 0x01000803 }; /* for images */
    bool good = true;
    mg_part(run, "a product of 2^32 or 2^64", NULL); /* count times size is 0 in 64 bits, or an item's size in 32 */
    for (uint32_t side = 1 << 16; side && good; side <<= 15)
        good = is_idx_refused(run, 3, 16, (const uint32_t[]){ 0x803, 4, side, side });
    mg_part(run, "another magic", "another magic than that of this kind must be refused, whatever byte of it differs");
    for (int i = 0; i < MT_COUNT(magics) && good; i++)
        good = is_idx_refused(run, 3, 16 + 6, (const uint32_t[]){ magics[i], 1, 2, 3 });
    good = good && is_idx_refused(run, 1, 8 + 8 + 6, (const uint32_t[]){ 0x803, 14, 2, 3 });
    mg_part(run, "images without pixels", "images of 0 rows or 0 columns must be refused");
    for (uint32_t count = 0; count < 3 && good; count++)
        good = is_idx_refused(run, 3, 16, (const uint32_t[]){ 0x803, count, 0, 5 }) &&
               is_idx_refused(run, 3, 16, (const uint32_t[]){ 0x803, count, 5, 0 });
    mg_part(run, "a short header",
            "a file shorter than its header must be refused; nothing behind its end may be read");
    for (int64_t size = 1; size < 16 && good; size++)
        good = is_idx_refused(run, 3, size, (const uint32_t[]){ 0x803, 0, 2, 3 }) &&
               (size >= 8 || is_idx_refused(run, 1, size, (const uint32_t[]){ 0x801, 0, 0, 0 }));
    mg_part(run, "an item of 4 GiB", "an item of 65537 x 65536 bytes has more than 2^32: rows * cols needs 64 bits");
    good = good && is_idx_refused(run, 3, 16 + 65536, (const uint32_t[]){ 0x803, 1, 65537, 65536 });
}

/* Of 0 to 7 labels: shorter than the header of images. */
static void accept_few_labels(mg_run *run)
{
    mg_part(run, "few labels", "a file of labels has a header of two words, and may end before byte 16");
    for (uint32_t count = 0; count < 8; count++) {
        begin_idx(run, 1, 8 + count, 8 + count, (const uint32_t[]){ 0x801, count, 0, 0 });
        if (!mg_call(run) || !mg_expect(run, "out", (const double[]){ MT_OK, count, 1, 1, 8 }, NULL))
            return;
    }
}

/* Files of images and of labels. Only the header is read, so that items of more than 4 GiB need no memory. */
void mg_05_idx(mg_run *run, const void *one_case)
{
    static const struct {
        int64_t row;
        const char *part;
        int64_t least, most, said, torn; /* items, so many more by the header, and a part of another */
    } files[] = {
        { MG_IDX_GOOD, NULL, 2, 200, 0, 0 },
        { MG_IDX_GOOD, "no items", 0, 0, 0, 0 },
        { MG_IDX_HIGH_BYTES, NULL, 40000, 50000, 0, 0 },
        { MG_IDX_HIGH_BYTES, "a count above 2^31", 0x81020304, 0xfedcba98, 0, 0 },
        { MG_IDX_SHORT, NULL, 2, 200, 1, 0 },
        { MG_IDX_LONG, NULL, 2, 200, -1, 0 },
        { MG_IDX_TORN, NULL, 2, 200, 0, 1 },
        { MG_IDX_TORN, "a part of the first item", 0, 0, 0, 1 },
        { MG_IDX_TORN, "a part of the second item", 1, 1, 0, 1 },
        { MG_IDX_HOSTILE, "a good file", 2, 200, 0, 0 },
    };
    const data_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    for (int f = 0; f < MT_COUNT(files); f++) {
        const bool right = !files[f].said && !files[f].torn;
        mg_part(run, files[f].part, NULL);
        for (int t = 0; t < CALLS && files[f].row == c->kind; t++)
            for (int64_t kind = files[f].torn ? 3 : 1; kind <= 3; kind += 2) { /* labels, images */
                const int64_t rows = kind == 3 ? mg_pick(rng, 2, 9) : 1, cols = kind == 3 ? mg_pick(rng, 2, 9) : 1,
                              count = mg_pick(rng, files[f].least, files[f].most), header = 4 + 4 * kind,
                              bytes = count * rows * cols + (files[f].torn ? mg_pick(rng, 1, rows * cols - 1) : 0);
                const uint32_t words[] = { 0x800 + (uint32_t)kind, (uint32_t)(count + files[f].said), (uint32_t)rows,
                                           (uint32_t)cols };
                const double want[] = { MT_OK, (double)count, (double)rows, (double)cols, (double)header };
                begin_idx(run, kind, header + (count >> 20 ? 0 : bytes), header + bytes, words);
                if (right ? !mg_call(run) || !mg_expect(run, "out", want, NULL) : !expect_refused(run, 5))
                    return;
            }
    }
    if (c->kind == MG_IDX_HOSTILE)
        refuse_idx(run);
    if (c->kind == MG_IDX_GOOD)
        accept_few_labels(run);
}

static bool pixels_once(mg_run *run, const char *part, const char *hint, int64_t n, float mean, float stddev,
                        bool searched)
{
    mg_part(run, part, hint);
    mg_begin(run, "mt_pixels_to_floats");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(n));
    uint8_t *byte = mg_in(run, "bytes", MT_U8, MT_SHAPE(n));
    mg_f32(run, "mean", mean);
    mg_f32(run, "stddev", stddev);
    for (int64_t i = 0; i < n; i++) {
        byte[i] = (uint8_t)mt_rng_below(mg_rng(run), 256);
        out.v[i] = ((double)byte[i] - mean) / stddev;
        out.e[i] = 4 * 0x1p-24 * ((double)byte[i] + mean) / stddev; /* two quotients, a product, a sum */
    }
    return mg_searched_and_judge(run, searched, &out, 1);
}

void mg_05_pixels(mg_run *run, const void *one_case)
{
    enum { N = 784 };
#define CHANGED "one argument changes", "the call before had another mean or stddev: keep nothing from call to call"
    float mean = 0, stddev = 1;
    bool good = true;
    (void)one_case;
    for (int t = 0; t < CALLS && good; t++) {
        mean = 255 * mt_rng_uniform(mg_rng(run)), stddev = (float)mg_pick(mg_rng(run), 1, 255) / 3;
        good = pixels_once(run, NULL, NULL, mg_pick_size(mg_rng(run), 1, 1000), mean, stddev, false);
    }
    const float other = mean < 128 ? mean + 100 : mean - 100;
    if (good && pixels_once(run, "more than 65536 pixels", "n is an int64_t", 70001, mean, stddev, false) &&
        pixels_once(run, NULL, NULL, N, mean, stddev, false) && pixels_once(run, CHANGED, N, other, stddev, false) &&
        pixels_once(run, CHANGED, N, other, 2 * stddev, false))
        pixels_once(run, "several threads", NULL, N, mean, stddev, true);
}

/* Begins a call with a file of `length` bytes, of which `known` are given: its header, and zeros. */
static void begin_tokens(mg_run *run, const char *magic, uint32_t version, uint32_t size, int64_t count, int64_t length,
                         int64_t known)
{
    uint8_t header[24];
    memcpy(header, magic, 8);
    memcpy(header + 8, &version, 4);
    memcpy(header + 12, &size, 4);
    memcpy(header + 16, &count, 8);
    mg_begin(run, "mt_tokens_read");
    mg_out(run, "out", MT_I64, MT_SHAPE(4));
    mg_out(run, "message", MT_U8, MT_SHAPE(MESSAGE));
    memcpy(mg_in(run, "bytes", MT_U8, MT_SHAPE(known)), header, (size_t)mt_min(known, 24));
    mg_i64(run, "size", length);
}

#define SHORTER "a file shorter than its header must be refused"

/* Files that must be refused, after the drawn ones of each row; their tokens have 4 bytes. */
static void refuse_tokens(mg_run *run, int64_t row)
{
    static const struct {
        int64_t row;
        const char *part, *magic;
        uint32_t version;
        int64_t size, count;
        const char *why;
    } files[] = {
        { MG_TOKENS_ODD, "half a token", "MTTOKENS", 1, 26, 0,
          "2 bytes behind the header are half a token of 4 bytes" },
        { MG_TOKENS_ODD, "half a token", "MTTOKENS", 1, 30, 1,
          "6 bytes behind the header are a token of 4 bytes, and half of one" },
        { MG_TOKENS_SHORT, "another count", "MTTOKENS", 1, 28, 0, "the header says 0 tokens, but the file has 1" },
        { MG_TOKENS_SHORT, "another count", "MTTOKENS", 1, 28, -1, "the header says -1 tokens, but the file has 1" },
        { MG_TOKENS_SHORT, "another count", "MTTOKENS", 1, 32, -2, "the header says -2 tokens, but the file has 2" },
        { MG_TOKENS_SHORT, "another count", "MTTOKENS", 1, 24, -1, "the header says -1 tokens, but the file has 0" },
        { MG_TOKENS_SHORT, "another count", "MTTOKENS", 1, 24, 1, "the header says 1 token, but the file has 0" },
        /* The number of tokens agrees with the header. */
        { MG_TOKENS_HOSTILE, "another magic", "MTTOKENX", 1, 28, 1, "the magic has 8 characters, MTTOKENS" },
        { MG_TOKENS_HOSTILE, "another magic", "mttokens", 1, 28, 1, "the magic has 8 characters, MTTOKENS" },
        { MG_TOKENS_HOSTILE, "another version", "MTTOKENS", 2, 28, 1, "a newer version must be refused" },
        { MG_TOKENS_HOSTILE, "another version", "MTTOKENS", 257, 28, 1,
          "a newer version must be refused, and a version has 32 bits" },
        { MG_TOKENS_HOSTILE, "a short header", "MTTOKENS", 1, 23, 0, SHORTER },
        { MG_TOKENS_HOSTILE, "a short header", "MTTOKENS", 1, 20, -1, SHORTER }, /* -4 bytes behind the header */
        { MG_TOKENS_HOSTILE, "a short header", "MTTOKENS", 1, 16, 0, SHORTER },
        { MG_TOKENS_HOSTILE, "a short header", "MTTOKENS", 1, 8, 0, SHORTER },
    };
    bool good = true;
    for (int i = 0; i < MT_COUNT(files) && good; i++) {
        if (files[i].row != row)
            continue;
        mg_part(run, files[i].part, "%s", files[i].why);
        begin_tokens(run, files[i].magic, files[i].version, 4, files[i].count, files[i].size, files[i].size);
        good = expect_refused(run, 4);
    }
}

/* A file of `bytes` behind a header that says `count`. */
static bool tokens_refused(mg_run *run, uint32_t size, int64_t count, int64_t bytes)
{
    begin_tokens(run, "MTTOKENS", 1, size, count, 24 + bytes, 24 + bytes);
    return expect_refused(run, 4);
}

/* Right files of 2 and 4 bytes a token; only the header of more than 4 GiB is given. */
static void accept_tokens(mg_run *run)
{
    static const struct {
        const char *part;
        int64_t calls, least, most;
    } files[] = { { NULL, CALLS, 1, 60 }, { "no tokens", 1, 0, 0 }, { "more than 4 GiB", 1, 1LL << 32, 1LL << 33 } };
    for (int f = 0; f < MT_COUNT(files); f++)
        for (int64_t t = 0; t < 2 * files[f].calls; t++) {
            const int64_t size = t < files[f].calls ? 2 : 4,
                          count = mg_pick(mg_rng(run), files[f].least, files[f].most);
            mg_part(run, files[f].part, NULL);
            begin_tokens(run, "MTTOKENS", 1, (uint32_t)size, count, 24 + count * size,
                         24 + (count >> 32 ? 0 : count * size));
            if (!mg_call(run) ||
                !mg_expect(run, "out", (const double[]){ MT_OK, 24, (double)count, (double)size }, NULL))
                return;
        }
}

void mg_05_tokens(mg_run *run, const void *one_case)
{
    static const uint32_t sizes[] = { 0, 1, 3, 8, 16, 0x80000000, 0x10002, 0x10004 };
    const data_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    bool good = true;
    for (int t = 0; t < 2 * CALLS && good; t++)
        for (uint32_t size = 2; size <= 4 && good; size += 2) {
            const int64_t n = mg_pick(rng, 1, 60), bytes = n * size;
            if (c->kind == MG_TOKENS_ODD)
                good = tokens_refused(run, size, n, bytes + mg_pick(rng, 1, size - 1));
            if (c->kind == MG_TOKENS_SHORT)
                good = tokens_refused(run, size, n + 1, bytes) && tokens_refused(run, size, n - 1, bytes);
            if (c->kind == MG_TOKENS_HOSTILE) /* their number times their size overflows to the true size */
                good = tokens_refused(run, size, n + (size == 2 ? INT64_MIN : 1LL << 62), bytes);
        }
    for (int i = 0; i < MT_COUNT(sizes) && good && c->kind == MG_TOKENS_SIZE; i++) {
        const int64_t n = mg_pick(rng, 1, 60), low = sizes[i] % 0x10000; /* the bytes are those of its lower half */
        mg_part(run, "another size of tokens",
                "tokens of 0x%x bytes: only 2 and 4 are allowed; check before dividing by it", sizes[i]);
        good = tokens_refused(run, sizes[i], n, n * (low ? low : 2));
    }
    if (good)
        refuse_tokens(run, c->kind);
    if (c->kind == MG_TOKENS_GOOD)
        accept_tokens(run);
}

/* Starts are 0, stride, ... with start + T < count. In the parts of the row some numbers are longer than an int. */
void mg_05_windows(mg_run *run, const void *one_case)
{
    enum { N = 20 };
    static const struct {
        const char *part;
        int64_t T, stride, least, most; /* so much longer, and so many more windows */
    } longer[] = { { NULL, 0, 0, 0, 0 },
                   { "many windows", 0, 0, 1LL << 32, 1LL << 40 },
                   { "a long stride", 0, 1LL << 33, 1, 1000 },
                   { "the longest stride", 0, INT64_MAX - 9, 0, 0 },
                   { "a long window", 1LL << 33, 0, 0, 0 } };
    (void)one_case;
    for (int k = 0; k < MT_COUNT(longer); k++) {
        double want[N];
        mg_part(run, longer[k].part, longer[k].part ? "all numbers have 64 bits here: no sum may overflow" : NULL);
        mg_begin(run, "mt_tokens_windows");
        mg_out(run, "windows", MT_I64, MT_SHAPE(N));
        int64_t *count = mg_in(run, "count", MT_I64, MT_SHAPE(N)), *T = mg_in(run, "T", MT_I64, MT_SHAPE(N));
        int64_t *stride = mg_in(run, "stride", MT_I64, MT_SHAPE(N));
        for (int i = 0; i < N; i++) {
            const int64_t more = mg_pick(mg_rng(run), longer[k].least, longer[k].most);
            T[i] = mg_pick(mg_rng(run), 1, 9);
            stride[i] = longer[k].stride + mg_pick(mg_rng(run), 1, 9);
            count[i] = (i < N / 2 ? T[i] + mg_pick(mg_rng(run), 0, 2) : mg_pick(mg_rng(run), 0, 60)) + more * stride[i];
            T[i] += longer[k].T, count[i] += longer[k].T;
            want[i] = count[i] > T[i] ? (double)((count[i] - T[i] - 1) / stride[i] + 1) : 0;
        }
        if (!mg_call(run) || !mg_expect(run, "windows", want, NULL))
            return;
    }
}

enum { LONG = 5003 };

static bool window_once(mg_run *run, int64_t size, int64_t T, int64_t start, bool searched)
{
    static double want[2][LONG];
    int64_t n = start + T + 1, whole = 8 / size; /* a multiple of 8 bytes: an aligned file without a copy */
    start += (whole - n % whole) % whole;
    n = start + T + 1;
    mg_begin(run, "mt_tokens_window");
    mg_out(run, "x", MT_I32, MT_SHAPE(T));
    mg_out(run, "y", MT_I32, MT_SHAPE(T));
    uint8_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(n * size));
    mg_i64(run, "size", size);
    mg_i64(run, "start", start);
    for (int64_t i = 0; i < n; i++) {
        int32_t id = (int32_t)mt_rng_below(mg_rng(run), size == 2 ? 65536 : 1 << 30);
        memcpy(data + i * size, &id, (size_t)size); /* little-endian, here as in the file */
        if (i >= start && i < start + T)
            want[0][i - start] = id;
        if (i > start)
            want[1][i - start - 1] = id;
    }
    return (searched ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "x", want[0], NULL) &&
           mg_expect(run, "y", want[1], NULL);
}

void mg_05_window(mg_run *run, const void *one_case)
{
    static const struct {
        const char *part, *hint;
        int64_t calls, least, most, start; /* the length of a window; its earliest start */
        bool searched;
    } windows[] = {
        { "several threads", NULL, 1, 1, 40, 0, true },
        { NULL, NULL, CALLS, 1, 40, 0, false },
        { "a long window", NULL, 1, LONG, LONG, 0, false },
        { "a late start", "a start may have more than 16 bits", 1, 20, 40, 70000, false },
    };
    const data_case *c = one_case; /* kind: bytes of a token */
    for (int w = 0; w < MT_COUNT(windows); w++) {
        mg_part(run, windows[w].part, windows[w].hint);
        for (int t = 0; t < windows[w].calls; t++)
            if (!window_once(run, c->kind, mg_pick(mg_rng(run), windows[w].least, windows[w].most),
                             windows[w].start + mg_pick(mg_rng(run), 0, 20), windows[w].searched))
                return;
    }
}
