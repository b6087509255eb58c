/* statics.c -- see statics.h. */
#include "worker/statics.h"

#include "core/base.h"
#include "worker/sharing.h"

#include <string.h>
#include <sys/mman.h>

enum { MOST = 64 << 20 }; /* bytes that are looked at of each range */

typedef struct range {
    const char *from, *end;
    char *before;
} range;

static range ranges[] = { { mg_data_begin, mg_data_end, NULL }, { mg_bss_begin, mg_bss_end, NULL } };

static size_t size_of(const range *r)
{
    return (size_t)mt_min(r->end - r->from, MOST);
}

/* Threads that the unit has started may write there: the reads of these two are none of the unit's. */
void mg_statics_keep(void)
{
    mg_share_pause();
    for (range *r = ranges; r < ranges + MT_COUNT(ranges); r++) {
        r->before = mmap(NULL, size_of(r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MT_CHECK(r->before != MAP_FAILED, "out of memory for a copy of static memory");
        memcpy(r->before, r->from, size_of(r));
    }
    mg_share_resume();
}

bool mg_statics_changed(void)
{
    bool changed = false;
    mg_share_pause();
    for (range *r = ranges; r < ranges + MT_COUNT(ranges); r++) {
        changed = changed || memcmp(r->before, r->from, size_of(r)) != 0;
        munmap(r->before, size_of(r));
    }
    mg_share_resume();
    return changed;
}
