/* monitor.c -- see monitor.h. One page, no dependency: what a library for HTTP does more (keep-alive, chunks, TLS) is
 * not needed here. Up to CLIENTS connections at a time; each has two seconds and REQUEST bytes for its request. An
 * answer is shorter than a socket's buffer, so that writing never waits for a client. */
#include "prof/monitor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/storage.h"
#include "core/span.h"

enum { CLIENTS = 32, REQUEST = 2048, PAGE = 4096 };

typedef struct client {
    int length; /* bytes of the request so far */
    double until;
    char request[REQUEST];
} client;

struct mt_monitor {
    mt_monitor_config config;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    int64_t step, samples;
    double loss, rate, wait_share, started;
    double last, waited, before;   /* mt_now() of the last step; seconds of waiting, and at the last step */
    struct pollfd fd[2 + CLIENTS]; /* the thread's: stop, listen, clients; -1: free */
    client client[CLIENTS];
};

static __thread bool counts; /* whether this thread's waits count */

/* ---- the page ---------------------------------------------------------------------------------------------- */

static int put(char *page, int at, const char *name, const char *type, const char *help, double value)
{
    char text[32];
    if (isfinite(value))
        snprintf(text, sizeof text, "%.17g", value);
    else
        strcpy(text, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf");
    return at + snprintf(page + at, (size_t)(PAGE - at),
                         "# HELP minitorch_%s %s\n# TYPE minitorch_%s %s\nminitorch_%s %s\n", name, help, name, type,
                         name, text);
}

static int render(mt_monitor *m, char page[PAGE])
{
    const mt_monitor_config *c = &m->config;
    int n = 0;
    pthread_mutex_lock(&m->lock);
    n = put(page, n, "step", "gauge", "Steps done, those before a restart included.", (double)m->step);
    n = put(page, n, "first_step", "gauge", "Steps done when this process began: above 0 after a restart.",
            (double)c->begun);
    n = put(page, n, "start_time_seconds", "gauge", "When this process began; it changes at each restart.", m->started);
    n = put(page, n, "samples_total", "counter", "Samples trained on by this process and its ranks.",
            (double)m->samples);
    n = put(page, n, "samples_per_second", "gauge", "Of the latest step.", m->rate);
    if (m->step > c->begun)
        n = put(page, n, "loss", "gauge", "Training loss of the latest step.", m->loss);
    if (c->tokens > 0)
        n = put(page, n, "tokens_per_second", "gauge", "Of the latest step.", m->rate * c->tokens);
    if (c->peak > 0)
        n = put(page, n, "mfu_ratio", "gauge", "FLOPs of the model over those that the devices could do, latest step.",
                m->rate * c->flops / c->peak);
    if (c->waits)
        n = put(page, n, "communication_ratio", "gauge", "Share of the latest step in which rank 0 waited for others.",
                m->wait_share);
    pthread_mutex_unlock(&m->lock);
    n = put(page, n, "memory_bytes", "gauge", "Tensors of this process on the device.",
            (double)mt_live_bytes(c->device));
    return put(page, n, "memory_peak_bytes", "gauge", "The most of it.", (double)mt_peak_bytes(c->device));
}

/* ---- clients ------------------------------------------------------------------------------------------------ */

static void hang_up(mt_monitor *m, int i)
{
    close(m->fd[2 + i].fd);
    m->fd[2 + i].fd = -1;
}

static void answer(mt_monitor *m, int i, const char *status)
{
    char page[PAGE] = "", all[PAGE + 256];
    const char *request = m->client[i].request;
    if (!status && strncmp(request, "GET ", 4) != 0)
        status = "405 Method Not Allowed";
    else if (!status && strncmp(request + 4, "/metrics", 8) == 0 && strchr(" ?\r\n", request[12]))
        render(m, page);
    else if (!status)
        status = "404 Not Found";
    if (status)
        snprintf(page, sizeof page, "%s; figures are at /metrics\n", status);
    int n = snprintf(all, sizeof all,
                     "HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     status ? status : "200 OK", strlen(page), page);
    (void)!send(m->fd[2 + i].fd, all, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(m->fd[2 + i].fd, SHUT_WR);
    hang_up(m, i);
}

static void hear(mt_monitor *m, int i)
{
    client *c = &m->client[i];
    ssize_t n = recv(m->fd[2 + i].fd, c->request + c->length, (size_t)(REQUEST - 1 - c->length), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(m, i);
        return;
    }
    c->length += (int)n;
    c->request[c->length] = 0;
    if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
        answer(m, i, NULL);
    else if (c->length == REQUEST - 1 || memchr(c->request, 0, (size_t)c->length))
        answer(m, i, "431 Request Header Fields Too Large");
}

/* In the place of the one that has waited longest, if there is no other. */
static void take(mt_monitor *m)
{
    int fd = accept4(m->fd[1].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), i = 0;
    if (fd < 0)
        return;
    for (int k = 0; k < CLIENTS; k++)
        if (m->fd[2 + i].fd >= 0 && (m->fd[2 + k].fd < 0 || m->client[k].until < m->client[i].until))
            i = k;
    if (m->fd[2 + i].fd >= 0)
        hang_up(m, i);
    m->fd[2 + i] = (struct pollfd){ .fd = fd, .events = POLLIN };
    m->client[i].length = 0;
    m->client[i].until = mt_now() + 2;
}

static void *serve(void *monitor)
{
    mt_monitor *m = monitor;
    pthread_setname_np(pthread_self(), "metrics");
    while (m->fd[0].revents == 0) {
        bool any = false;
        for (int i = 0; i < CLIENTS; i++)
            any |= m->fd[2 + i].fd >= 0;
        if (poll(m->fd, 2 + CLIENTS, any ? 200 : -1) < 0) {
            m->fd[0].revents = 0; /* interrupted */
            continue;
        }
        for (int i = 0; i < CLIENTS; i++)
            if (m->fd[2 + i].fd >= 0 && m->fd[2 + i].revents)
                hear(m, i);
            else if (m->fd[2 + i].fd >= 0 && mt_now() > m->client[i].until)
                hang_up(m, i);
        if (m->fd[1].revents)
            take(m);
    }
    return NULL;
}

/* ---- life --------------------------------------------------------------------------------------------------- */

/* A span ended; outer waits contain inner ones. */
static void waited(void *monitor, const mt_span *span)
{
    mt_monitor *m = monitor;
    if (!counts || strcmp(span->name, MT_SPAN_WAIT) != 0)
        return;
    for (const mt_span *s = span->outer; s; s = s->outer)
        if (strcmp(s->name, MT_SPAN_WAIT) == 0)
            return;
    m->waited += span->end - span->begin; /* of the thread that takes the steps */
}

static mt_status listen_at(int *out, int64_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 128) == 0) {
        *out = fd;
        return MT_OK;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    return mt_fail(MT_ERR_ARGUMENT, "--metrics-port %d: %s; choose another port, or leave it out", (int)port,
                   strerror(why));
}

mt_status mt_monitor_open(mt_monitor **out, const mt_monitor_config *config)
{
    int fd = -1;
    sigset_t all, before;
    MT_TRY(listen_at(&fd, config->port));
    mt_monitor *m = calloc(1, sizeof *m);
    MT_CHECK(m, "out of memory");
    *m = (mt_monitor){ .config = *config,
                       .step = config->begun,
                       .started = (double)time(NULL),
                       .last = mt_now(),
                       .lock = PTHREAD_MUTEX_INITIALIZER };
    m->fd[0] = (struct pollfd){ .fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN };
    m->fd[1] = (struct pollfd){ .fd = fd, .events = POLLIN };
    for (int i = 0; i < CLIENTS; i++)
        m->fd[2 + i].fd = -1;
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = m->fd[0].fd < 0 ? errno : pthread_create(&m->thread, NULL, serve, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        close(fd);
        free(m);
        return mt_fail(MT_ERR_UNAVAILABLE, "--metrics-port: no thread: %s", strerror(error));
    }
    counts = true;
    if (config->waits)
        mt_span_listen(waited, m);
    *out = m;
    return MT_OK;
}

void mt_monitor_step(mt_monitor *m, int64_t step, double loss, int64_t samples)
{
    if (!m)
        return;
    double now = mt_now(), seconds = fmax(now - m->last, 1e-9);
    pthread_mutex_lock(&m->lock);
    m->step = step;
    m->samples += samples;
    m->loss = loss;
    m->rate = (double)samples / seconds;
    m->wait_share = (m->waited - m->before) / seconds;
    pthread_mutex_unlock(&m->lock);
    m->last = now;
    m->before = m->waited;
}

void mt_monitor_close(mt_monitor *m)
{
    if (!m)
        return;
    if (m->config.waits)
        mt_span_listen(NULL, NULL);
    (void)!write(m->fd[0].fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    pthread_join(m->thread, NULL);
    for (int i = 0; i < 2 + CLIENTS; i++)
        if (m->fd[i].fd >= 0)
            close(m->fd[i].fd);
    free(m);
}
