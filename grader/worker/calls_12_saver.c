/* calls_12_saver.c -- how the worker calls step 12.7. Instead of ckpt/checkpoint.c, which writes JSON, a writer
 * here notes what it is given, and when: after training has changed its values. Where that never happens (the unit
 * waits for the writer before it returns) the writer goes on after some time. Or, in a call that is `eager`, the writer
 * does not wait, and pthread_create returns when it is done: whatever the unit does later comes too late. */
#include "ckpt/async.h"
#include "core/io.h"
#include "testing/disk_sim.h"
#include "worker/calls_12.h"
#include "worker/joins.h"
#include "worker/saver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS       "/runs"
#define OTHER_RUNS "/others"
enum { PATIENCE_MS = 100, EAGER_MS = 1000, POISON = -1 };

/* What happened; the lists are of the call's arrays. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t training;
    int64_t changes, begun, done; /* changes of values by training; writes */
    int64_t made, live, copied;   /* threads; bytes of tensors without copies, and most bytes of copies in a write */
    const int64_t *script;
    int64_t events;          /* of the script that have begun */
    int64_t *step, *threads; /* of each write: its step; 1 in the thread of training, 2 in another one, +4 while
                                     another write was not done */
    float *value;
    char *text;
} now = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Until a count is so high, for at most some time; now.lock is held. */
static void wait_for(const int64_t *count, int64_t least, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (*count < least && pthread_cond_timedwait(&now.changed, &now.lock, &until) == 0)
        ;
}

/* pthread_create is about to return: the thread has written, and had time to end. */
static void let_it_write(void)
{
    pthread_mutex_lock(&now.lock);
    wait_for(&now.done, ++now.made, EAGER_MS);
    pthread_mutex_unlock(&now.lock);
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

static bool is_save(const int64_t *event)
{
    return event[0] % MG_SAVER_OTHER == MG_SAVER_SAVE;
}

/* The last event that is a save of this step, and how many changes it waits for: there is one after each save. */
static const int64_t *event_of(int64_t step, int64_t *changes)
{
    static const int64_t unknown[MG_SAVER_COLUMNS] = { 0 };
    const int64_t *last = unknown;
    int64_t saves = *changes = 0;
    for (const int64_t *e = now.script; e < now.script + now.events * MG_SAVER_COLUMNS; e += MG_SAVER_COLUMNS) {
        if (is_save(e) && e[1] == step)
            last = e, *changes = saves + e[2];
        saves += is_save(e);
    }
    return last;
}

static void take_values(float *value, char *text, const mt_state *list)
{
    for (const mt_state_item *i = list->item; i < list->item + list->count; i++)
        if (i->tensor) {
            int64_t at = i->name[0] == 'a' ? 0 : i->name[0] == 'b' ? 3 : MG_SAVER_MODEL;
            for (int64_t k = 0; k < mt_numel(i->tensor) && at + k < MG_SAVER_VALUES; k++)
                value[at + k] = mt_f32(i->tensor)[k];
        } else {
            size_t used = strlen(text);
            if (i->integer)
                snprintf(text + used, MG_SAVER_WORDS - used, "%s=%lld ", i->name, (long long)*i->integer);
            else
                snprintf(text + used, MG_SAVER_WORDS - used, "%s=%s ", i->name, i->setting);
        }
}

mt_status mt_checkpoint_save(const char *dir, int64_t step, const mt_state *model, const mt_state *rest,
                             int64_t shard_bytes)
{
    (void)shard_bytes;
    pthread_mutex_lock(&now.lock);
    int64_t i = now.begun++, changes;
    mt_status status = (mt_status)event_of(step, &changes)[3];
    bool own = pthread_equal(now.training, pthread_self());
    now.threads[i] = (own ? 1 : 2) + (now.done < i ? 4 : 0);
    now.step[i] = step;
    if (!own)
        wait_for(&now.changes, changes, PATIENCE_MS);
    take_values(now.value + i * MG_SAVER_VALUES, now.text + i * MG_SAVER_WORDS, model);
    take_values(now.value + i * MG_SAVER_VALUES, now.text + i * MG_SAVER_WORDS, rest);
    now.copied = mt_max(now.copied, mt_live_bytes(MT_CPU) - now.live);
    now.done++;
    pthread_cond_broadcast(&now.changed);
    pthread_mutex_unlock(&now.lock);
    return status == MT_OK
               ? MT_OK /* a path may have 300 bytes, and what is wrong stands behind it */
               : mt_fail(status, "%s/%0300d: writing step %lld failed: 100%% full", dir, 1, (long long)step);
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

typedef struct run {
    mt_tensor *tensor[3];
    int64_t rows;
    mt_state model, rest;
} run;

static run run_new(void)
{
    static const int64_t sizes[] = { 3, MG_SAVER_MODEL - 3, MG_SAVER_VALUES - MG_SAVER_MODEL };
    run r = { 0 };
    for (int i = 0; i < 3; i++)
        r.tensor[i] = mt_zeros(MT_SHAPE(sizes[i]), MT_F32, MT_CPU);
    return r;
}

static void set(run *r, int64_t step)
{
    int at = 0;
    for (int t = 0; t < 3; t++)
        for (int64_t k = 0; k < mt_numel(r->tensor[t]); k++, at++)
            mt_f32(r->tensor[t])[k] = step == POISON ? -1 : mg_saver_value(step, at);
    r->rows = step;
}

/* Lists are made for each save, and gone after it. */
static void begin_lists(run *r)
{
    mt_state_tensor(&r->model, r->tensor[0], "a");
    mt_state_tensor(&r->model, r->tensor[1], "b");
    mt_state_setting(&r->model, "dtype", "f32");
    mt_state_tensor(&r->rest, r->tensor[2], "c");
    mt_state_integer(&r->rest, &r->rows, "rows");
}

static mt_status save(mt_saver *saver, run *r, const int64_t *event)
{
    set(r, event[1]);
    begin_lists(r);
    return mt_saver_save(saver, event[1], &r->model, &r->rest);
}

static void change(run *r)
{
    pthread_mutex_lock(&now.lock);
    set(r, POISON);
    mt_state_free(&r->model);
    mt_state_free(&r->rest);
    now.changes++;
    pthread_cond_broadcast(&now.changed);
    pthread_mutex_unlock(&now.lock);
}

/* Threads cannot be made with a stack of this size. */
static void refuse_threads(bool refuse)
{
    static pthread_attr_t before;
    static bool refused;
    pthread_attr_t attr;
    mg_threads_refused = refuse;
    if (refuse == refused)
        return;
    refused = refuse;
    if (!refuse) {
        pthread_setattr_default_np(&before);
        return;
    }
    pthread_getattr_default_np(&before);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)1 << 47);
    pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

static void open_saver(mt_saver **out, mt_io *disk, const char *dir, bool async)
{
    mt_saver_config config = { .dir = dir, .async = async, .keep = { 3, 0, -1 } };
    disk->mkdir(disk, dir);
    MT_CHECK(mt_saver_open(out, &config) == MT_OK, "%s", mt_last_error());
}

static void prepare(mt_saver *saver, run *r)
{
    begin_lists(r);
    mt_saver_prepare(saver, &r->model, &r->rest);
    mt_state_free(&r->model);
    mt_state_free(&r->rest);
}

static void begin(const mg_value *v)
{
    now.training = pthread_self();
    now.changes = now.begun = now.done = now.made = now.copied = 0;
    now.live = mt_live_bytes(MT_CPU);
    mg_thread_made = N(eager) ? let_it_write : NULL;
    now.script = I64(script), now.events = 0;
    now.step = I64(step), now.threads = I64(threads), now.value = F(values), now.text = (char *)U8(texts);
    memset(now.text, 0, (size_t)ARRAY(texts)->count);
}

static void begin_event(bool refused)
{
    pthread_mutex_lock(&now.lock);
    now.events++;
    pthread_mutex_unlock(&now.lock);
    refuse_threads(refused);
}

/* status, writes done at its end [n], messages [n,words]; of writes: step, threads [n], values [n,values],
 * texts [n,words]; number of writes, status of close, bytes left, bytes of copies in a write [4]; script [n,columns];
 * async, how many events have no thread, prepared, eager */
void mg_call_saver(const mg_value *v)
{
    int64_t live = mt_live_bytes(MT_CPU), savers = 1;
    run r[2] = { run_new(), run_new() };
    mt_io *disks[2] = { mt_disk_sim_new(), mt_disk_sim_new() }; /* one can be locked once */
    mt_saver *saver[2];
    begin(v);
    disks[0]->mkdir(disks[0], OTHER_RUNS); /* which both threads look into */
    for (int64_t i = 0; i < ARRAY(status)->count; i++)
        savers = now.script[i * MG_SAVER_COLUMNS] >= MG_SAVER_OTHER ? 2 : savers;
    for (int64_t s = savers - 1; s >= 0; s--) {
        mt_io_use(disks[s]);
        open_saver(&saver[s], disks[s], s ? OTHER_RUNS : RUNS, N(async) != 0);
        if (N(prepared))
            prepare(saver[s], &r[s]);
    }
    for (int64_t i = 0; i < ARRAY(status)->count; i++) {
        const int64_t *event = now.script + i * MG_SAVER_COLUMNS, s = event[0] / MG_SAVER_OTHER;
        mt_fail(MT_OK, "no message");
        begin_event(i < N(no thread));
        I64(status)[i] = is_save(event) ? save(saver[s], &r[s], event) : mt_saver_wait(saver[s]);
        refuse_threads(false);
        snprintf((char *)U8(messages) + i * MG_SAVER_WORDS, MG_SAVER_WORDS, "%s", mt_last_error());
        I64(done)[i] = __atomic_load_n(&now.done, __ATOMIC_SEQ_CST);
        if (is_save(event))
            change(&r[s]);
    }
    mg_thread_made = NULL;
    for (int64_t s = 0; s < savers; s++)
        I64(writes)[1] = mt_saver_close(saver[s]);
    I64(writes)[0] = now.done;
    I64(writes)[3] = now.copied;
    mt_io_use(NULL);
    for (int s = 0; s < 2; s++) {
        mt_disk_sim_free(disks[s]);
        for (int i = 0; i < 3; i++)
            mt_release(r[s].tensor[i]);
    }
    I64(writes)[2] = mt_live_bytes(MT_CPU) - live;
}
