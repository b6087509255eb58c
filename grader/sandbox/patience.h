/* patience.h -- time limits that count only while we run.
 *
 * A machine may stop for seconds or minutes: a virtual machine is paused, a busy one runs other programs. The clock
 * continues, but the process that we wait for does not, so this time must not count against its limits. */
#pragma once

#include "core/base.h"

#include <poll.h>

#define MG_MOST_TICK 0.5  /* seconds between two polls; if more passed, we did not run, and neither did the others */
enum { MG_TICK_MS = 50 }; /* time between two polls */

typedef struct mg_patience {
    double waited, before;
} mg_patience;

static inline mg_patience mg_patience_new(void)
{
    return (mg_patience){ .before = mt_now() };
}

/* mg_waiting -- seconds waited so far; call it at least twice a second. */
static inline double mg_waiting(mg_patience *p)
{
    double now = mt_now(), passed = now - p->before;
    p->waited += passed < MG_MOST_TICK ? passed : MG_MOST_TICK;
    p->before = now;
    return p->waited;
}

/* mg_wait_readable -- wait until a descriptor has something to read or can have nothing more; false after `seconds`. */
static inline bool mg_wait_readable(int fd, double seconds)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    mg_patience patience = mg_patience_new();
    while (mg_waiting(&patience) < seconds)
        if (poll(&p, 1, MG_TICK_MS) > 0)
            return true;
    return false;
}
