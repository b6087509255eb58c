/* bench_ckpt.c -- what a checkpoint costs: its checksum, its bytes on the disk beside dd's, what training waits for.
 *
 *     build/release/bin/bench_ckpt
 *
 *   checksum  CRC-32C of a block in the cache and of one in memory, one core, by table and by instruction (goal 8 GB/s)
 *   save      mt_checkpoint_save of so many bytes, and `dd conv=fsync` of the same bytes from memory, in turns (0.9)
 *   delay     how long mt_saver_save keeps training waiting, beside memcpy of the same bytes to memory that is in use
 *             (goal: not more than the copy); and once, before training, for the copy's memory
 * Disks and neighbours change from second to second: each figure is the median of --rounds, and ratios are of turns. */
#include "bench/bench.h"
#include "ckpt/async.h"
#include "ckpt/crc32c.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct options {
    const char *dir, *csv;
    int64_t megabytes, rounds;
} options;

static const mt_option flags[] = {
    { "dir", 'd', "DIR", MT_TEXT(options, dir), "A folder on the disk to measure, for files that are removed (/tmp)" },
    { "megabytes", 'm', "MB", MT_I64(options, megabytes, 1, 100000), "Of a checkpoint (1500)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 100), "Of each measurement (5)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Also write every figure as CSV" },
    { 0 },
};

enum { TENSORS = 60, ROUNDS_MOST = 100 };
static FILE *csv;

static void figure(const char *name, double value, const char *unit)
{
    printf("%-52s %10.3f %s\n", name, value, unit);
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%.6g,%s\n", name, value, unit);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int64_t count)
{
    qsort(value, (size_t)count, sizeof *value, ascending);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

/* ---- checksum ---------------------------------------------------------------------------------------------- */

typedef uint32_t sum_fn(uint32_t crc, const void *data, int64_t bytes);

/* GB/s of one core: processor time, in which other jobs do not count. */
static double rate(sum_fn *sum, const void *data, int64_t bytes, const options *o)
{
    double least = 1e9;
    volatile uint32_t crc = 0;
    for (int64_t r = 0; r < 3 * o->rounds; r++) {
        int64_t times = mt_max(32000000 / bytes, 1);
        double start = bench_cpu(CLOCK_THREAD_CPUTIME_ID);
        for (int64_t t = 0; t < times; t++)
            crc = sum(crc, data, bytes);
        bench_keep_least(&least, (bench_cpu(CLOCK_THREAD_CPUTIME_ID) - start) / (double)times);
    }
    return (double)bytes / least / 1e9;
}

static void checksums(const mt_state *state, const options *o)
{
    const mt_tensor *t = state->item[0].tensor;
    int64_t all = mt_numel(t) * 4, part = mt_min(all, 256 << 10);
    figure("CRC-32C by tables, 256 KiB", rate(mt_crc32c_table, mt_data(t), part, o), "GB/s");
    figure("CRC-32C, 256 KiB", rate(mt_crc32c, mt_data(t), part, o), "GB/s");
    figure("CRC-32C, a tensor in memory", rate(mt_crc32c, mt_data(t), all, o), "GB/s");
}

/* ---- save -------------------------------------------------------------------------------------------------- */

static void run(const char *fmt, const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command, fmt, a, b);
    if (system(command) != 0)
        exit(mt_cli_exit(mt_fail(MT_ERR_IO, "this failed: %s", command)));
}

static void good(mt_status status)
{
    if (status != MT_OK)
        exit(mt_cli_exit(status));
}

/* Seconds of one save, and of dd with the file that it wrote, which is in
 * memory: the page cache. */
static void save_and_dd(double *save, double *dd, const char *dir, const mt_state *state, bool dd_first)
{
    const mt_state rest = { 0 };
    for (int turn = 0; turn < 2; turn++) {
        sync();
        double start = mt_now();
        if ((turn == 0) == dd_first) {
            run("dd if=%s/source of=%s/copy bs=1M conv=fsync status=none", dir, dir);
            *dd = mt_now() - start;
            run("rm '%s/copy'%s", dir, "");
        } else {
            good(mt_checkpoint_save(dir, 1, state, &rest, MT_SHARD_BYTES));
            *save = mt_now() - start;
            run("rm -r '%s/step-1'%s", dir, "");
        }
    }
}

static void saves(const char *dir, const mt_state *state, const options *o)
{
    double save[ROUNDS_MOST], dd[ROUNDS_MOST], ratio[ROUNDS_MOST], bytes = (double)mt_state_bytes(state);
    const mt_state rest = { 0 };
    good(mt_checkpoint_save(dir, 0, state, &rest, INT64_MAX / 2));
    run("mv '%s'/step-0/model-*s '%s'/source", dir, dir);
    for (int64_t r = 0; r < o->rounds; r++) {
        save_and_dd(&save[r], &dd[r], dir, state, r % 2);
        ratio[r] = dd[r] / save[r];
    }
    run("rm '%s/source'%s", dir, "");
    figure("dd conv=fsync", bytes / median(dd, o->rounds) / 1e9, "GB/s");
    figure("save", bytes / median(save, o->rounds) / 1e9, "GB/s");
    figure("save / dd, median of turns (goal 0.9)", median(ratio, o->rounds), "");
}

/* ---- delay ------------------------------------------------------------------------------------------------- */

/* Seconds of the clock and of this thread's processor: the latter without the
 * time in which other jobs had it. */
typedef struct times {
    double wall, cpu;
} times;

static times times_now(void)
{
    return (times){ mt_now(), bench_cpu(CLOCK_THREAD_CPUTIME_ID) };
}

static times since(times start, double gigabytes)
{
    times end = times_now();
    return (times){ (end.wall - start.wall) / gigabytes, (end.cpu - start.cpu) / gigabytes };
}

/* A copy of all tensors to memory that is in use, as fast as memcpy is on one
 * core. */
static times bare_copy(const mt_state *to, const mt_state *from, double gigabytes)
{
    times start = times_now();
    for (int64_t i = 0; i < from->count; i++)
        memcpy(mt_data(to->item[i].tensor), mt_data(from->item[i].tensor),
               (size_t)mt_numel(from->item[i].tensor) * sizeof(float));
    return since(start, gigabytes);
}

static void delays(const char *dir, const mt_state *state, const options *o)
{
    mt_saver *saver;
    times first = { 0 }, start;
    double wall[ROUNDS_MOST], cpu[ROUNDS_MOST], bare[ROUNDS_MOST], ratio[ROUNDS_MOST];
    double gigabytes = (double)mt_state_bytes(state) / 1e9;
    const mt_state rest = { 0 };
    mt_state copy = mt_state_clone(state);
    good(mt_saver_open(&saver, &(mt_saver_config){ .dir = dir, .async = true, .keep = { 1, 0, -1 } }));
    start = times_now();
    mt_saver_prepare(saver, state, &rest);
    times prepare = since(start, gigabytes);
    for (int64_t r = -1; r < o->rounds; r++) {
        good(mt_saver_wait(saver)); /* waiting for the disk is the disk's part, not the copy's */
        times alone = bare_copy(&copy, state, gigabytes), save;
        start = times_now();
        good(mt_saver_save(saver, r + 2, state, &rest));
        save = since(start, gigabytes);
        if (r < 0) {
            first = save;
            continue;
        }
        wall[r] = save.wall, cpu[r] = save.cpu, bare[r] = alone.cpu;
        ratio[r] = save.cpu / alone.cpu;
    }
    good(mt_saver_close(saver));
    mt_state_free(&copy);
    figure("memcpy, one thread, processor time", median(bare, o->rounds), "s/GB");
    figure("before the first save: memory for the copy", prepare.cpu, "s/GB");
    figure("first asynchronous save, processor time", first.cpu, "s/GB");
    figure("first asynchronous save", first.wall, "s/GB");
    figure("later ones, processor time (goal 0.1)", median(cpu, o->rounds), "s/GB");
    figure("later ones", median(wall, o->rounds), "s/GB");
    figure("later ones / memcpy, processor time (goal 1)", median(ratio, o->rounds), "");
}

int main(int argc, char **argv)
{
    options o = { .dir = "/tmp", .megabytes = 1500, .rounds = 5 };
    char dir[256];
    mt_cli_parse(argc, argv, "Measure checksums, saves, and what training waits for.", flags, &o);
    csv = bench_csv_open(o.csv, "what,value,unit");
    snprintf(dir, sizeof dir, "%s/bench_ckpt.XXXXXX", o.dir);
    if (!mkdtemp(dir))
        return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: %s", dir, strerror(errno)));
    mt_state state = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    for (int i = 0; i < TENSORS; i++) {
        mt_tensor *t = mt_zeros(MT_SHAPE(o.megabytes * 1000000 / 4 / TENSORS), MT_F32, MT_CPU);
        mt_rng_fill_uniform(&rng, mt_f32(t), mt_numel(t), 0, 1);
        mt_state_tensor(&state, t, "t%d", i);
        mt_release(t);
    }
    printf("%s; %.0f MB in %d tensors, %s\n", bench_machine(), (double)mt_state_bytes(&state) / 1e6, TENSORS, dir);
    checksums(&state, &o);
    saves(dir, &state, &o);
    delays(dir, &state, &o);
    run("rm -r '%s'%s", dir, "");
    mt_state_free(&state);
    bench_csv_close(csv, o.csv);
    return 0;
}
