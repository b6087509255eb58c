/* session.c -- starts and ends a worker, and makes calls (wire.h shows the steps). Every wait has a deadline. */
#include "sandbox/session.h"

#include "sandbox/copies.h"
#include "sandbox/death.h"
#include "sandbox/freeze.h"
#include "sandbox/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

enum { DYING_SECONDS = 2, MOST_BUSY = 10, BUSY_SECONDS = 600 };

volatile sig_atomic_t mg_stop;

struct mg_session {
    mg_worker worker;
    mg_process process;
    mg_arena input, output;
    int request, reply;   /* our ends of the pipes */
    pid_t program;        /* known after the first reply */
    int64_t answered;     /* calls in this session */
    bool aborted;         /* in one of them the unit aborted, as expected */
    double wall_used;     /* of the current check */
    double cpu_before;    /* processor time when the check began */
    double cpu_call;      /* and when the call began */
    double waited_before; /* time its threads were ready but had no processor, when the check began */
    double waited_call;   /* and when the call began */
    double ours;          /* the same of our threads, when what we wait for began */
    int64_t printed;      /* bytes, of the current check */
    char tail[MG_TAIL];   /* the end of what it printed */
    int64_t tail_bytes;
};

/* ---- start and end -------------------------------------------------------------------------- */

static mt_status spawn(mg_session *s, int requests, int replies)
{
    char most[16];
    const char *const argv[] = { s->worker.launcher, most, s->worker.path, NULL };
    mg_sandbox box = { .confined = s->worker.confined,
                       .filter = s->worker.device ? MG_FILTER_DEVICE : MG_FILTER_WORKER };
    /* Without namespaces the limit would count all processes of the user. */
    bool counted = box.confined == MG_BUBBLEWRAP || (box.confined == MG_LANDLOCK && mg_uid() != geteuid());
    snprintf(most, sizeof most, "%lld", (long long)(counted ? s->worker.limits.processes : 0));
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
    signal(SIGPIPE, SIG_IGN); /* a worker may die before it reads a request */
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

mg_worker mg_session_worker(const mg_session *s)
{
    return s->worker;
}

bool mg_session_aborted(const mg_session *s)
{
    return s->aborted;
}

void mg_session_renew(mg_session *s)
{
    s->wall_used = 0;
    s->cpu_before = mg_cpu_seconds(s->program);
    s->waited_before = mg_waited_seconds(s->program);
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

void mg_session_printed(mg_session *s, char *text, size_t size)
{
    drain_output(s);
    mg_tail_lines(text, size, s->tail, s->tail_bytes);
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

/* Time that the call has used, without the time in which the machine was busy with others: that of its busiest thread,
 * or all of it if it waits for something that does not happen. */
static double used_by_call(const mg_session *s, const mg_invocation *in, double wall)
{
    double cpu = mg_cpu_seconds(s->program) - s->cpu_call;
    double waited = mg_waited_seconds(s->program) - s->waited_call;
    return fmax(wall - waited, cpu / mt_max(in->threads, 1));
}

/* The limit of a check: time in which its threads had no processor does not count, unless that is much longer. */
static bool over_wall(const mg_session *s, double wall)
{
    double limit = s->worker.limits.wall_s, passed = s->wall_used + wall, most = fmax(MOST_BUSY * limit, BUSY_SECONDS);
    return passed > limit && (passed > most || passed - (mg_waited_seconds(s->program) - s->waited_before) > limit);
}

static bool over_limits(mg_session *s, double wall, const mg_invocation *in, mg_outcome *outcome)
{
    const mg_limits *most = &s->worker.limits;
    double cpu = mg_cpu_seconds(s->program) - s->cpu_before;
    char words[128] = "";
    if (s->printed > most->output_kib << 10)
        snprintf(words, sizeof words, "printed more than %lld KiB", (long long)most->output_kib);
    else if (over_wall(s, wall))
        snprintf(words, sizeof words, "no answer within %g seconds", most->wall_s);
    else if (cpu > most->cpu_s)
        snprintf(words, sizeof words, "used more than %g seconds of processor time", most->cpu_s);
    else if (in->most_s > 0 && wall > in->most_s && used_by_call(s, in, wall) > in->most_s)
        snprintf(words, sizeof words, "this call did not end within %g seconds", in->most_s);
    else
        return false;
    give_up(s, outcome, MG_TIMEOUT, words);
    return true;
}

/* Where it was, if the worker could still say so. */
static void read_trace(mg_session *s, mg_outcome *outcome)
{
    int unread = 0;
    if (ioctl(s->reply, FIONREAD, &unread) || unread < (int)sizeof outcome->pc ||
        read(s->reply, outcome->pc, sizeof outcome->pc) != sizeof outcome->pc)
        memset(outcome->pc, 0, sizeof outcome->pc);
}

/* After it reported a fault, the worker should be killed by it; the end of its output may have more details. */
static void die_of_fault(mg_session *s, const mg_wire_reply *fault, const mg_invocation *in, mg_outcome *outcome)
{
    char words[256];
    mg_wait_readable(s->process.pidfd, DYING_SECONDS);
    drain_output(s);
    mg_describe_fault(words, sizeof words, fault, in);
    read_trace(s, outcome);
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
    outcome->kept = reply->distance;
    s->aborted = reply->what == MG_DONE && reply->value == MG_ABORTED;
    if (!mg_wire_reply_valid(reply, request))
        give_up(s, outcome, MG_CRASH, "something other than the worker wrote to its reply pipe");
    else if (reply->what == wanted)
        return true;
    else if (reply->what == MG_FAULT)
        die_of_fault(s, reply, in, outcome);
    else if (wanted == MG_DONE) /* the unit runs: what the worker refuses it has refused before */
        give_up(s, outcome, MG_CRASH, "the worker sent an unexpected reply");
    else if (reply->what == MG_UNKNOWN)
        refuse(s, "the worker's table has no such function (grader/worker/calls_NN.c)", outcome);
    else if (reply->what == MG_NO_MEMORY)
        refuse(s, "the worker could not map its arrays: limits.memory_mib in lab.json are used up", outcome);
    else
        give_up(s, outcome, MG_CRASH, "the worker sent an unexpected reply");
    return false;
}

/* Before its first call nothing of the unit has run (symbols.h): the machine lacked processes, memory or threads. */
static void end_of_worker(mg_session *s, mg_outcome *outcome)
{
    char said[256], words[320];
    mg_tail_lines(said, sizeof said, s->tail, s->tail_bytes);
    snprintf(words, sizeof words, "the worker ended before its first call%s%s", said[0] ? ": " : "", said);
    give_up(s, outcome, s->program ? MG_CRASH : MG_ERROR, s->program ? "" : words);
}

/* Seconds that the worker has taken: not those in which we were ready to look and had no processor. */
static double taken(const mg_session *s, mg_patience *patience)
{
    double passed = mg_waiting(patience);
    return passed > 1e-3 * MG_TICK_MS ? fmax(passed - (mg_waited_seconds(getpid()) - s->ours), 0) : passed;
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
        double waited = taken(s, &patience);
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
            end_of_worker(s, outcome);
            return false;
        }
        if (mg_stop)
            give_up(s, outcome, MG_ERROR, "interrupted");
        if (mg_stop || over_limits(s, waited, in, outcome))
            return false;
    }
}

/* ---- a call --------------------------------------------------------------------------------- */

/* Lay out the arrays in the arenas, one after the other in whole pages. */
static bool make_request(mg_session *s, const mg_invocation *in, mg_wire_request *request, mg_outcome *outcome)
{
    uint64_t used[2] = { 0, 0 };
    memset(request, 0, sizeof *request);
    request->count = (uint32_t)in->count;
    request->threads = (uint32_t)in->threads;
    request->at_end = in->at_end;
    request->shift = in->shift;
    request->off = in->off;
    snprintf(request->function, sizeof request->function, "%s", in->function);
    for (int i = 0; i < in->count; i++) {
        const mg_argument *a = &in->argument[i];
        uint64_t *at = &used[a->kind != MG_IN];
        request->value[i] = (mg_wire_value){ .kind = a->kind, .dtype = a->dtype, .i64 = a->i64, .real = a->real };
        memcpy(request->value[i].name, a->name, sizeof a->name);
        if (!mg_is_array(a))
            continue;
        request->value[i].offset = *at;
        request->value[i].bytes = (uint64_t)a->bytes;
        *at += mg_pages((uint64_t)a->bytes);
    }
    if (used[0] > (uint64_t)s->input.bytes || used[1] > (uint64_t)s->output.bytes)
        give_up(s, outcome, MG_ERROR,
                "the arrays of this call do not fit: raise limits.memory_mib in lab.json, or ulimit -f");
    else if (getrandom(&request->nonce, sizeof request->nonce, 0) != sizeof request->nonce)
        give_up(s, outcome, MG_ERROR, "no random numbers");
    else
        return true;
    return false;
}

static bool hold(mg_session *s, mg_outcome *outcome)
{
    int unread = 0;
    mg_frozen frozen = mg_freeze(s->program);
    if (frozen == MG_STARVED) {
        give_up(s, outcome, MG_ERROR, "the machine is busy: the worker got no processor for minutes");
    } else if (frozen == MG_UNFROZEN) {
        bool ended = mg_wait_readable(s->process.pidfd, DYING_SECONDS);
        give_up(s, outcome, MG_CRASH, ended ? "" : "it could not be stopped");
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
    s->ours = mg_waited_seconds(getpid());
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

/* A timer or a signal may have woken it while we copied: then it computed in time that is not measured. */
static bool stood_still(mg_session *s, double cpu, mg_outcome *outcome)
{
    outcome->awake = mg_cpu_seconds(s->program) - cpu >= MG_AWAKE_SECONDS;
    if (outcome->awake)
        give_up(s, outcome, MG_CRASH, "the worker ran while it was stopped: a call must end when its function returns");
    return !outcome->awake;
}

void mg_session_call(mg_session *s, const mg_invocation *in, mg_outcome *outcome)
{
    mg_wire_request request;
    *outcome = (mg_outcome){ .verdict = MG_PASS };
    if (!prepare(s, in, &request, outcome))
        return;
    double stopped = mg_cpu_seconds(s->program);
    mg_copy_in(&s->input, &s->output, in, &request);
    if (!stood_still(s, stopped, outcome))
        return;
    mg_wire_go go = { .nonce = request.nonce };
    s->cpu_call = mg_cpu_seconds(s->program);
    s->waited_call = mg_waited_seconds(s->program);
    s->ours = mg_waited_seconds(getpid());
    double begin = mt_now();
    ssize_t sent = write(s->request, &go, sizeof go);
    (void)sent;
    mg_thaw(s->program);
    if (!await(s, &request, MG_DONE, in, outcome) || !hold(s, outcome))
        return;
    outcome->wall = mt_now() - begin; /* until every thread is stopped: work after the reply counts too */
    stopped = mg_cpu_seconds(s->program);
    outcome->cpu = stopped - s->cpu_call;
    outcome->waited = mg_waited_seconds(s->program) - s->waited_call + mg_waited_seconds(getpid()) - s->ours;
    s->answered++;
    mg_copy_out(&s->output, in, &request, outcome);
    stood_still(s, stopped, outcome);
}
