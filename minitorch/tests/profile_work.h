/* profile_work.h -- spans to be profiled in tests of the profiler, and the line of a name. */
#pragma once

#include "core/storage.h"
#include "core/span.h"
#include "testing/profile_here.h"

#include <pthread.h>
#include <string.h>

static inline void spin(double seconds)
{
    for (double end = mt_now() + seconds; mt_now() < end;)
        continue;
}

static inline const mt_profile_line *line_of(const mt_profile *p, const char *name)
{
    for (int64_t i = 0; i < p->line_count; i++)
        if (strcmp(p->line[i].name, name) == 0)
            return &p->line[i];
    return NULL;
}
/* 2 ms, 100 FLOPs, 1000 bytes. */
static inline void inner_work(void)
{
    MT_SPAN("inner");
    mt_count_work(100, 1000);
    spin(0.002);
}

/* 1 ms, 10 FLOPs, 100 bytes around two of them. */
static inline void outer_work(void)
{
    MT_SPAN("outer");
    mt_count_work(7, 70);
    inner_work();
    inner_work();
    spin(0.001);
    mt_count_work(3, 30);
}
static inline void allocate(int64_t bytes)
{
    MT_SPAN("allocate");
    mt_free(mt_alloc(bytes, MT_CPU), bytes, MT_CPU);
}
/* A thread with so many spans, each around another of 1 FLOP and 2 bytes. */
static inline void *loader(void *calls)
{
    pthread_setname_np(pthread_self(), "loader");
    for (int i = 0; i < *(int *)calls; i++) {
        MT_SPAN("fetch");
        MT_SPAN("decode");
        mt_count_work(1, 2);
    }
    return NULL;
}
