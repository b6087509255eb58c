/* test_account.c -- what memory is used for: the table of live blocks, recordings of it, the account of a training step
 * whose sizes are known, and the files that show it. */
#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "memory/report.h"
#include "models/gpt2.h"
#include "optim/optim.h"
#include "prof/recorder.h"
#include "core/span.h"
#include "temp_dir.h"

#include <pthread.h>
#include <sys/resource.h>

TestSuite(account, .init = temp_dir_make, .fini = temp_dir_remove, .timeout = 60);

/* ---- the table of live blocks -------------------------------------------------------------------------------- */

/* Beside an array in which every block is looked for: few addresses, so that they collide and are used again. */
Test(account, the_table_finds_what_is_live)
{
    enum { ADDRESSES = 500, STEPS = 20000 };
    static int64_t want[MT_DEVICE_COUNT][ADDRESSES]; /* bytes; 0: nothing */
    mt_rng rng = mt_rng_new(1, 1);
    mt_blocks blocks = { 0 };
    int64_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        int d = (int)mt_rng_below(&rng, MT_DEVICE_COUNT), a = (int)mt_rng_below(&rng, ADDRESSES);
        uint64_t address = (uint64_t)a << (6 + 30 * (a % 2)); /* 64 B apart, and 64 GiB */
        const mt_block *found = mt_blocks_find(&blocks, (mt_device)d, address);
        cr_assert_eq(found ? found->bytes : 0, want[d][a], "step %d", step);
        count -= want[d][a] != 0;
        if (mt_rng_below(&rng, 2)) {
            want[d][a] = step + 1;
            mt_blocks_put(&blocks, &(mt_block){ .address = address, .bytes = step + 1, .device = (mt_device)d });
        } else {
            want[d][a] = 0;
            mt_blocks_remove(&blocks, (mt_device)d, address);
        }
        count += want[d][a] != 0;
        cr_assert_eq(blocks.count, count);
    }
    mt_blocks_free(&blocks);
    cr_assert_null(mt_blocks_find(&blocks, MT_CPU, 0));
    ABORTS("a block of 0 bytes", mt_blocks_put(&blocks, &(mt_block){ .address = 64 }));
    ABORTS("an account of 0 ops", mt_account_new(0));
}

/* ---- recordings ----------------------------------------------------------------------------------------------- */

static mt_profile *read_back(void)
{
    mt_profile *p = NULL;
    cr_assert_eq(mt_record_end(0), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_profile_read(&p, in_dir("memory.bin"), 0), MT_OK, "%s", mt_last_error());
    return p;
}

static void record(void)
{
    cr_assert_eq(mt_record_memory_begin(in_dir("memory.bin")), MT_OK, "%s", mt_last_error());
}

static void in_a_span(void **made)
{
    MT_SPAN_OF("backward", "linear");
    made[0] = mt_alloc(200, MT_CPU);
    mt_memory_use before = mt_alloc_for(MT_USE_GRADIENT);
    made[1] = mt_alloc(300, MT_CPU);
    mt_alloc_for(before);
    made[2] = mt_alloc(400, MT_CPU);
}

Test(account, a_recording_has_every_block_with_its_use_and_op)
{
    static const mt_memory_use uses[] = { MT_USE_OTHER, MT_USE_OTHER, MT_USE_ACTIVATION, MT_USE_GRADIENT,
                                          MT_USE_ACTIVATION };
    static const int64_t bytes[] = { 1000, 100, 200, 300, 400, -300 };
    void *made[3], *before = mt_alloc(1000, MT_CPU), *outside;
    record();
    outside = mt_alloc(100, MT_CPU);
    in_a_span(made);
    mt_free(made[1], 300, MT_CPU);
    mt_profile *p = read_back();
    cr_assert_eq(p->block_count, MT_COUNT(bytes));
    for (int i = 0; i < MT_COUNT(bytes); i++) {
        const mt_profile_block *b = &p->block[i];
        cr_expect(b->bytes == bytes[i] && b->device == MT_CPU, "%d", i);
        cr_expect(i >= MT_COUNT(uses) || b->use == uses[i], "%d: for %s", i, mt_use_name[b->use]);
        cr_expect(i >= 2 && i <= 4 ? b->op && strcmp(b->op, "linear backward") == 0 : !b->op, "%d: %s", i, b->op);
        cr_expect(i == 0 || b->at >= p->block[i - 1].at);
    }
    cr_assert(p->block[0].address == 0 && p->block[5].address == (uintptr_t)made[1]);
    cr_assert_eq(p->peak[MT_CPU], 2000);
    mt_profile_free(p);
    mt_free(before, 1000, MT_CPU);
    mt_free(outside, 100, MT_CPU);
    mt_free(made[0], 200, MT_CPU);
    mt_free(made[2], 400, MT_CPU);
}

static void *allocate_and_free(void *user)
{
    MT_SPAN("worker");
    mt_alloc_for(MT_USE_STATE); /* of this thread only */
    for (int i = 0; i < 2000; i++)
        mt_free(mt_alloc(64 + *(int *)user, MT_CPU), 64 + *(int *)user, MT_CPU);
    return mt_alloc(64, MT_CPU);
}

Test(account, threads_allocate_for_uses_of_their_own)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int number[THREADS] = { 0, 1, 2, 3 };
    void *left[THREADS];
    record();
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, allocate_and_free, &number[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], &left[t]);
    void *own = mt_alloc(500, MT_CPU);
    mt_profile *p = read_back();
    mt_account account = mt_memory_account(p);
    const mt_account_sums *live = &account.device[MT_CPU].live;
    cr_assert_eq(p->block_count, THREADS * 4001 + 1);
    cr_assert(live->all == THREADS * 64 + 500 && live->use[MT_USE_STATE] == THREADS * 64 &&
              live->use[MT_USE_OTHER] == 500);
    mt_account_free(&account);
    mt_profile_free(p);
    mt_free(own, 500, MT_CPU);
    for (int t = 0; t < THREADS; t++)
        mt_free(left[t], 64, MT_CPU);
}

/* ---- a training step whose sizes are known --------------------------------------------------------------------- */

typedef struct training {
    mt_module *model;
    mt_optim *optim;
    int64_t count; /* parameters */
} training;

static training begin_training(void)
{
    const mt_gpt2_config config = { .vocabulary = 64, .block = 16, .layers = 2, .heads = 2, .width = 32 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    training t = { .model = mt_gpt2_new(&config, &rng) };
    t.count = mt_module_count(t.model);
    t.optim = mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW));
    mt_state params = mt_module_params(t.model);
    for (int64_t i = 0; i < params.count; i++)
        mt_optim_add(t.optim, params.item[i].name, params.item[i].tensor);
    mt_state_free(&params);
    return t;
}

static void step(const training *t)
{
    mt_scope_begin();
    mt_tensor *ids = mt_zeros(MT_SHAPE(4, 16), MT_I32, MT_CPU);
    mt_backward(mt_gpt2_loss(t->model, ids, ids));
    mt_scope_end();
    mt_optim_step(t->optim);
}

/* The recording of a step from the model's making on. */
static mt_profile *recorded_step(int64_t *count, int64_t *peak)
{
    record();
    mt_peak_reset(MT_CPU);
    training t = begin_training();
    step(&t);
    *count = t.count;
    *peak = mt_peak_bytes(MT_CPU);
    mt_profile *p = read_back();
    mt_optim_zero_grad(t.optim);
    mt_optim_free(t.optim);
    mt_module_free(t.model);
    return p;
}

static int64_t sum(const int64_t *a, int64_t n)
{
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++)
        all += a[i];
    return all;
}

Test(account, bytes_of_a_step_are_exact)
{
    int64_t count, peak;
    mt_profile *p = recorded_step(&count, &peak);
    mt_account account = mt_memory_account(p);
    const mt_account_device *d = &account.device[MT_CPU];
    cr_expect_eq(d->peak.all, peak, "the peak is that which the allocator measured");
    cr_expect(sum(d->peak.use, MT_USES) == peak && sum(d->peak.op, account.ops) == peak);
    cr_expect_eq(d->peak.use[MT_USE_PARAMETER], 4 * count);
    cr_expect_eq(d->peak.use[MT_USE_STATE], 8 * count);
    cr_expect_eq(d->peak.use[MT_USE_OTHER], 4 * 4 * 16 + 4, "the batch, and the gradient of the loss");
    cr_expect_eq(d->live.use[MT_USE_GRADIENT], 4 * count);
    cr_expect(d->peak.use[MT_USE_GRADIENT] < 4 * count, "the peak is before the last gradient");
    cr_expect_eq(d->live.use[MT_USE_ACTIVATION], 0);
    cr_expect_eq(d->live.all, 16 * count);
    cr_expect_eq(account.device[MT_CUDA].peak.all, 0);
    for (int op = 0; op < account.ops; op++)
        cr_expect(d->op_most[op] <= peak && (op == d->peak_op) == (d->op_most[op] == peak));
    mt_account_free(&account);
    mt_profile_free(p);
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static char *content_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    char *text = calloc(1 << 22, 1);
    cr_assert(fread(text, 1, (1 << 22) - 1, file) > 0);
    fclose(file);
    return text;
}

static bool tool_accepts(const char *tool, const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "command -v %s >/dev/null", tool);
    return system(line) != 0 /* not installed */ || system(command) == 0;
}

Test(account, the_table_says_what_was_live_at_the_peak)
{
    int64_t count, peak;
    char line[128], text[4096] = "";
    mt_profile *p = recorded_step(&count, &peak);
    mt_account account = mt_memory_account(p);
    FILE *out = fmemopen(text, sizeof text, "w");
    mt_memory_print(out, p, &account);
    fclose(out);
    snprintf(line, sizeof line, "memory on cpu: at most %.3f MB, in ", (double)peak / 1e6);
    cr_assert(strstr(text, line) == text, "%s", text);
    snprintf(line, sizeof line, " %.3f %7.1f %%\n", 8e-6 * (double)count, 800. * (double)count / (double)peak);
    char *state = strstr(text, "\n  optimizer state");
    cr_assert(state && strstr(state, line) && strstr(state, line) < strstr(state + 1, "\n  gradients"), "%s in\n%s",
              line, text);
    cr_assert(strstr(text, "\n  linear ") && !strstr(text, "cuda"));
    mt_account_free(&account);
    mt_profile_free(p);
}

/* The last row of memory.csv, and the largest sum of a row. */
static double largest_sum(const char *csv, double last[MT_USES + 1])
{
    double most = 0;
    for (const char *row = strchr(csv, '\n') + 1; *row; row = strchr(row, '\n') + 1) {
        int got = sscanf(row, "%lf,%lf,%lf,%lf,%lf,%lf", &last[0], &last[1], &last[2], &last[3], &last[4], &last[5]);
        cr_assert_eq(got, MT_USES + 1, "%.80s", row);
        double all = last[1] + last[2] + last[3] + last[4] + last[5];
        most = all > most ? all : most;
    }
    return most;
}

Test(account, files_show_the_same_bytes)
{
    static const char check[] =
        "import pickle, pickletools, json; d = open('%s/memory.pickle', 'rb').read(); pickletools.dis(d, "
        "open('%s/dis', "
        "'w')); s = pickle.loads(d); t = s['device_traces']; live, most = {}, 0\n"
        "assert len(t) == 2 and not t[1] and sum(x['total_size'] for x in s['segments']) == %lld\n"
        "for e in t[0]:\n"
        "  if e['action'] == 'alloc': live[e['addr']] = e['size']; most = max(most, sum(live.values()))\n"
        "  if e['action'] == 'free_completed': assert live.pop(e['addr']) == e['size']\n"
        "assert most == %lld and sum(live.values()) == %lld\n"
        "assert {e['category'] for e in t[0] if 'category' in e} >= {'unknown', 'activations', 'gradients'}\n"
        "assert any(e['frames'][0]['name'] == 'linear backward' for e in t[0])\n"
        "c = [e['args'] for e in json.load(open('%s/memory.json'))['traceEvents'] if e['name'] == 'memory of cpu']\n"
        "assert max(sum(a.values()) for a in c) == most and c[-1]['parameters'] == %lld";
    int64_t count, peak;
    char command[2048];
    double last[MT_USES + 1];
    mt_profile *p = recorded_step(&count, &peak);
    mt_account account = mt_memory_account(p);
    mt_status status = mt_memory_save(temp_dir, p, &account);
    cr_assert(status == MT_OK || status == MT_ERR_UNAVAILABLE, "%s", mt_last_error());
    char *csv = content_of(in_dir("memory.csv"));
    cr_expect_float_eq(largest_sum(csv, last), (double)peak / 1e6, 1e-9);
    cr_expect_float_eq(last[1], 4e-6 * (double)count, 1e-9);
    free(csv);
    int length = snprintf(command, sizeof command, "python3 -c \"");
    long long live = 16 * count;
    length += snprintf(command + length, sizeof command - (size_t)length, check, temp_dir, temp_dir, live,
                       (long long)peak, live, temp_dir, (long long)(4 * count));
    snprintf(command + length, sizeof command - (size_t)length, "\"");
    cr_expect(tool_accepts("python3", command), "%s", command);
    snprintf(command, sizeof command, "xmllint --noout '%s/memory.svg'", temp_dir);
    cr_expect(status != MT_OK || tool_accepts("xmllint", command));
    mt_account_free(&account);
    mt_profile_free(p);
}

/* Two segments of an allocator: one with a block that is live, one that is free, and a block outside of both. */
Test(account, a_snapshot_has_the_segments_of_the_allocator)
{
    static const char check[] =
        "python3 -c \"import pickle; s = pickle.load(open('%s/memory.pickle', 'rb'))\n"
        "t = [(e['action'], e['size']) for e in s['device_traces'][0]]\n"
        "assert t == [('alloc', 4000), ('segment_alloc', 64), ('alloc', 64), ('alloc', 100), ('free_requested', 100), "
        "('free_completed', 100)], t\n"
        "g = sorted((x['total_size'], x['allocated_size'], [(b['size'], b['requested_size'], b['state']) for b in "
        "x['blocks']]) for x in s['segments'])\n"
        "assert g == [(64, 64, [(64, 64, 'active_allocated')]), (2048, 0, [(2048, 0, 'inactive')]), (8192, 4096, "
        "[(1024, 0, 'inactive'), (4096, 4000, 'active_allocated'), (3072, 0, 'inactive')])], g\"";
    static const struct {
        uint64_t address;
        int64_t bytes;
        int before;
    } room[] = {
        { 1 << 20, 1024, 0 }, { (1 << 20) + 1024, 4096, 1 }, { (1 << 20) + 5120, 3072, 2 }, { 1 << 16, 2048, 0 }
    };
    char command[1024];
    mt_profile_block block[] = { { .address = (1 << 20) + 1024, .bytes = 4000 },
                                 { .address = 64, .bytes = 64 },
                                 { .address = 1 << 16, .bytes = 100 },
                                 { .address = 1 << 16, .bytes = -100 } };
    record();
    for (int i = 0; i < MT_COUNT(room); i++)
        mt_record_room(MT_CPU, (const void *)(uintptr_t)room[i].address, room[i].bytes, room[i].before); /* not read */
    mt_profile *p = read_back();
    cr_assert(p->room_count == 4 && p->room[2].before == 2 && p->room[2].bytes == 3072 && p->block_count == 0);
    free(p->block);
    p->block = block;
    p->block_count = MT_COUNT(block);
    cr_assert_eq(mt_memory_snapshot(in_dir("memory.pickle"), p), MT_OK);
    p->block = NULL;
    snprintf(command, sizeof command, check, temp_dir);
    cr_expect(tool_accepts("python3", command));
    mt_profile_free(p);
}

/* ---- what cannot be written, or read --------------------------------------------------------------------------- */

Test(account, what_cannot_be_written_is_told_and_changes_nothing)
{
    int64_t count, peak;
    struct rlimit before, small = { 100, 100 };
    mt_profile *p = recorded_step(&count, &peak);
    mt_account account = mt_memory_account(p);
    cr_assert_eq(mt_memory_save("/nowhere", p, &account), MT_ERR_IO);
    SAYS("/nowhere/memory.csv: No such file");
    cr_assert_eq(mt_memory_snapshot("/nowhere/memory.pickle", p), MT_ERR_IO);
    cr_assert_eq(unlink(in_dir("memory.bin")), 0);
    FILE *old = fopen(in_dir("memory.pickle"), "w");
    cr_assert(old && fputs("old", old) >= 0 && fclose(old) == 0);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    mt_status saved = mt_memory_save(temp_dir, p, &account), snapshot = mt_memory_snapshot(in_dir("memory.pickle"), p);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert(saved == MT_ERR_IO && snapshot == MT_ERR_IO);
    SAYS("memory.pickle: File too large");
    char *text = content_of(in_dir("memory.pickle")), command[256];
    cr_assert_str_eq(text, "old");
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = memory.pickle", temp_dir);
    cr_assert_eq(system(command), 0, "nothing half-written is left");
    free(text);
    mt_account_free(&account);
    mt_profile_free(p);
    cr_assert_eq(mt_record_memory_begin("/dev/full"), MT_OK);
    training t = begin_training();
    cr_assert_eq(mt_record_end(0), MT_ERR_IO);
    mt_optim_free(t.optim);
    mt_module_free(t.model);
}

Test(account, a_block_that_cannot_be_is_refused)
{
    static const struct {
        int32_t device, use;
    } bad[] = { { MT_DEVICE_COUNT, 0 }, { -1, 0 }, { 0, MT_USES }, { 0, -1 } };
    for (int i = 0; i < MT_COUNT(bad); i++) {
        mt_profile *p = NULL;
        mt_recorded record = { .kind = MT_RECORD_BLOCK, .bytes = 1 };
        record.device = bad[i].device;
        record.use = bad[i].use;
        FILE *file = fopen(in_dir("memory.bin"), "wb");
        cr_assert(file && fputs(MT_RECORD_MAGIC, file) >= 0 && fwrite(&record, sizeof record, 1, file) == 1);
        fclose(file);
        cr_assert_eq(mt_profile_read(&p, in_dir("memory.bin"), 0), MT_ERR_FORMAT);
        SAYS("a block on device ");
        cr_assert_null(p);
    }
}
