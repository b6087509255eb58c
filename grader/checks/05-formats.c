/* 05-formats.c -- how the checks of steps 05.1 to 05.4 run: IDX files and token files. Rows: 05-data.c. */
#include "checks/05-data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6, MESSAGE = 200 };

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

/* A header and the number of bytes after it, which may differ from what it says. Only the header is read, so that
 * items of more than 4 GiB need no memory. */
void mg_05_idx(mg_run *run, const void *one_case)
{
    const data_case *c = one_case;
    for (int t = 0; t < CALLS; t++) {
        mt_rng *rng = mg_rng(run);
        bool images = t % 2 == 0 || c->kind == MG_IDX_TORN;
        int64_t kind = images ? 3 : 1, rows = images ? mg_pick(rng, 2, 9) : 1, cols = images ? mg_pick(rng, 2, 9) : 1;
        int64_t count = c->kind == MG_IDX_HIGH_BYTES ? mg_pick(rng, 40000, 50000) : mg_pick(rng, 2, 200), said;
        bool huge = c->kind == MG_IDX_HIGH_BYTES && t >= 2;
        if (huge) /* four different bytes, the first above 127 */
            count = mg_pick(rng, 0x81020304, 0xfedcba98);
        if (c->kind == MG_IDX_GOOD && t >= 4) /* no items: a file of a header alone */
            count = 0;
        if (c->kind == MG_IDX_TORN && t >= 4) /* no items, or one, and a part of another */
            count = t - 4;
        said = count;
        int64_t bytes = count * rows * cols;
        if (c->kind == MG_IDX_SHORT)
            said = count + mg_pick(rng, 1, 3);
        if (c->kind == MG_IDX_LONG)
            said = count - 1;
        if (c->kind == MG_IDX_TORN)
            bytes += mg_pick(rng, 1, rows * cols - 1);
        if (c->kind == MG_IDX_HOSTILE && images) { /* count * size is 0 in 64 bits, or an item's size in 32 */
            rows = cols = t ? 1LL << 31 : 1LL << 16;
            said = count = 4;
            bytes = 0;
        }
        bool good = c->kind <= MG_IDX_HIGH_BYTES || (c->kind == MG_IDX_HOSTILE && !images);
        const int64_t header = 4 + 4 * kind;
        const uint32_t words[4] = { 0x800 + (uint32_t)kind, (uint32_t)said, (uint32_t)rows, (uint32_t)cols };
        begin_idx(run, kind, header + (huge ? 0 : bytes), header + bytes, words);
        double want[5] = { MT_OK, (double)count, (double)rows, (double)cols, (double)header };
        if (good ? !mg_call(run) || !mg_expect(run, "out", want, NULL) : !expect_refused(run, 5))
            return;
    }
    if (c->kind == MG_IDX_HOSTILE)
        refuse_idx(run);
    if (c->kind == MG_IDX_GOOD)
        accept_few_labels(run);
}

/* Of the norm of a call, the next to last changes the mean alone, and the last the deviation alone. */
void mg_05_pixels(mg_run *run, const void *one_case)
{
    float mean = 0, stddev = 1;
    (void)one_case;
    for (int t = 0; t < CALLS + 1; t++) {
        bool other_mean = t == CALLS - 2, other_stddev = t == CALLS - 1;
        int64_t n = t == 0 || other_mean || other_stddev ? 784 : t == 1 ? 70001 : mg_pick_size(mg_rng(run), 1, 1000);
        if (other_mean)
            mean += mean < 128 ? 100 : -100;
        else if (other_stddev)
            stddev *= 2;
        else {
            mean = 255 * mt_rng_uniform(mg_rng(run));
            stddev = (float)mg_pick(mg_rng(run), 1, 255) / 3;
        }
        if (other_mean || other_stddev)
            mg_part(run, "one argument changes",
                    "this call differs from the one before in %s alone: keep nothing from call to call",
                    other_mean ? "mean" : "stddev");
        double *want = calloc((size_t)n, sizeof *want), *bound = calloc((size_t)n, sizeof *bound);
        mg_begin(run, "mt_pixels_to_floats");
        mg_out(run, "out", MT_F32, MT_SHAPE(n));
        uint8_t *byte = mg_in(run, "bytes", MT_U8, MT_SHAPE(n));
        mg_f32(run, "mean", mean);
        mg_f32(run, "stddev", stddev);
        for (int64_t i = 0; i < n; i++) {
            byte[i] = (uint8_t)mt_rng_below(mg_rng(run), 256);
            want[i] = ((double)byte[i] - mean) / stddev;
            bound[i] = 4 * 0x1p-24 * ((double)byte[i] + mean) / stddev; /* two quotients, a product, a sum */
        }
        bool good = (t == CALLS ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "out", want, bound);
        free(want);
        free(bound);
        if (!good)
            return;
    }
}

#define SHORTER "a file shorter than its header must be refused"

/* Files that must be refused, after the drawn ones of each row; their tokens have 4 bytes. */
static void refuse_tokens(mg_run *run, int64_t row)
{
    static const struct {
        int64_t row;
        const char *magic;
        uint32_t version;
        int64_t size, count;
        const char *why;
    } files[] = {
        { MG_TOKENS_ODD, "MTTOKENS", 1, 26, 0, "2 bytes behind the header are half a token of 4 bytes" },
        { MG_TOKENS_ODD, "MTTOKENS", 1, 30, 1, "6 bytes behind the header are a token of 4 bytes, and half of one" },
        { MG_TOKENS_SHORT, "MTTOKENS", 1, 28, 0, "the header says 0 tokens, but the file has 1" },
        { MG_TOKENS_SHORT, "MTTOKENS", 1, 28, -1, "the header says -1 tokens, but the file has 1" },
        { MG_TOKENS_SHORT, "MTTOKENS", 1, 32, -2, "the header says -2 tokens, but the file has 2" },
        { MG_TOKENS_SHORT, "MTTOKENS", 1, 24, -1, "the header says -1 tokens, but the file has 0" },
        { MG_TOKENS_SHORT, "MTTOKENS", 1, 24, 1, "the header says 1 token, but the file has 0" },
        /* The number of tokens agrees with the header. */
        { MG_TOKENS_HOSTILE, "MTTOKENX", 1, 28, 1, "the magic has 8 characters, MTTOKENS" },
        { MG_TOKENS_HOSTILE, "mttokens", 1, 28, 1, "the magic has 8 characters, MTTOKENS" },
        { MG_TOKENS_HOSTILE, "MTTOKENS", 2, 28, 1, "a newer version must be refused" },
        { MG_TOKENS_HOSTILE, "MTTOKENS", 257, 28, 1, "a newer version must be refused, and a version has 32 bits" },
        { MG_TOKENS_HOSTILE, "MTTOKENS", 1, 23, 0, SHORTER },
        { MG_TOKENS_HOSTILE, "MTTOKENS", 1, 20, -1, SHORTER }, /* -4 bytes behind the header */
        { MG_TOKENS_HOSTILE, "MTTOKENS", 1, 16, 0, SHORTER },
        { MG_TOKENS_HOSTILE, "MTTOKENS", 1, 8, 0, SHORTER },
    };
    for (int i = 0; i < MT_COUNT(files); i++) {
        uint8_t file[32] = { 0 };
        if (files[i].row != row)
            continue;
        memcpy(file, files[i].magic, 8);
        memcpy(file + 8, &files[i].version, 4);
        memcpy(file + 12, &(uint32_t){ 4 }, 4);
        memcpy(file + 16, &files[i].count, 8);
        mg_begin(run, "mt_tokens_read");
        mg_out(run, "out", MT_I64, MT_SHAPE(4));
        mg_out(run, "message", MT_U8, MT_SHAPE(MESSAGE));
        memcpy(mg_in(run, "bytes", MT_U8, MT_SHAPE(files[i].size)), file, (size_t)files[i].size);
        mg_i64(run, "size", files[i].size);
        mg_hint(run, "%s", files[i].why);
        if (!expect_refused(run, 4))
            return;
    }
}

void mg_05_tokens(mg_run *run, const void *one_case)
{
    const data_case *c = one_case;
    static const uint32_t sizes[] = { 0, 1, 3, 8, 16, 0x80000000, 0x10002, 0x10004 };
    for (int t = 0; t < (c->kind == MG_TOKENS_SIZE ? MT_COUNT(sizes) : CALLS); t++) {
        mt_rng *rng = mg_rng(run);
        uint32_t version = 1, size = t % 2 ? 4 : 2;
        int64_t count = c->kind == MG_TOKENS_GOOD && t < 2 ? 0 : mg_pick(rng, 1, t < 2 ? 2 : 60);
        int64_t bytes = count * size, said = count;
        bool huge = c->kind == MG_TOKENS_GOOD && t >= 4; /* more than 4 GiB, of which only the header is read */
        if (huge) {
            said = count = mg_pick(rng, 1LL << 32, 1LL << 33);
            bytes = count * size;
        }
        if (c->kind == MG_TOKENS_ODD)
            bytes += mg_pick(rng, 1, size - 1);
        if (c->kind == MG_TOKENS_SHORT)
            said += t < 3 ? 1 : -1;
        if (c->kind == MG_TOKENS_HOSTILE) /* said * size overflows to the true size */
            said = count + (size == 2 ? INT64_MIN : 1LL << 62);
        if (c->kind == MG_TOKENS_SIZE) { /* the bytes are those of this size, or of its lower half */
            size = sizes[t];
            bytes = size % 0x10000 ? count * (size % 0x10000) : bytes;
            mg_part(run, "another size of tokens",
                    "tokens of 0x%x bytes: only 2 and 4 are allowed; check before dividing by it", size);
        }
        mg_begin(run, "mt_tokens_read");
        mg_out(run, "out", MT_I64, MT_SHAPE(4));
        mg_out(run, "message", MT_U8, MT_SHAPE(MESSAGE));
        uint8_t *file = mg_in(run, "bytes", MT_U8, MT_SHAPE(24 + (huge ? 0 : bytes)));
        mg_i64(run, "size", 24 + bytes);
        memcpy(file, "MTTOKENS", 8);
        memcpy(file + 8, &version, 4);
        memcpy(file + 12, &size, 4);
        memcpy(file + 16, &said, 8);
        double want[4] = { MT_OK, 24, (double)count, size };
        bool good = c->kind == MG_TOKENS_GOOD;
        if (good ? !mg_call(run) || !mg_expect(run, "out", want, NULL) : !expect_refused(run, 4))
            return;
    }
    refuse_tokens(run, c->kind);
}

/* Counted one by one, by the definition in the header: starts 0, stride, ... with start + T < count. Some
 * have more tokens than an int holds. */
void mg_05_windows(mg_run *run, const void *one_case)
{
    enum { N = 60 };
    double want[N];
    (void)one_case;
    mg_begin(run, "mt_tokens_windows");
    mg_out(run, "windows", MT_I64, MT_SHAPE(N));
    int64_t *count = mg_in(run, "count", MT_I64, MT_SHAPE(N)), *T = mg_in(run, "T", MT_I64, MT_SHAPE(N));
    int64_t *stride = mg_in(run, "stride", MT_I64, MT_SHAPE(N));
    for (int i = 0; i < N; i++) {
        T[i] = mg_pick(mg_rng(run), 1, 9);
        stride[i] = mg_pick(mg_rng(run), 1, 9);
        count[i] = i < 20 ? T[i] + i % 3 : mg_pick(mg_rng(run), 0, 60);
        want[i] = 0;
        for (int64_t start = 0; start + T[i] < count[i]; start += stride[i])
            want[i]++;
        if (i % 4 == 3 && want[i] > 0) { /* as many more windows */
            int64_t more = mg_pick(mg_rng(run), 1LL << 32, 1LL << 40);
            count[i] += more * stride[i];
            want[i] += (double)more;
        }
        if (i % 4 == 2) { /* a stride that long, and as much more for some windows */
            int64_t more = mg_pick(mg_rng(run), 1, 1000);
            want[i] = (double)(more + (count[i] > T[i]));
            stride[i] += 1LL << 33;
            count[i] += more * stride[i];
        }
        if (i % 4 == 1) { /* a window that long, and as much more to take it from */
            T[i] += 1LL << 33;
            count[i] += 1LL << 33;
        }
        if (i >= N - 3) { /* the longest stride: none or one window */
            stride[i] = INT64_MAX;
            count[i] = T[i] + i % 3;
            want[i] = i % 3 > 0;
        }
    }
    if (mg_call(run))
        mg_expect(run, "windows", want, NULL);
}

void mg_05_window(mg_run *run, const void *one_case)
{
    enum { LONG = 5003 };
    static double want[2][LONG];
    const data_case *c = one_case; /* kind: bytes of a token */
    for (int t = 0; t < CALLS; t++) {
        bool far = t == CALLS - 1; /* a start of more than 16 bits */
        int64_t T = t == CALLS - 2 ? LONG : mg_pick(mg_rng(run), far ? 20 : 1, 40),
                start = mg_pick(mg_rng(run), 0, 20) + (far ? 70000 : 0);
        int64_t n = start + T + 1, whole = 8 / c->kind; /* a multiple of 8 bytes: an aligned file without a copy */
        start += (whole - n % whole) % whole;
        n = start + T + 1;
        mg_begin(run, "mt_tokens_window");
        mg_out(run, "x", MT_I32, MT_SHAPE(T));
        mg_out(run, "y", MT_I32, MT_SHAPE(T));
        uint8_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(n * c->kind));
        mg_i64(run, "size", c->kind);
        mg_i64(run, "start", start);
        for (int64_t i = 0; i < n; i++) {
            int32_t id = (int32_t)mt_rng_below(mg_rng(run), c->kind == 2 ? 65536 : 1 << 30);
            memcpy(data + i * c->kind, &id, (size_t)c->kind); /* little-endian, here as in the file */
            if (i >= start && i < start + T)
                want[0][i - start] = id;
            if (i > start)
                want[1][i - start - 1] = id;
        }
        if (!(t == 0 ? mg_shared_call(run) : mg_call(run)) || !mg_expect(run, "x", want[0], NULL) ||
            !mg_expect(run, "y", want[1], NULL))
            return;
    }
}
