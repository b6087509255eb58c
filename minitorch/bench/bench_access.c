/* bench_access.c -- what the order of reading costs: the same windows of bytes, read in four ways, from the disk (cold)
 * and from memory (warm).
 *
 *   sequential       one file from its start to its end
 *   shuffled shards  that file's shards in a random order, each shard from its start to its end
 *   random windows   that file's windows in a random order
 *   small files      a file for each window, opened, read and closed in a random order
 *
 * Before a cold reading posix_fadvise asks the system to give up the files' pages, and mincore counts the pages that
 * stayed. A warm reading follows each cold one. Cold readings are compared by time, warm ones by processor time, since
 * they wait for nothing. The ways take turns, every second round in reverse, since a disk may be slower after much
 * reading; the fastest round of each counts, and speeds are printed beside the sequential one. Reads, jumps (reads that
 * do not begin where the one before ended) and the sum of what was read depend on no cache: PASS says that each reading
 * had all bytes. */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/rng.h"
#include "data/sampler.h"

typedef enum way { SEQUENTIAL, SHARDS, WINDOWS, FILES, WAYS } way;

static const char *const names[WAYS] = { "sequential", "shuffled shards", "random windows", "small files" };

typedef struct options {
    int64_t megabytes, window, shard, rounds, seed;
    const char *dir, *csv;
} options;

static const mt_option flags[] = {
    { "megabytes", 'm', "N", MT_I64(options, megabytes, 1, 1 << 20), "Size of what is read, MiB" },
    { "window", 'w', "BYTES", MT_I64(options, window, 512, 1 << 20), "Bytes of a read, and of a small file" },
    { "shard", 0, "N", MT_I64(options, shard, 1, 1 << 20), "Windows of a shard" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "Rounds, of which the fastest counts" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Seed of the random orders" },
    { "dir", 'd', "DIR", MT_TEXT(options, dir),
      "Folder on the disk to measure, for files that are removed at the end" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "CSV file to which the table is written too" },
    { 0 },
};

/* What all readings share. */
typedef struct disk {
    const options *o;
    int64_t windows;
    int fd, folder; /* the one file; the folder of the small ones */
    uint8_t *bytes; /* [window] */
    uint64_t sum;   /* of all words */
    char temp[4096];
} disk;

typedef struct result {
    double cold, warm; /* seconds, the least; warm: of the processor */
    int64_t reads, jumps;
    double stayed; /* the largest share of pages that stayed before a cold reading */
    bool whole;    /* each reading had all bytes */
} result;

/* ---- files ------------------------------------------------------------------------------------------------- */

static mt_status failed(const disk *d, const char *what)
{
    return mt_fail(MT_ERR_IO, "%s %s: %s; --dir names another folder, --megabytes makes the files smaller", what,
                   d->temp, strerror(errno));
}

static int open_small(const disk *d, int64_t i, int mode)
{
    char name[32];
    snprintf(name, sizeof name, "%" PRId64, i);
    return openat(d->folder, name, mode | O_CLOEXEC, 0666);
}

static uint64_t sum_of(const disk *d)
{
    uint64_t sum = 0, word;
    for (int64_t i = 0; i + (int64_t)sizeof word <= d->o->window; i += (int64_t)sizeof word) {
        memcpy(&word, d->bytes + i, sizeof word);
        sum += word;
    }
    return sum;
}

/* Window i, of random bytes, at the end of the one file and as a small file. */
static mt_status write_window(disk *d, mt_rng *rng, int64_t i)
{
    for (int64_t k = 0; k < d->o->window; k += 8) {
        uint64_t word = mt_rng_u64(rng);
        memcpy(d->bytes + k, &word, (size_t)mt_min(8, d->o->window - k));
    }
    d->sum += sum_of(d);
    int small = open_small(d, i, O_WRONLY | O_CREAT | O_EXCL);
    errno = small < 0 ? errno : ENOSPC; /* of a write that is cut short */
    bool good = small >= 0 && write(small, d->bytes, (size_t)d->o->window) == d->o->window &&
                write(d->fd, d->bytes, (size_t)d->o->window) == d->o->window;
    if (small >= 0 && close(small) != 0)
        good = false;
    return good ? MT_OK : failed(d, "cannot write to");
}

/* All files, on the disk: a page that is not written yet cannot be given up. */
static mt_status write_files(disk *d)
{
    char path[4200];
    mt_rng rng = mt_rng_new((uint64_t)d->o->seed, MT_STREAM_DATA);
    snprintf(path, sizeof path, "%s/small", d->temp);
    if (mkdir(path, 0777) != 0 || (d->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return failed(d, "cannot make a folder in");
    snprintf(path, sizeof path, "%s/file", d->temp);
    if ((d->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0)
        return failed(d, "cannot write to");
    for (int64_t i = 0; i < d->windows; i++) {
        MT_TRY(write_window(d, &rng, i));
        MT_TRY(mt_cli_stopped() ? mt_fail(MT_ERR_STOPPED, "stopped") : MT_OK);
    }
    return syncfs(d->fd) == 0 ? MT_OK : failed(d, "cannot write to");
}

/* ---- cold ------------------------------------------------------------------------------------------------- */

/* Gives up the pages of a file; adds those that stayed. */
static mt_status give_up(const disk *d, int fd, int64_t bytes, int64_t *pages, int64_t *stayed)
{
    int64_t page = sysconf(_SC_PAGESIZE), count = mt_ceil_div(bytes, page);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    unsigned char *in = malloc((size_t)count);
    void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
    MT_CHECK(in, "out of memory");
    bool good = map != MAP_FAILED && mincore(map, (size_t)bytes, in) == 0;
    for (int64_t i = 0; good && i < count; i++)
        *stayed += in[i] & 1;
    *pages += count;
    if (map != MAP_FAILED)
        munmap(map, (size_t)bytes);
    free(in);
    return good ? MT_OK : failed(d, "cannot map a file of");
}

static mt_status make_cold(const disk *d, way w, double *stayed)
{
    int64_t pages = 0, in = 0;
    if (w != FILES)
        MT_TRY(give_up(d, d->fd, d->windows * d->o->window, &pages, &in));
    for (int64_t i = 0; w == FILES && i < d->windows; i++) {
        int fd = open_small(d, i, O_RDONLY);
        mt_status status = fd < 0 ? failed(d, "cannot read from") : give_up(d, fd, d->o->window, &pages, &in);
        if (fd >= 0)
            close(fd);
        MT_TRY(status);
    }
    *stayed = fmax((double)in / (double)pages, *stayed);
    return MT_OK;
}

/* ---- readings --------------------------------------------------------------------------------------------- */

/* order [windows]: which window is read when. */
static void order_of(int64_t *order, const disk *d, way w, int64_t round)
{
    mt_sampler mixed = mt_sampler_shuffling(d->windows, (uint64_t)d->o->seed);
    int64_t shards = mt_ceil_div(d->windows, d->o->shard), n = 0;
    if (w == SEQUENTIAL)
        mixed = mt_sampler_sequential(d->windows);
    if (w != SHARDS) {
        mt_sampler_order(order, &mixed, round);
        return;
    }
    int64_t *shard = malloc((size_t)shards * sizeof *shard);
    MT_CHECK(shard, "out of memory");
    mixed = mt_sampler_shuffling(shards, (uint64_t)d->o->seed);
    mt_sampler_order(shard, &mixed, round);
    for (int64_t s = 0; s < shards; s++)
        for (int64_t i = shard[s] * d->o->shard; i < mt_min((shard[s] + 1) * d->o->shard, d->windows); i++)
            order[n++] = i;
    free(shard);
}

/* Reads each window in this order, and keeps the least seconds. */
static mt_status reading(disk *d, way w, const int64_t *order, bool cold, result *r)
{
    uint64_t sum = 0;
    int64_t reads = 0, jumps = 0;
    double begin = mt_now(), cpu = bench_cpu(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < d->windows; i++) {
        int fd = w == FILES ? open_small(d, order[i], O_RDONLY) : d->fd;
        errno = fd < 0 ? errno : EIO; /* of a read that is cut short */
        int64_t at = w == FILES ? 0 : order[i] * d->o->window;
        bool good = fd >= 0 && pread(fd, d->bytes, (size_t)d->o->window, at) == d->o->window;
        if (w == FILES && fd >= 0)
            close(fd);
        if (!good)
            return failed(d, "cannot read from");
        sum += sum_of(d);
        reads++, jumps += w == FILES || (i > 0 && order[i] != order[i - 1] + 1);
    }
    bench_keep_least(cold ? &r->cold : &r->warm, cold ? mt_now() - begin : bench_cpu(CLOCK_THREAD_CPUTIME_ID) - cpu);
    r->reads = reads, r->jumps = jumps;
    r->whole &= sum == d->sum;
    return mt_cli_stopped() ? mt_fail(MT_ERR_STOPPED, "stopped") : MT_OK;
}

static mt_status rounds(result result_of[WAYS], disk *d)
{
    int64_t *order = malloc((size_t)d->windows * sizeof *order);
    MT_CHECK(order, "out of memory");
    mt_status status = MT_OK;
    for (int64_t k = 0; k < d->o->rounds * WAYS && status == MT_OK; k++) {
        int64_t turn = k % WAYS, round = k / WAYS;
        way w = (way)(round % 2 ? WAYS - 1 - turn : turn);
        result *r = &result_of[w];
        order_of(order, d, w, round);
        status = make_cold(d, w, &r->stayed);
        if (status == MT_OK)
            status = reading(d, w, order, true, r);
        if (status == MT_OK)
            status = reading(d, w, order, false, r);
    }
    free(order);
    return status;
}

/* ---- report ----------------------------------------------------------------------------------------------- */

static bool print(const result *r, const disk *d, FILE *csv)
{
    double mb = (double)(d->windows * d->o->window) / 1e6, stayed = 0;
    bool pass = true;
    printf("%-16s %8s %8s %12s %12s %12s %12s\n", "", "reads", "jumps", "cold, MB/s", "beside seq.", "warm, MB/s",
           "beside seq.");
    for (int w = 0; w < WAYS; w++) {
        double cold = r[SEQUENTIAL].cold / r[w].cold, warm = r[SEQUENTIAL].warm / r[w].warm;
        printf("%-16s %8" PRId64 " %8" PRId64 " %12.1f %12.4f %12.1f %12.4f\n", names[w], r[w].reads, r[w].jumps,
               mb / r[w].cold, cold, mb / r[w].warm, warm);
        if (csv)
            fprintf(csv, "%s,%" PRId64 ",%" PRId64 ",%.1f,%.4f,%.1f,%.4f,%.4f\n", names[w], r[w].reads, r[w].jumps,
                    mb / r[w].cold, cold, mb / r[w].warm, warm, r[w].stayed);
        pass &= r[w].whole;
        stayed = fmax(stayed, r[w].stayed);
    }
    if (stayed > 0.01)
        printf("Of a file's pages up to %.0f %% stayed in memory, so the cold speeds are not the disk's: --dir names a "
               "folder on a disk\n",
               100 * stayed);
    printf("bench_access: %s cold_shards=%.4f cold_windows=%.4f cold_files=%.4f warm_windows=%.4f warm_files=%.4f\n",
           pass ? "PASS" : "FAIL", r[SEQUENTIAL].cold / r[SHARDS].cold, r[SEQUENTIAL].cold / r[WINDOWS].cold,
           r[SEQUENTIAL].cold / r[FILES].cold, r[SEQUENTIAL].warm / r[WINDOWS].warm,
           r[SEQUENTIAL].warm / r[FILES].warm);
    return pass;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static mt_status bench(const options *o, FILE *csv, bool *pass)
{
    disk d = { .o = o, .windows = (o->megabytes << 20) / o->window, .fd = -1, .folder = -1 };
    result r[WAYS];
    for (int w = 0; w < WAYS; w++)
        r[w] = (result){ .cold = 1e30, .warm = 1e30, .whole = true };
    MT_TRY(mt_cli_folder(o->dir));
    snprintf(d.temp, sizeof d.temp, "%s/access-XXXXXX", o->dir);
    if (!mkdtemp(d.temp))
        return failed(&d, "cannot make a folder");
    d.bytes = malloc((size_t)o->window);
    MT_CHECK(d.bytes, "out of memory");
    printf("%s; %" PRId64 " windows of %" PRId64 " bytes, shards of %" PRId64 ", fastest of %" PRId64 " rounds\n",
           bench_machine(), d.windows, o->window, o->shard, o->rounds);
    mt_status status = write_files(&d);
    if (status == MT_OK)
        status = rounds(r, &d);
    if (status == MT_OK)
        *pass = print(r, &d, csv);
    if (d.fd >= 0)
        close(d.fd);
    if (d.folder >= 0)
        close(d.folder);
    free(d.bytes);
    nftw(d.temp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .megabytes = 64, .window = 4096, .shard = 256, .rounds = 3, .seed = 1, .dir = "build/bench" };
    bool pass = false;
    mt_cli_parse(argc, argv, "What the order of reading costs, from the disk and from memory.", flags, &o);
    mt_cli_catch_stop();
    FILE *csv = bench_csv_open(o.csv, "way,reads,jumps,cold_mb_s,cold_ratio,warm_mb_s,warm_ratio,stayed");
    mt_status status = bench(&o, csv, &pass);
    bench_csv_close(csv, o.csv);
    int code = mt_cli_exit(status);
    return pass || code ? code : 1;
}
