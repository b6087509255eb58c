/* session.c -- starts and ends a worker, and makes calls (wire.h shows the steps). Every wait has a deadline. */
#include "session.h"

#include "arena.h"
#include "death.h"
#include "freeze.h"
#include "patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

enum { DYING_SECONDS = 2, SLACK_BYTE = 0xFF };

struct mg_session {
    mg_worker worker;
    mg_process process;
    mg_arena input, output;
    int request, reply; /* our ends of the pipes */
    pid_t program;      /* known after the first reply */
    int64_t answered;   /* calls in this session */
    double wall_used;   /* of the current check */
    double cpu_before;  /* processor time when the check began */
    int64_t printed;    /* bytes, of the current check */
    char tail[MG_TAIL]; /* the end of what it printed */
    int64_t tail_bytes;
};

/* ---- start and end -------------------------------------------------------------------------- */

static mt_status spawn(mg_session *s, int requests, int replies)
{
    char most[16];
    const char *const argv[] = { s->worker.launcher, most, s->worker.path, NULL };
    mg_sandbox box = { .confined = s->worker.confined, .filter = MG_FILTER_WORKER };
    snprintf(most, sizeof most, "%lld", (long long)(box.confined ? s->worker.limits.processes : 0));
    box.readable[0] = s->worker.launcher;
    box.readable[1] = s->worker.path;
    box.limits = s->worker.limits;
    box.cpus = s->worker.cpus;
    box.cpu_shift = s->worker.cpu_shift;
    box.argv = argv;
    box.fds = 4;
    memcpy(box.fd, (int[]){ requests, replies, s->input.fd, s->output.fd }, sizeof box.fd);
    return mg_sandbox_start(&s->process, &box);
}

mg_session *mg_session_start(const mg_worker *worker)
{
    int64_t arena_bytes = worker->limits.memory_mib << 18; /* a quarter of what it may map */
    mg_session *s = calloc(1, sizeof *s);
    int requests[2] = { -1, -1 }, replies[2] = { -1, -1 };
    mt_status status = MT_OK;
    MT_CHECK(s, "out of memory");
    *s = (mg_session){ .worker = *worker, .request = -1, .reply = -1, .process = { .pidfd = -1, .output = -1 } };
    if (pipe2(requests, O_CLOEXEC) || pipe2(replies, O_CLOEXEC))
        status = mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    s->request = requests[1];
    s->reply = replies[0];
    if (status == MT_OK)
        status = mg_arena_open(&s->input, true, arena_bytes);
    if (status == MT_OK)
        status = mg_arena_open(&s->output, false, arena_bytes);
    if (status == MT_OK)
        status = spawn(s, requests[0], replies[1]);
    close(requests[0]);
    close(replies[1]);
    if (status == MT_OK)
        return s;
    mg_session_end(s);
    return NULL;
}

void mg_session_end(mg_session *s)
{
    if (!s)
        return;
    mg_process_end(&s->process);
    mg_arena_close(&s->input);
    mg_arena_close(&s->output);
    close(s->request);
    close(s->reply);
    free(s);
}

void mg_session_renew(mg_session *s)
{
    s->wall_used = 0;
    s->cpu_before = mg_cpu_seconds(s->program);
    s->printed = 0;
    s->tail_bytes = 0;
}

/* ---- listening ------------------------------------------------------------------------------ */

static void drain_output(mg_session *s)
{
    char chunk[16384];
    for (int i = 0; i < 64; i++) { /* a limit, in case of endless output */
        ssize_t n = read(s->process.output, chunk, sizeof chunk);
        if (n <= 0)
            return;
        s->printed += n;
        mg_tail_add(s->tail, &s->tail_bytes, chunk, n);
    }
}

/* A verdict on a worker that has ended or must be ended; the session cannot be used any more. */
static void give_up(mg_session *s, mg_outcome *outcome, mg_verdict verdict, const char *words)
{
    int status = mg_process_end(&s->process);
    outcome->verdict = verdict;
    if (verdict == MG_CRASH)
        outcome->verdict =
            mg_describe_death(outcome->detail, sizeof outcome->detail, status, words, s->tail, s->tail_bytes);
    else
        snprintf(outcome->detail, sizeof outcome->detail, "%s", words);
    s->program = 0;
}

static bool over_limits(mg_session *s, double wall, mg_outcome *outcome)
{
    const mg_limits *most = &s->worker.limits;
    double cpu = mg_cpu_seconds(s->program) - s->cpu_before;
    char words[128] = "";
    if (s->printed > most->output_kib << 10)
        snprintf(words, sizeof words, "printed more than %lld KiB", (long long)most->output_kib);
    else if (s->wall_used + wall > most->wall_s)
        snprintf(words, sizeof words, "no answer within %g seconds", most->wall_s);
    else if (cpu > most->cpu_s)
        snprintf(words, sizeof words, "used more than %g seconds of processor time", most->cpu_s);
    else
        return false;
    give_up(s, outcome, MG_TIMEOUT, words);
    return true;
}

/* After it reported a fault, the worker should be killed by it; the end of its output may have more details. */
static void die_of_fault(mg_session *s, const mg_wire_reply *fault, const mg_invocation *in, mg_outcome *outcome)
{
    char words[256];
    mg_wait_readable(s->process.pidfd, DYING_SECONDS);
    drain_output(s);
    mg_describe_fault(words, sizeof words, fault, in);
    give_up(s, outcome, MG_CRASH, words);
}

/* The worker reports that it cannot make the call. In its first call this may be an error of the grader. Later it is an
 * error of the unit, which has used up the memory or forged the reply. */
static void refuse(mg_session *s, const char *words, mg_outcome *outcome)
{
    char text[256];
    snprintf(text, sizeof text, "after %lld successful calls: %s", (long long)s->answered, words);
    give_up(s, outcome, s->answered ? MG_CRASH : MG_ERROR, s->answered ? text : words);
}

/* Judge one complete reply: true if it is the expected one. */
static bool take_reply(mg_session *s, const mg_wire_reply *reply, const mg_wire_request *request, mg_reply_kind wanted,
                       const mg_invocation *in, mg_outcome *outcome)
{
    if (!mg_wire_reply_valid(reply, request))
        give_up(s, outcome, MG_CRASH, "something other than the worker wrote to its reply pipe");
    else if (reply->what == wanted)
        return true;
    else if (reply->what == MG_FAULT)
        die_of_fault(s, reply, in, outcome);
    else if (reply->what == MG_UNKNOWN)
        refuse(s, "the worker's table has no such function (grader/worker/calls_NN.c)", outcome);
    else if (reply->what == MG_NO_MEMORY)
        refuse(s, "the worker could not map its arrays: limits.memory_mib in lab.json are used up", outcome);
    else
        give_up(s, outcome, MG_CRASH, "the worker sent an unexpected reply");
    return false;
}

/* Wait for one reply; false with a verdict when the worker ended, or its time, or its output. */
static bool await(mg_session *s, const mg_wire_request *request, mg_reply_kind wanted, const mg_invocation *in,
                  mg_outcome *outcome)
{
    mg_wire_reply reply;
    size_t have = 0;
    mg_patience patience = mg_patience_new();
    for (;;) {
        struct pollfd p[3] = { { .fd = s->reply, .events = POLLIN },
                               { .fd = s->process.output, .events = POLLIN },
                               { .fd = s->process.pidfd, .events = POLLIN } };
        poll(p, 3, MG_TICK_MS);
        double waited = mg_waiting(&patience);
        if (p[1].revents)
            drain_output(s);
        if (p[0].revents & POLLIN) {
            ssize_t n = read(s->reply, (char *)&reply + have, sizeof reply - have);
            have += n > 0 ? (size_t)n : 0;
            if (have == sizeof reply) {
                s->wall_used += waited;
                return take_reply(s, &reply, request, wanted, in, outcome);
            }
        } else if (p[2].revents || (p[0].revents & POLLHUP)) {
            mg_wait_readable(s->process.pidfd, DYING_SECONDS);
            drain_output(s);
            give_up(s, outcome, MG_CRASH, "");
            return false;
        }
        if (over_limits(s, waited, outcome))
            return false;
    }
}

/* ---- a call --------------------------------------------------------------------------------- */

static bool is_array(const mg_argument *a)
{
    return a->kind == MG_IN || a->kind == MG_OUT || a->kind == MG_INOUT;
}

/* Lay out the arrays in the arenas, one after the other in whole pages. */
static bool make_request(mg_session *s, const mg_invocation *in, mg_wire_request *request, mg_outcome *outcome)
{
    uint64_t used[2] = { 0, 0 };
    memset(request, 0, sizeof *request);
    request->count = (uint32_t)in->count;
    request->threads = (uint32_t)in->threads;
    request->at_end = in->at_end;
    request->shift = in->shift;
    snprintf(request->function, sizeof request->function, "%s", in->function);
    for (int i = 0; i < in->count; i++) {
        const mg_argument *a = &in->argument[i];
        uint64_t *at = &used[a->kind != MG_IN];
        request->value[i] = (mg_wire_value){ .kind = a->kind, .dtype = a->dtype, .i64 = a->i64, .f32 = a->f32 };
        if (!is_array(a))
            continue;
        request->value[i].offset = *at;
        request->value[i].bytes = (uint64_t)a->bytes;
        *at += mg_pages((uint64_t)a->bytes);
    }
    if (used[0] > (uint64_t)s->input.bytes || used[1] > (uint64_t)s->output.bytes)
        give_up(s, outcome, MG_ERROR, "the arrays of this call do not fit: raise limits.memory_mib in lab.json");
    else if (getrandom(&request->nonce, sizeof request->nonce, 0) != sizeof request->nonce)
        give_up(s, outcome, MG_ERROR, "no random numbers");
    else
        return true;
    return false;
}

/* The address of an array's pages, and of the array in them, in our memory. */
static char *pages_of(const mg_session *s, const mg_wire_value *v)
{
    return (v->kind == MG_IN ? s->input.base : s->output.base) + v->offset;
}

static char *array_of(const mg_session *s, const mg_wire_request *request, int i)
{
    const mg_wire_value *v = &request->value[i];
    return pages_of(s, v) + (request->at_end ? mg_pages(v->bytes) - v->bytes : 0);
}

static void copy_in(mg_session *s, const mg_invocation *in, const mg_wire_request *request)
{
    for (int i = 0; i < in->count; i++) {
        const mg_argument *a = &in->argument[i];
        if (!is_array(a) || a->bytes == 0)
            continue;
        char *pages = pages_of(s, &request->value[i]), *array = array_of(s, request, i), *end = array + a->bytes;
        memset(pages, SLACK_BYTE, (size_t)(array - pages));
        memcpy(array, a->data, (size_t)a->bytes);
        memset(end, SLACK_BYTE, (size_t)(pages + mg_pages((uint64_t)a->bytes) - end));
    }
}

static int64_t spoiled(const char *from, const char *to)
{
    int64_t count = 0;
    for (; from < to; from++)
        count += (unsigned char)*from != SLACK_BYTE;
    return count;
}

/* Copy the outputs, and check the rest of their pages: an array has a guard page on one side only. */
static void copy_out(mg_session *s, const mg_invocation *in, const mg_wire_request *request, mg_outcome *outcome)
{
    for (int i = 0; i < in->count; i++) {
        mg_argument *a = &in->argument[i];
        if ((a->kind != MG_OUT && a->kind != MG_INOUT) || a->bytes == 0)
            continue;
        char *pages = pages_of(s, &request->value[i]), *array = array_of(s, request, i), *end = array + a->bytes;
        int64_t before = spoiled(pages, array), after = spoiled(end, pages + mg_pages((uint64_t)a->bytes));
        memcpy(a->result, array, (size_t)a->bytes);
        if (before + after == 0 || outcome->verdict != MG_PASS)
            continue;
        outcome->verdict = MG_FAIL;
        snprintf(outcome->detail, sizeof outcome->detail, "%lld bytes %s %s %s were overwritten",
                 (long long)(before ? before : after), before ? "before the start of" : "past the end of", a->name,
                 mt_shape_text(a->shape));
    }
}

static bool hold(mg_session *s, mg_outcome *outcome)
{
    int unread = 0;
    if (!mg_freeze(s->program)) {
        mg_wait_readable(s->process.pidfd, DYING_SECONDS);
        give_up(s, outcome, MG_CRASH, "");
    } else if (ioctl(s->reply, FIONREAD, &unread) || unread) {
        give_up(s, outcome, MG_CRASH, "something other than the worker wrote to its reply pipe");
    } else {
        return true;
    }
    return false;
}

static bool prepare(mg_session *s, const mg_invocation *in, mg_wire_request *request, mg_outcome *outcome)
{
    if (!make_request(s, in, request, outcome))
        return false;
    mg_thaw(s->program);
    ssize_t sent = write(s->request, request, sizeof *request); /* await notices a dead worker */
    (void)sent;
    if (!await(s, request, MG_READY, in, outcome))
        return false;
    if (s->program == 0)
        s->program = mg_program(&s->process);
    if (!hold(s, outcome))
        return false;
    if (s->worker.spread)
        mg_spread(s->program);
    return true;
}

void mg_session_call(mg_session *s, const mg_invocation *in, mg_outcome *outcome)
{
    mg_wire_request request;
    *outcome = (mg_outcome){ .verdict = MG_PASS };
    if (!prepare(s, in, &request, outcome))
        return;
    copy_in(s, in, &request);
    mg_wire_go go = { .nonce = request.nonce };
    double cpu = mg_cpu_seconds(s->program), waited = mg_waited_seconds(s->program), begin = mt_now();
    ssize_t sent = write(s->request, &go, sizeof go);
    (void)sent;
    mg_thaw(s->program);
    if (!await(s, &request, MG_DONE, in, outcome) || !hold(s, outcome))
        return;
    outcome->wall = mt_now() - begin; /* until every thread is stopped: work after the reply counts too */
    outcome->cpu = mg_cpu_seconds(s->program) - cpu;
    outcome->waited = mg_waited_seconds(s->program) - waited;
    s->answered++;
    copy_out(s, in, &request, outcome);
}
