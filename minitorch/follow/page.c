/* page.c -- see follow.h. What a library for HTTP does more (keep-alive, chunks, TLS) is not needed here. Up to CLIENTS
 * connections at a time; each has two seconds and REQUEST bytes for its request. An answer is shorter than a socket's
 * buffer, so that writing never waits for a client. */
#include "follow/follow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 32, REQUEST = 2048 };

typedef struct client {
    int length; /* bytes of the request so far */
    double until;
    char request[REQUEST];
} client;

struct mt_page {
    void (*text)(void *user, char text[MT_PAGE]);
    void *user;
    struct pollfd fd[1 + CLIENTS]; /* listen, clients; -1: free */
    client client[CLIENTS];
};

/* ---- clients ------------------------------------------------------------------------------------------------ */

static void hang_up(mt_page *p, int i)
{
    close(p->fd[1 + i].fd);
    p->fd[1 + i].fd = -1;
}

static void answer(mt_page *p, int i, const char *status)
{
    char page[MT_PAGE] = "", all[MT_PAGE + 256];
    const char *request = p->client[i].request;
    if (!status && strncmp(request, "GET ", 4) != 0)
        status = "405 Method Not Allowed";
    else if (!status && strncmp(request + 4, "/metrics", 8) == 0 && strchr(" ?\r\n", request[12]))
        p->text(p->user, page);
    else if (!status)
        status = "404 Not Found";
    if (status)
        snprintf(page, sizeof page, "%s; figures are at /metrics\n", status);
    int n = snprintf(all, sizeof all,
                     "HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     status ? status : "200 OK", strlen(page), page);
    (void)!send(p->fd[1 + i].fd, all, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(p->fd[1 + i].fd, SHUT_WR);
    hang_up(p, i);
}

static void hear(mt_page *p, int i)
{
    client *c = &p->client[i];
    ssize_t n = recv(p->fd[1 + i].fd, c->request + c->length, (size_t)(REQUEST - 1 - c->length), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(p, i);
        return;
    }
    c->length += (int)n;
    c->request[c->length] = 0;
    if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
        answer(p, i, NULL);
    else if (c->length == REQUEST - 1 || memchr(c->request, 0, (size_t)c->length))
        answer(p, i, "431 Request Header Fields Too Large");
}

/* In the place of the one that has waited longest, if there is no other. */
static void take(mt_page *p)
{
    int fd = accept4(p->fd[0].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), i = 0;
    if (fd < 0)
        return;
    for (int k = 0; k < CLIENTS; k++)
        if (p->fd[1 + i].fd >= 0 && (p->fd[1 + k].fd < 0 || p->client[k].until < p->client[i].until))
            i = k;
    if (p->fd[1 + i].fd >= 0)
        hang_up(p, i);
    p->fd[1 + i] = (struct pollfd){ .fd = fd, .events = POLLIN };
    p->client[i].length = 0;
    p->client[i].until = mt_now() + 2;
}

void mt_page_serve(mt_page *p, double seconds)
{
    if (poll(p->fd, 1 + CLIENTS, (int)(seconds * 1000)) < 0)
        return; /* interrupted */
    for (int i = 0; i < CLIENTS; i++)
        if (p->fd[1 + i].fd >= 0 && p->fd[1 + i].revents)
            hear(p, i);
        else if (p->fd[1 + i].fd >= 0 && mt_now() > p->client[i].until)
            hang_up(p, i);
    if (p->fd[0].revents)
        take(p);
}

/* ---- life --------------------------------------------------------------------------------------------------- */

static int listen_at(int64_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 128) == 0)
        return fd;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

mt_status mt_page_open(mt_page **out, int64_t port, void (*text)(void *user, char text[MT_PAGE]), void *user)
{
    const struct timespec pause = { .tv_nsec = 50000000 };
    int fd = listen_at(port);
    for (int tries = 0; fd < 0 && errno == EADDRINUSE && tries < 20; tries++) {
        nanosleep(&pause, NULL);
        fd = listen_at(port);
    }
    if (fd < 0)
        return mt_fail(MT_ERR_ARGUMENT, "--metrics-port %d: %s; choose another port, or leave it out", (int)port,
                       strerror(errno));
    mt_page *p = mt_calloc(1, sizeof *p);
    p->text = text, p->user = user;
    p->fd[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
    for (int i = 0; i < CLIENTS; i++)
        p->fd[1 + i].fd = -1;
    *out = p;
    return MT_OK;
}

void mt_page_close(mt_page *p)
{
    for (int i = 0; p && i < 1 + CLIENTS; i++)
        if (p->fd[i].fd >= 0)
            close(p->fd[i].fd);
    free(p);
}
