/* faults.c -- can a checkpoint be lost? Each way in which a save can be cut short is tried, and recovery must give the
 * checkpoint before it or the new one, bit for bit (lab 12's experiment).
 *
 *     build/release/bin/faults
 *
 *   calls     of a save on a simulated disk (testing/disk_sim.h), each failed once, and once with all after it, with
 *             each error; then the power is cut as well
 *   cuts      of the power after each change on that disk, in each state that a cut may leave
 *   system    calls of the operating system, each failed once with each error; a write may also write half
 *   kills     of a process that saves all the time, by SIGKILL at random moments
 * A point is lost when recovery gives other bits than were saved, a step before the last one whose save had returned,
 * or one that was never saved; or when the next save fails. Then, in virtual time, what checkpoints cost, by how often
 * they are written. */
#include "bench/bench.h"
#include "bench/faults_calls.h"
#include "bench/faults_run.h"
#include "ckpt/interval.h"
#include "ckpt/shards.h"
#include "core/io.h"
#include "prof/curve.h"
#include "cli/progress.h"
#include "testing/disk_sim.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

typedef struct options {
    const char *dir, *csv, *svg, *save, *check, *saver;
    int64_t kills, seed;
    bool quick;
} options;

static const mt_option flags[] = {
    { "quick", 'q', NULL, MT_FLAG(options, quick), "One error for each call, 12 kills, a shorter virtual run" },
    { "kills", 'k', "N", MT_I64(options, kills, 0, 100000), "Processes to kill (50)" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Of the moments at which they are; default: the time" },
    { "dir", 'd', "DIR", MT_TEXT(options, dir), "A folder for files of the test, which are removed (/tmp)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Also write what checkpoints cost as CSV" },
    { "svg", 'p', "FILE", MT_TEXT(options, svg), "And draw it; needs --csv" },
    { "save", 0, "DIR", MT_TEXT(options, save), "Only write the checkpoint of step 7 there, in shards" },
    { "check", 0, "DIR", MT_TEXT(options, check), "Only compare the tensors of shards in DIR with those of step 7" },
    { "saver", 0, "DIR", MT_TEXT(options, saver), "Only save again and again, until killed" },
    { 0 },
};

#define DISK "/runs"
enum { SMALL = 16, LARGE = 1 << 16 /* words of the largest tensor */ };

static struct {
    int64_t points, lost, said; /* said: lost ones of this sweep */
    int64_t most;               /* states of one power cut */
    mt_progress progress;
} now;

/* One point: whether what is recovered is one of least .. most. */
static void point(int64_t step, int64_t least, int64_t most, const char *fmt, ...) MT_PRINTF(4, 5);
static void point(int64_t step, int64_t least, int64_t most, const char *fmt, ...)
{
    now.points++;
    if (step >= least && step <= most)
        return;
    now.lost++;
    if (now.said++ >= 3)
        return;
    va_list args;
    va_start(args, fmt);
    mt_progress_clear(&now.progress);
    printf("  lost: ");
    vprintf(fmt, args);
    va_end(args);
    printf(": %s%" PRId64 ", not %" PRId64 " to %" PRId64 "\n",
           step == FAULTS_LOST ? "other bits than were saved, " : "step ", step, least, most);
}

/* Whether so much is lost that the rest of this sweep would tell nothing more. */
static bool enough(void)
{
    return now.said >= 50;
}

static void row(const char *what, int64_t points, int64_t lost)
{
    mt_progress_clear(&now.progress);
    printf("%-58s %8" PRId64 " %8" PRId64 "\n", what, now.points - points, now.lost - lost);
    if (enough())
        printf("  and there it ended: too many are lost\n");
    fflush(stdout);
    now.said = 0;
}

/* ---- a simulated disk ------------------------------------------------------------------------------------ */

static mt_io *disk_new(void)
{
    mt_io *disk = mt_disk_sim_new();
    mt_io_use(disk);
    MT_CHECK(disk->mkdir(disk, DISK) == 0 && disk->fsync_dir(disk, "/") == 0, "no folder");
    return disk;
}

static void disk_free(mt_io *disk)
{
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

/* A power cut after `ops` changes: recover from each state that it may leave, and let the run go on. */
static void cut(mt_io *disk, int64_t ops, int64_t least, int64_t most)
{
    int64_t states = mt_disk_sim_states(disk, ops);
    now.most = mt_max(now.most, states);
    for (int64_t s = 0; s < states && !enough(); s++) {
        mt_io *left = mt_disk_sim_cut(disk, ops, s);
        mt_io_use(left);
        int64_t step = faults_recovered(DISK, SMALL), next = mt_max(step, 0) + 1;
        point(step, least, most, "power cut after %" PRId64 " changes, state %" PRId64, ops, s);
        if (faults_save(DISK, SMALL, next, false) != MT_OK || faults_recovered(DISK, SMALL) != next)
            point(FAULTS_NONE, next, next, "the save after a cut after %" PRId64 " changes, state %" PRId64 " (%s)",
                  ops, s, mt_last_error());
        disk_free(left);
        mt_io_use(disk);
    }
}

/* Even steps up to 12, then the last one again, in place of itself: cuts after each change. What is saved after a cut
 * is an odd step, so that parts of a newer one may be there. */
static void cuts(void)
{
    int64_t points = now.points, lost = now.lost, last = FAULTS_NONE;
    mt_io *disk = disk_new();
    const int64_t steps[] = { 2, 4, 6, 8, 10, 12, 12 };
    now.progress = mt_progress_begin("saves", MT_COUNT(steps));
    for (int64_t i = 0; i < MT_COUNT(steps); i++) {
        int64_t begin = mt_disk_sim_ops(disk);
        if (faults_save(DISK, SMALL, steps[i], i % 2) != MT_OK)
            point(FAULTS_NONE, steps[i], steps[i], "a save without a fault: %s", mt_last_error());
        int64_t end = mt_disk_sim_ops(disk);
        for (int64_t ops = begin; ops < end && !enough(); ops++)
            cut(disk, ops, last, steps[i]);
        cut(disk, end, steps[i], steps[i]);
        last = steps[i];
        mt_progress_show(&now.progress, i + 1, "power cuts %" PRId64, now.points);
    }
    disk_free(disk);
    row("the power is cut (simulated disk)", points, lost);
    if (now.most >= 4096)
        printf("  only the first 4096 states of some cuts\n");
}

static const int errors[] = { EIO, ENOSPC, EINTR, EROFS };

/* Call n of the save of step 2 fails; false: it has not so many. */
static bool call_fails(int64_t n, int error, bool from)
{
    mt_io *disk = disk_new();
    mt_status status = faults_save(DISK, SMALL, 1, false);
    mt_disk_sim_fail(disk, n, error, from);
    if (status == MT_OK)
        status = faults_save(DISK, SMALL, 2, n % 2);
    bool failed = mt_disk_sim_failed(disk);
    mt_disk_sim_fail(disk, -1, 0, false);
    if (status != MT_OK && !failed)
        point(FAULTS_NONE, 2, 2, "a save without a fault: %s", mt_last_error());
    int64_t least = status == MT_OK ? 2 : 1;
    point(faults_recovered(DISK, SMALL), least, 2, "call %" PRId64 " fails: %s", n, strerror(error));
    cut(disk, mt_disk_sim_ops(disk), least, 2);
    disk_free(disk);
    return failed;
}

static void calls(bool quick)
{
    int64_t points = now.points, lost = now.lost, turns = quick ? 2 : 2 * MT_COUNT(errors);
    now.progress = mt_progress_begin("sweeps", turns);
    for (int64_t t = 0; t < turns; t++) {
        for (int64_t n = 0; !enough() && call_fails(n, errors[t / 2], t % 2);)
            n++;
        mt_progress_show(&now.progress, t + 1, "calls that fail %" PRId64, now.points - points);
    }
    row("a call fails, then the power is cut (simulated disk)", points, lost);
}

/* ---- the operating system -------------------------------------------------------------------------------- */

static void remove_all(const char *dir)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        mt_warn("%s is still there", dir);
}

/* As call_fails, in a real folder. What is not an error of the call (half of a write, an interrupted one) must not be
 * one of the save. */
static bool system_fails(const char *dir, int64_t n, int error)
{
    remove_all(dir);
    mkdir(dir, 0777);
    mt_status status = faults_save(dir, SMALL, 1, false);
    faults_fail(n, error);
    if (status == MT_OK)
        status = faults_save(dir, SMALL, 2, n % 2);
    bool failed = faults_os.failed;
    const char *what = faults_os.what;
    bool harmless = !failed || error == 0 || (error == EINTR && strcmp(what, "write") == 0);
    faults_fail(-1, 0);
    point(faults_recovered(dir, SMALL), status == MT_OK || harmless ? 2 : 1, 2, "%s, call %" PRId64 ", fails: %s", what,
          n, strerror(error));
    if (faults_save(dir, SMALL, 3, false) != MT_OK || faults_recovered(dir, SMALL) != 3)
        point(FAULTS_NONE, 3, 3, "the save after %s, call %" PRId64, what, n);
    return failed;
}

static void system_calls(const char *dir, bool quick)
{
    int64_t points = now.points, lost = now.lost, turns = quick ? 2 : MT_COUNT(errors) + 1;
    const int each[] = { 0, EINTR, EIO, ENOSPC, EROFS };
    now.progress = mt_progress_begin("sweeps", turns);
    for (int64_t t = 0; t < turns; t++)
        for (int64_t n = 0; !enough() && system_fails(dir, n, each[t]); n++)
            mt_progress_show(&now.progress, t, "calls of the system that fail %" PRId64, now.points - points);
    row("a call of the operating system fails", points, lost);
}

/* ---- kills ----------------------------------------------------------------------------------------------- */

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){ (time_t)seconds, (long)(1e9 * (seconds - floor(seconds))) }, NULL);
}

/* The last step that comes from the pipe: of those that are there, or with `wait` the next one at least. */
static int64_t last_of(int pipe, int64_t last, bool wait)
{
    struct pollfd ready = { .fd = pipe, .events = POLLIN };
    while (poll(&ready, 1, wait ? 60000 : 0) == 1 && read(pipe, &last, sizeof last) == sizeof last)
        wait = false;
    return last;
}

/* One process, killed: in every fifth at a moment after its start, otherwise within two saves after a save. */
static int64_t kill_one(const char *dir, int64_t k, int64_t last, mt_rng *rng)
{
    static double start = 0.05, save = 0.05; /* seconds that a start and a save have taken */
    int ends[2];
    MT_CHECK(pipe(ends) == 0, "no pipe: %s", strerror(errno));
    double began = mt_now();
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        syscall(SYS_close, ends[0]);
        execl("/proc/self/exe", "faults", "--saver", dir, NULL);
        _exit(127);
    }
    MT_CHECK(process > 0, "no process: %s", strerror(errno));
    close(ends[1]);
    if (k % 5) {
        last = last_of(ends[0], last, true);
        start = mt_now() - began;
        last = last_of(ends[0], last, true);
        save = mt_now() - began - start;
    }
    sleep_for((k % 5 ? 2 * save : start) * mt_rng_uniform(rng));
    kill(process, SIGKILL);
    int ended;
    waitpid(process, &ended, 0);
    last = last_of(ends[0], last, false);
    close(ends[0]);
    int64_t step = faults_recovered(dir, LARGE);
    if (!WIFSIGNALED(ended))
        step = FAULTS_NONE; /* it could not save */
    point(step, last, last + 1, "kill %" PRId64, k);
    return step >= 0 ? step : last;
}

static void kills(const char *dir, const options *o)
{
    int64_t points = now.points, lost = now.lost, last = FAULTS_NONE;
    char what[80];
    mt_rng rng = mt_rng_new((uint64_t)o->seed, MT_STREAM_TEST);
    remove_all(dir);
    mkdir(dir, 0777);
    now.progress = mt_progress_begin("kills", mt_max(o->kills, 1));
    for (int64_t k = 0; k < o->kills; k++) {
        last = kill_one(dir, k, last, &rng);
        mt_progress_show(&now.progress, k + 1, "kill -9, %" PRId64 " steps saved", last + 1);
    }
    snprintf(what, sizeof what, "kill -9 of a process that saves (--seed %" PRId64 ")", o->seed);
    row(what, points, lost);
    printf("  %" PRId64 " checkpoints were written meanwhile\n", last + 1);
}

/* ---- what checkpoints cost ------------------------------------------------------------------------------- */

/* A save of a minute, a restart of two. The law: C / t + t / 2M. */
static mt_status waste(const options *o)
{
    const double hours[] = { 1, 4, 24 }, cost = 60, restart = 120;
    enum { FROM = -3, TO = 3, RUNS = 3 };
    FILE *csv = bench_csv_open(o->csv, "log2 of interval / Young's,law 1 h,simulated 1 h,law 4 h,simulated 4 h,"
                                       "law 24 h,simulated 24 h,seconds 1 h,seconds 4 h,seconds 24 h");
    printf("\nwaste %%, simulated (and C / t + t / 2M): a save takes 60 s, a restart 120 s\n%-24s",
           "interval / Young's");
    for (int m = 0; m < RUNS; m++)
        printf("    a failure in %2g h", hours[m]);
    printf("\n");
    for (double e = FROM; e <= TO; e += 0.5) {
        double law[RUNS], simulated[RUNS], seconds[RUNS];
        for (int m = 0; m < RUNS; m++) {
            double mtbf = 3600 * hours[m], t = seconds[m] = exp2(e) * mt_young_interval(cost, mtbf);
            mt_rng rng = mt_rng_new(1, (uint64_t)m);
            mt_run_plan plan = { (o->quick ? 1000 : 20000) * mtbf, t, cost, restart, mtbf };
            simulated[m] = 100 * mt_run_waste(&plan, &rng);
            law[m] = 100 * (cost / t + t / (2 * mtbf));
        }
        if (csv)
            fprintf(csv, "%g,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.1f,%.1f,%.1f\n", e, law[0], simulated[0], law[1],
                    simulated[1], law[2], simulated[2], seconds[0], seconds[1], seconds[2]);
        if (e != floor(e))
            continue;
        printf("%-24g", exp2(e));
        for (int m = 0; m < RUNS; m++)
            printf("    %7.1f (%7.1f)", simulated[m], law[m]);
        printf("\n");
    }
    bench_csv_close(csv, o->csv);
    const mt_curve curve = {
        .title = "Work lost to saves and failures; a save takes a minute",
        .x = "log2 of interval / Young's",
        .left = "% of the time",
        .line = { { "law 1 h", "C/t + t/2M, M = 1 h", MT_CURVE_LEFT },
                  { "simulated 1 h", "simulated, M = 1 h", MT_CURVE_LEFT },
                  { "law 4 h", "C/t + t/2M, M = 4 h", MT_CURVE_LEFT },
                  { "simulated 4 h", "simulated, M = 4 h", MT_CURVE_LEFT },
                  { "law 24 h", "C/t + t/2M, M = 24 h", MT_CURVE_LEFT },
                  { "simulated 24 h", "simulated, M = 24 h", MT_CURVE_LEFT } },
    };
    return o->svg && o->csv ? mt_curve_svg(o->svg, o->csv, &curve) : MT_OK;
}

/* ---- the program ----------------------------------------------------------------------------------------- */

/* The model of step 7, from the shards of any writer. */
static mt_status check(const char *dir)
{
    faults_run r;
    faults_begin(&r, LARGE / 64, -5);
    mt_status status = mt_shards_load(dir, "model", &r.model, false);
    if (status == MT_OK && !faults_is(&r, 7, false))
        status = mt_fail(MT_ERR_FORMAT, "%s: other bits than those of step 7", dir);
    faults_end(&r);
    return status;
}

static mt_status sweep(const options *o)
{
    char dir[256];
    snprintf(dir, sizeof dir, "%s/faults.XXXXXX", o->dir);
    if (!mkdtemp(dir))
        return mt_fail(MT_ERR_IO, "%s: %s", dir, strerror(errno));
    printf("%-58s %8s %8s\n", "what happens", "points", "lost");
    calls(o->quick);
    cuts();
    system_calls(dir, o->quick);
    kills(dir, o);
    remove_all(dir);
    mt_status status = waste(o);
    printf("\nfaults: %" PRId64 " points, %" PRId64 " lost\n", now.points, now.lost);
    return status == MT_OK && now.lost ? mt_fail(MT_ERR_FORMAT, "checkpoints were lost") : status;
}

int main(int argc, char **argv)
{
    options o = { .dir = "/tmp", .kills = -1, .seed = (int64_t)time(NULL) };
    mt_cli_parse(argc, argv, "Interrupt saves in every way, and recover.", flags, &o);
    setenv("MT_LOG", "error", 1); /* old checkpoints that cannot be removed are not a loss */
    if (o.kills < 0)
        o.kills = o.quick ? 12 : 50;
    if (o.saver)
        return mt_cli_exit(faults_forever(o.saver, LARGE));
    if (o.save)
        return mt_cli_exit(faults_save(o.save, LARGE / 64, 7, false));
    return mt_cli_exit(o.check ? check(o.check) : sweep(&o));
}
