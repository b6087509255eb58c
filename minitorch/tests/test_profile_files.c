/* test_profile_files.c -- the profiler's files: summary, trace, timeline; complete, or not written at all. */
#include "aborts.h"
#include "profile_work.h"
#include "prof/put.h"
#include "prof/recorder.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SAYS(words) cr_assert(strstr(mt_last_error(), words), "\"%s\" does not say \"%s\"", mt_last_error(), words)

static char dir[64];

static void dir_make(void)
{
    strcpy(dir, "/tmp/mt_profile_XXXXXX");
    cr_assert(mkdtemp(dir) != NULL);
}

static void dir_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    cr_assert(system(command) == 0);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0, "something was not freed");
}

/* DIR/name; valid until 4 more calls. */
static const char *in_dir(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}
TestSuite(profile_files, .init = dir_make, .fini = dir_remove, .timeout = 60);

/* ---- helpers ------------------------------------------------------------------------------------------------- */

static char *content_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *text = calloc(size + 1, 1);
    rewind(file);
    cr_assert_eq(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

static bool tool_accepts(const char *tool, const char *command, const char *path)
{
    char line[512];
    snprintf(line, sizeof line, "command -v %s >/dev/null", tool);
    if (system(line) != 0)
        return true; /* not installed */
    snprintf(line, sizeof line, "%s '%s' >/dev/null", command, path);
    return system(line) == 0;
}

/* cJSON, loaded with dlopen: tests are not linked with it. */
static void *json_function(const char *name)
{
    void *library = dlopen("libcjson.so.1", RTLD_NOW);
    cr_assert(library, "%s (apt install libcjson1)", dlerror());
    return dlsym(library, name);
}

static cJSON *json_of(const char *path)
{
    cJSON *(*parse)(const char *) = (cJSON * (*)(const char *)) json_function("cJSON_Parse");
    char *text = content_of(path);
    cJSON *json = parse(text);
    cr_assert(json, "%s is not JSON: %.200s", path, text);
    free(text);
    return json;
}

static void json_free(cJSON *json)
{
    ((void (*)(cJSON *))json_function("cJSON_Delete"))(json);
}

static cJSON *item(const cJSON *object, const char *key)
{
    for (cJSON *child = object ? object->child : NULL; child; child = child->next)
        if (child->string && strcmp(child->string, key) == 0)
            return child;
    return NULL;
}

/* The n-th trace event of this phase and name, NULL when there are fewer. */
static cJSON *trace_event(const cJSON *json, const char *phase, const char *name, int n)
{
    for (cJSON *e = item(json, "traceEvents")->child; e; e = e->next)
        if (strcmp(item(e, "ph")->valuestring, phase) == 0 && strcmp(item(e, "name")->valuestring, name) == 0 &&
            n-- == 0)
            return e;
    return NULL;
}
/* ---- recordings ---------------------------------------------------------------------------------------------- */

static mt_profile *recorded(void)
{
    mt_profile *p = NULL;
    cr_assert_eq(mt_profile_read(&p, in_dir("spans.bin"), 0), MT_OK, "%s", mt_last_error());
    return p;
}

Test(profile_files, a_recording_is_read_back_and_that_of_a_killed_program_too)
{
    struct stat info;
    cr_assert_eq(mt_record_begin(in_dir("spans.bin")), MT_OK);
    outer_work();
    cr_assert_eq(mt_record_end(12345), MT_OK);
    mt_profile *p = recorded();
    cr_assert(p->spans == 3 && p->flops == 210 && p->model_flops == 12345 && p->omp_threads > 0 && p->line_count == 2);
    mt_profile_free(p);
    stat(in_dir("spans.bin"), &info);
    cr_assert_eq(truncate(in_dir("spans.bin"), info.st_size - (int64_t)sizeof(mt_recorded) - 3), 0); /* into a name */
    p = recorded();
    cr_assert(p->spans == 2 && p->flops == 200 && p->model_flops == 0 && p->seconds >= 0.004);
    mt_profile_free(p);
}

Test(profile_files, what_is_no_recording_is_refused)
{
    mt_profile *p = NULL;
    cr_assert_eq(mt_record_begin("/nowhere/spans.bin"), MT_ERR_IO);
    cr_assert_eq(mt_profile_read(&p, in_dir("nonesuch"), 0), MT_ERR_IO);
    FILE *file = fopen(in_dir("spans.bin"), "w");
    fputs("something else", file);
    fclose(file);
    cr_assert_eq(mt_profile_read(&p, in_dir("spans.bin"), 0), MT_ERR_FORMAT);
    SAYS("spans.bin: not a recording");
    file = fopen(in_dir("spans.bin"), "w");
    fputs(MT_RECORD_MAGIC, file);
    for (int i = 0; i < 200; i++)
        fputc(7, file);
    fclose(file);
    cr_assert_eq(mt_profile_read(&p, in_dir("spans.bin"), 0), MT_ERR_FORMAT);
    SAYS("damaged after 0 spans");
    cr_assert_null(p);
}

Test(profile_files, a_full_disk_is_reported_at_the_end)
{
    cr_assert_eq(mt_record_begin("/dev/full"), MT_OK);
    outer_work();
    cr_assert_eq(mt_record_end(0), MT_ERR_IO);
    cr_assert_eq(mt_record_begin(in_dir("spans.bin")), MT_OK); /* and the next one is possible */
    cr_assert_eq(mt_record_end(0), MT_OK);
}

/* ---- names that are no names --------------------------------------------------------------------------------- */

#define NASTY "a\"b\\c<d>&'\n\t\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 \xff\xc3 \xed\xa0\x80 \xc0\xaf"
#define NASTY_READ \
    "a\"b\\c<d>&'\n\t\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 " BAD BAD " " BAD BAD BAD " " BAD BAD
#define BAD "\xef\xbf\xbd"

static void *nasty_loader(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "<&\"\x02\xfe");
    MT_SPAN(NASTY);
    return NULL;
}

static mt_profile *some_profile(void)
{
    pthread_t thread;
    int calls = 3;
    mt_profile_begin(0);
    outer_work();
    allocate(3 << 20);
    pthread_create(&thread, NULL, nasty_loader, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, loader, &calls);
    pthread_join(thread, NULL);
    return mt_profile_end();
}

Test(profile_files, trace_is_json_that_perfetto_can_read)
{
    mt_profile *p = some_profile();
    const char *path = in_dir("trace.json");
    setlocale(LC_ALL, "de_DE.UTF-8"); /* a comma for a point, where that locale is there */
    cr_assert_eq(mt_profile_trace(p, path), MT_OK, "%s", mt_last_error());
    cJSON *json = json_of(path), *outer = trace_event(json, "X", "outer", 0),
          *inner = trace_event(json, "X", "inner", 1);
    cr_assert(outer && inner && !trace_event(json, "X", "inner", 2));
    cr_assert(item(outer, "dur")->valuedouble >= 5000, "microseconds");
    cr_assert(item(inner, "ts")->valuedouble >= item(outer, "ts")->valuedouble + 2000);
    cr_assert(item(inner, "ts")->valuedouble + item(inner, "dur")->valuedouble <=
              item(outer, "ts")->valuedouble + item(outer, "dur")->valuedouble + 0.002);
    cr_assert_eq(item(item(outer, "args"), "flops")->valueint, 10);
    cr_assert_eq(item(item(outer, "args"), "bytes")->valueint, 100);
    cr_assert(trace_event(json, "X", NASTY_READ, 0), "every name is written so that it can be read back");
    cr_assert(trace_event(json, "M", "thread_name", 2) && !trace_event(json, "M", "thread_name", 3));
    cr_assert(item(trace_event(json, "X", "fetch", 2), "tid")->valueint != item(outer, "tid")->valueint);
    cr_assert_eq(item(item(json, "otherData"), "dropped")->valueint, 0);
    json_free(json);
    cr_assert(tool_accepts("python3", "python3 -m json.tool", path));
    mt_profile_free(p);
}

Test(profile_files, trace_tells_memory_where_it_changes)
{
    mt_profile_begin(0);
    allocate(1);
    void *block = mt_alloc(1 << 20, MT_CPU);
    allocate(1);
    allocate(1);
    mt_free(block, 1 << 20, MT_CPU);
    allocate(1);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(mt_profile_trace(p, in_dir("trace.json")), MT_OK);
    cJSON *json = json_of(in_dir("trace.json"));
    cr_assert_eq(item(item(trace_event(json, "C", "live bytes", 0), "args"), "cpu")->valueint, 1 << 20);
    cr_assert_eq(item(item(trace_event(json, "C", "live bytes", 1), "args"), "cpu")->valueint, 0);
    cr_assert_null(trace_event(json, "C", "live bytes", 2));
    json_free(json);
    mt_profile_free(p);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

Test(profile_files, timeline_is_a_picture_with_lanes_and_legend)
{
    mt_profile *p = some_profile();
    const char *path = in_dir("timeline.svg");
    cr_assert_eq(mt_profile_timeline(p, path), MT_OK, "%s", mt_last_error());
    char *svg = content_of(path);
    cr_assert(strstr(svg, ">main</text>") && strstr(svg, ">loader 2</text>"));
    cr_assert_eq(count_of(svg, "<title>inner, "), 2, "a rectangle each, that tells its time");
    cr_assert_eq(count_of(svg, "<title>outer, "), 1);
    cr_assert(strstr(svg, " ms</text>"), "the time axis has a unit");
    cr_assert(strstr(svg, "&#34;b\\c&#60;d&#62;&#38;&#39;" BAD BAD BAD BAD " \xc3\xa9 \xe2\x82\xac"));
    cr_assert(tool_accepts("xmllint", "xmllint --noout", path));
    free(svg);
    mt_profile_free(p);
}

Test(profile_files, timeline_of_very_many_spans_stays_small_and_says_so)
{
    mt_profile_begin(0);
    for (int i = 0; i < 50000; i++) {
        MT_SPAN("short");
    }
    mt_profile *p = mt_profile_end();
    cr_assert_eq(mt_profile_timeline(p, in_dir("timeline.svg")), MT_OK);
    char *svg = content_of(in_dir("timeline.svg"));
    int drawn = count_of(svg, "<title>short"), narrow = 0;
    cr_assert(drawn > 100 && drawn <= 2 * 1070 + 1, "%d", drawn);
    cr_assert_eq(sscanf(strstr(svg, "Not drawn: "), "Not drawn: %d", &narrow), 1);
    cr_assert_eq(drawn + narrow, 50000, "%d drawn, %d not", drawn, narrow);
    free(svg);
    mt_profile_free(p);
}

Test(profile_files, an_empty_profile_can_be_written)
{
    mt_profile_begin(0);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(mt_profile_save(p, dir, NULL), MT_OK, "%s", mt_last_error());
    json_free(json_of(in_dir("trace.json")));
    cr_assert(tool_accepts("xmllint", "xmllint --noout", in_dir("timeline.svg")));
    mt_profile_free(p);
}

Test(profile_files, summary_has_a_line_per_name)
{
    mt_profile *p = some_profile();
    const mt_profile_roof roof = { .measured_flops = 1e3 / p->seconds,
                                   .given_flops = 1e4 / p->seconds,
                                   .model_flops = 500 };
    long long calls;
    double total, self, least, most;
    cr_assert_eq(mt_profile_save(p, dir, &roof), MT_OK, "%s", mt_last_error());
    char *text = content_of(in_dir("summary.txt"));
    cr_assert_eq(sscanf(strstr(text, "\ninner "), " inner %lld %lf %lf %lf %lf", &calls, &total, &self, &least, &most),
                 5);
    cr_assert_eq(calls, 2);
    cr_assert(total >= 4 && least >= 2000 && most >= least && self > 0 && self <= 100);
    cr_assert(strstr(text, "memory: at most 3.0 MiB on cpu\n"), "%s", text);
    cr_assert(strstr(text, "21.30 % by FLOPs counted"), "210 + 3 FLOPs of 1000: %s", text);
    cr_assert(strstr(text, "50.00 % by the model's (MFU)") && strstr(text, "5.00 % by the model's (MFU)"));
    cr_assert_eq(count_of(text, "\x01"), 0, "nothing that would disturb a terminal");
    free(text);
    mt_profile_free(p);
}

/* The folder contains only what it did before. */
static void folder_holds(const char *only)
{
    char command[256];
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = '%s'", dir, only);
    cr_assert_eq(system(command), 0);
}

Test(profile_files, what_cannot_be_written_is_told_and_changes_nothing)
{
    mt_profile *p = some_profile();
    cr_assert_eq(mt_profile_trace(p, "/nowhere/trace.json"), MT_ERR_IO);
    SAYS("/nowhere/trace.json: No such file");
    cr_assert_eq(mt_profile_timeline(p, "/nowhere/timeline.svg"), MT_ERR_IO);
    cr_assert_eq(mt_profile_save(p, "/nowhere", NULL), MT_ERR_IO);
    cr_assert_eq(mkdir(in_dir("a folder"), 0777), 0);
    cr_assert_eq(mt_profile_trace(p, in_dir("a folder")), MT_ERR_IO);
    folder_holds("a folder");
    mt_profile_free(p);
}

Test(profile_files, a_full_disk_leaves_the_old_file)
{
    mt_profile *p = some_profile();
    struct rlimit before, small = { 100, 100 };
    FILE *old = fopen(in_dir("trace.json"), "w");
    cr_assert(old && fputs("old", old) >= 0 && fclose(old) == 0);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    mt_status status = mt_profile_trace(p, in_dir("trace.json"));
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(status, MT_ERR_IO);
    SAYS("trace.json: File too large");
    char *text = content_of(in_dir("trace.json"));
    cr_assert_str_eq(text, "old");
    folder_holds("trace.json");
    free(text);
    mt_profile_free(p);
}

Test(profile_files, numbers_have_points)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } number[] = { { 0, 0, "0" },
                   { 1.005, 1, "1.0" },
                   { -0.04, 1, "0.0" },
                   { -2.5, 2, "-2.50" },
                   { 0.999, 2, "1.00" },
                   { NAN, 3, "0.000" },
                   { 12345678.9, 3, "12345678.900" } };
    for (int i = 0; i < MT_COUNT(number); i++) {
        char text[64] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        mt_put_fixed(out, number[i].value, number[i].decimals);
        fclose(out);
        cr_assert_str_eq(text, number[i].text);
    }
}
