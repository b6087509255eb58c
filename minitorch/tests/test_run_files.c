/* test_run_files.c -- files and output of programs: metrics that are complete at any moment, progress lines, options
 * of the command line, folders. */
#include "aborts.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device.h"
#include "cli/cli.h"
#include "prof/metrics_csv.h"
#include "cli/progress.h"

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/mt_run_XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    cr_assert(system(command) == 0);
}

TestSuite(run_files, .init = make_dir, .fini = remove_dir);

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

/* text_of -- the whole of a small file, "" when there is none. */
static const char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* ---- metrics ------------------------------------------------------------------------------------ */

Test(run_files, metrics_are_written_until_they_are_closed)
{
    mt_metrics *metrics;
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(again ? mt_metrics_resume(&metrics, path_of("m.csv"), "step,loss", 0)
                           : mt_metrics_open(&metrics, path_of("m.csv"), "step,loss"),
                     MT_OK);
        int fd = open(path_of("m.csv"), O_RDONLY);
        cr_assert(mt_metrics_written(fd));
        mt_metrics_close(metrics);
        cr_assert_not(mt_metrics_written(fd));
        close(fd);
    }
}

Test(run_files, metrics_go_on_after_the_rows_that_count)
{
    const char *path = path_of("resumed.csv");
    mt_metrics *metrics;
    char text[64] = { 0 };
    cr_assert_eq(mt_metrics_open(&metrics, path, "step,loss"), MT_OK);
    for (int i = 1; i <= 3; i++)
        cr_assert_eq(mt_metrics_row(metrics, "%d,%d", i, 10 - i), MT_OK);
    mt_metrics_close(metrics);
    cr_assert_eq(mt_metrics_resume(&metrics, path, "step,loss", 4), MT_ERR_FORMAT);
    cr_assert_eq(mt_metrics_resume(&metrics, path, "step", 1), MT_ERR_FORMAT);
    cr_assert_eq(mt_metrics_resume(&metrics, path_of("none.csv"), "step,loss", 1), MT_ERR_IO);
    cr_assert_eq(mt_metrics_resume(&metrics, path, "step,loss", 2), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_metrics_row(metrics, "3,6"), MT_OK);
    mt_metrics_close(metrics);
    FILE *file = fopen(path, "r");
    cr_assert(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    cr_assert_str_eq(text, "step,loss\n1,9\n2,8\n3,6\n");
}

Test(run_files, every_row_is_on_disk_at_once)
{
    mt_metrics *metrics;
    const char *path = path_of("m.csv");
    cr_assert_eq(mt_metrics_open(&metrics, path, "epoch,loss"), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(text_of(path), "epoch,loss\n");
    cr_assert_eq(mt_metrics_row(metrics, "%d,%.2f", 1, 0.5), MT_OK);
    cr_expect_str_eq(text_of(path), "epoch,loss\n1,0.50\n");
    mt_metrics_close(metrics);
    cr_assert_eq(mt_metrics_open(&metrics, path, "a"), MT_OK);
    cr_expect_str_eq(text_of(path), "a\n", "an older file must be replaced");
    mt_metrics_close(metrics);
}

/* A file size limit of 20 bytes simulates a full disk: 11 + 7 bytes fit, the next row only in part. */
Test(run_files, full_disk_leaves_whole_rows)
{
    mt_metrics *metrics;
    const char *path = path_of("m.csv");
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(mt_metrics_open(&metrics, path, "epoch,loss"), MT_OK);
    cr_assert_eq(mt_metrics_row(metrics, "1,0.50"), MT_OK);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 20;
    setrlimit(RLIMIT_FSIZE, &small);
    mt_status status = mt_metrics_row(metrics, "2,0.25");
    setrlimit(RLIMIT_FSIZE, &old);
    cr_expect_eq(status, MT_ERR_IO);
    cr_expect(strstr(mt_last_error(), path) != NULL, "%s", mt_last_error());
    cr_expect_str_eq(text_of(path), "epoch,loss\n1,0.50\n");
    cr_expect_eq(mt_metrics_row(metrics, "2,0.25"), MT_OK);
    cr_expect_str_eq(text_of(path), "epoch,loss\n1,0.50\n2,0.25\n");
    mt_metrics_close(metrics);
}

Test(run_files, metrics_to_a_path_that_cannot_be_written)
{
    mt_metrics *metrics = NULL;
    cr_expect_eq(mt_metrics_open(&metrics, path_of("no/such/m.csv"), "a"), MT_ERR_IO);
    cr_expect(metrics == NULL && strstr(mt_last_error(), "no/such/m.csv") != NULL, "%s", mt_last_error());
}

/* ---- progress, numbers, folders ------------------------------------------------------------------- */

Test(run_files, progress_line)
{
    char text[120];
    mt_progress progress = mt_progress_begin("samples", 1000);
    mt_progress_text(text, sizeof text, &progress, 250, 0.5); /* 250 in half a second: 500 a second, 750 to go */
    cr_expect_str_eq(text, "[######..................]  25 %  500 samples/s  2 s left");
    mt_progress_text(text, sizeof text, &progress, 0, 0);
    cr_expect_str_eq(text, "[........................]   0 %  0 samples/s");
    mt_progress_text(text, sizeof text, &progress, 1000, 2);
    cr_expect_str_eq(text, "[########################] 100 %  500 samples/s  0 s left");
    mt_progress_text(text, sizeof text, &progress, 4, 10); /* below one a second: seconds each */
    cr_expect_str_eq(text, "[........................]   0 %  2.5 s/sample  42 min left");
    mt_progress_text(text, sizeof text, &progress, 250, 100);
    cr_expect_str_eq(text, "[######..................]  25 %  2.5 samples/s  5 min left");
    mt_progress_text(text, 10, &progress, 250, 0.5);
    cr_expect_str_eq(text, "[######..");
}

Test(run_files, durations)
{
    static const struct {
        double seconds;
        const char *text;
    } want[] = { { 0, "0 s" },          { 119.4, "119 s" },      { 120, "2 min" },        { 719, "12 min" },
                 { 7170, "2 h 0 min" }, { 12000, "3 h 20 min" }, { 86400, "24 h 0 min" }, { 200000, "2 d 7 h" } };
    char text[32];
    for (int i = 0; i < MT_COUNT(want); i++)
        cr_expect_str_eq(mt_progress_duration(text, want[i].seconds), want[i].text);
}

/* After its first steps a long loop says once how long it will take, in a log too. */
Test(run_files, a_long_loop_says_how_long_it_takes)
{
    const char *said = path_of("said");
    cr_assert(freopen(said, "w", stderr) != NULL);
    mt_progress slow = mt_progress_begin("steps", 1000), fast = slow;
    slow.started -= 12, fast.started -= 0.01;
    for (int done = 1; done < 8; done++) {
        mt_progress_show(&slow, done, "loss");
        mt_progress_show(&fast, done, "loss");
    }
    fflush(stderr);
    cr_expect_str_eq(text_of(said), "1000 steps, 2.4 s/step: about 40 min\n");
}

/* A log of both streams is in order, and a run that is killed leaves what it has printed. */
Test(run_files, a_line_of_progress_comes_after_what_was_printed)
{
    const char *said = path_of("said");
    cr_assert(freopen(said, "a", stdout) != NULL && freopen(said, "a", stderr) != NULL);
    setvbuf(stderr, NULL, _IONBF, 0); /* as it is at the start of a program */
    mt_progress told = mt_progress_begin("steps", 1000), shown = told;
    told.started -= 12, told.next = mt_now() + 3600;
    shown.told = true, shown.next = 0; /* at once */
    printf("a header\n");
    mt_progress_show(&told, 5, "loss");
    printf("a row\n");
    mt_progress_show(&shown, 500, "loss");
    cr_expect(strncmp(text_of(said), "a header\n1000 steps, 2.4 s/step: about 40 min\na row\nloss  [", 59) == 0, "%s",
              text_of(said));
}

Test(run_files, progress_line_fits_a_narrow_terminal)
{
    const struct winsize narrow = { .ws_row = 24, .ws_col = 40 };
    char shown[512];
    int terminal, end;
    cr_assert_eq(openpty(&terminal, &end, NULL, NULL, &narrow), 0);
    dup2(end, STDERR_FILENO);
    mt_progress progress = mt_progress_begin("samples", 1000);
    cr_expect_eq(progress.mode, MT_PROGRESS_BAR);
    progress.next = 0; /* at once */
    mt_progress_show(&progress, 500, "epoch  1/10  loss 0.1234");
    ssize_t n = read(terminal, shown, sizeof shown - 1);
    shown[n > 0 ? n : 0] = '\0';
    cr_expect_str_eq(shown, "\repoch  1/10  loss 0.1234  [############\033[K"); /* 39 columns */
}

Test(run_files, numbers)
{
    static const char *const bad[] = { "", "x", "3x", "3 ", "0", "101", "99999999999999999999", "1.5" };
    int64_t n = -1;
    double v = -1;
    static const char *const no_size[] = { "", "MB", "0", "-1", "0.5", "1 GB", "1gb", "1e30", "nan", "2GBs" };
    for (int64_t i = 0; i < MT_COUNT(no_size); i++)
        cr_expect(mt_cli_bytes(&n, no_size[i]) == MT_ERR_ARGUMENT && n == -1, "'%s' gave %ld", no_size[i], (long)n);
    cr_expect(mt_cli_bytes(&n, "12") == MT_OK && n == 12);
    cr_expect(mt_cli_bytes(&n, "2.5GB") == MT_OK && n == 2500000000);
    cr_expect(mt_cli_bytes(&n, "1.5MiB") == MT_OK && n == 3 << 19);
    n = -1;
    for (int64_t i = 0; i < MT_COUNT(bad); i++)
        cr_expect(mt_cli_i64(&n, bad[i], 1, 100) == MT_ERR_ARGUMENT && n == -1, "'%s' gave %ld", bad[i], (long)n);
    cr_expect(mt_cli_i64(&n, "100", 1, 100) == MT_OK && n == 100);
    cr_expect(mt_cli_f64(&v, "nan", 0, 1) == MT_ERR_ARGUMENT && mt_cli_f64(&v, "1.01", 0, 1) == MT_ERR_ARGUMENT);
    cr_expect(mt_cli_f64(&v, "1e-3", 0, 1) == MT_OK && v == 1e-3);
}

typedef struct inner {
    double rate;
    mt_device device;
} inner;

typedef struct outer {
    int64_t steps;
    const char *out;
    bool quiet;
    int64_t from;
    inner group;
} outer;

static mt_status parse_from(const char *text, void *from)
{
    *(int64_t *)from = -1;
    return text ? mt_cli_i64(from, text, 1, 9) : MT_OK;
}

static const mt_option inner_flags[] = {
    { "rate", 0, "RATE", MT_F64(inner, rate, 0, 1), "A number" },
    { "device", 'D', "NAME", MT_PARSED(inner, device, mt_cli_device), "A device" },
    { 0 },
};

static const mt_option outer_flags[] = {
    { "steps", 's', "N", MT_I64(outer, steps, 1, INT64_MAX), "A whole number" },
    { "out", 'o', "DIR", MT_TEXT(outer, out), "A text" },
    { "quiet", 'q', NULL, MT_FLAG(outer, quiet), "A flag" },
    { "from", 0, "[N", MT_PARSED(outer, from, parse_from), "A value that may be left out" },
    { "group", 0, NULL, MT_GROUP(outer, group, inner_flags), "More:" },
    { 0 },
};

Test(run_files, options_of_every_kind)
{
    outer o = { .steps = 7, .group.rate = 0.5 };
    char *some[] = { "test", "a", "-q", "--steps=9223372036854775807", "b", "--rate", "0.25", "-Dcpu", NULL };
    mt_words words = mt_cli_parse_words(8, some, "A test.", outer_flags, &o, "FILE...", 2);
    cr_expect(o.steps == INT64_MAX && o.quiet && o.group.rate == 0.25 && !o.out && o.group.device == MT_CPU);
    cr_expect(words.count == 2 && strcmp(words.item[0], "a") == 0 && strcmp(words.item[1], "b") == 0);
    char *none[] = { "test", "-o", "x", NULL };
    mt_cli_parse(3, none, "A test.", outer_flags, &o);
    cr_expect(o.steps == INT64_MAX && strcmp(o.out, "x") == 0);
}

Test(run_files, an_option_whose_value_may_be_left_out)
{
    static char *const given[][4] = {
        { "t", "--from=7" }, { "t", "--from", "7" }, { "t", "--from" }, { "t", "--from", "-q" }
    };
    for (int i = 0; i < MT_COUNT(given); i++) {
        outer o = { 0 };
        int count = given[i][2] ? 3 : 2;
        mt_cli_parse(count, (char *[]){ given[i][0], given[i][1], given[i][2], NULL }, "A test.", outer_flags, &o);
        cr_expect(o.from == (i < 2 ? 7 : -1) && o.quiet == (i == 3), "%d: %ld", i, (long)o.from);
    }
}

Test(run_files, wrong_options_end_the_program_in_words)
{
    static char *const wrong[][3] = {
        { "--steps", "0", "--steps: '0' is not a whole number from 1 to 9223372036854775807" },
        { "--rate", "2", "--rate: '2' is not a number from 0 to 1" },
        { "-D", "gpu", "--device: " },
        { "-q", "word", "unexpected argument 'word'" },
        { "--from", "77", "--from: '77' is not a whole number from 1 to 9" },
        { "-q", "--bogus", "unrecognized option '--bogus'" },
        { "-q", "--steps", "option '--steps' requires an argument" },
    };
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        ending end;
        outer o = { 0 };
        if (run_in_child(&end) == 0) {
            mt_cli_parse(3, (char *[]){ "test", wrong[i][0], wrong[i][1], NULL }, "A test.", outer_flags, &o);
            _exit(0);
        }
        cr_expect(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 64, "%s %s", wrong[i][0], wrong[i][1]);
        cr_expect(strstr(end.said, wrong[i][2]), "\"%s\" does not say \"%s\"", end.said, wrong[i][2]);
    }
}

Test(run_files, folders)
{
    struct stat info;
    cr_expect_eq(mt_cli_folder(path_of("a/b/c")), MT_OK, "%s", mt_last_error());
    cr_expect_eq(mt_cli_folder(path_of("a/b/c/")), MT_OK, "%s", mt_last_error());
    cr_expect(stat(path_of("a/b/c"), &info) == 0 && S_ISDIR(info.st_mode));
    mt_metrics *file;
    cr_assert_eq(mt_metrics_open(&file, path_of("file"), "a file"), MT_OK);
    mt_metrics_close(file);
    cr_expect_eq(mt_cli_folder(path_of("file")), MT_ERR_IO);
    cr_expect_eq(mt_cli_folder(path_of("file/x")), MT_ERR_IO);
    cr_expect_eq(mt_cli_folder(""), MT_ERR_ARGUMENT);
}

Test(run_files, stop)
{
    mt_cli_catch_stop();
    cr_expect_not(mt_cli_stopped());
    raise(SIGINT);
    cr_expect(mt_cli_stopped());
    cr_expect_eq(mt_cli_exit(MT_ERR_STOPPED), 128 + SIGINT);
    struct sigaction now;
    sigaction(SIGINT, NULL, &now);
    cr_expect(now.sa_handler == SIG_DFL, "a second Ctrl-C must kill");
}
