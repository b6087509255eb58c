/* sharing.h -- the search for data races in a counting worker; see sharing.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void mg_share_begin(void);
/* mg_share_end -- the code of the first access that raced; 0: none did. */
uintptr_t mg_share_end(void);
/* mg_share_ordered -- whether since the beginning something was done that may order accesses. */
bool mg_share_ordered(void);

/* mg_share_touch -- an access of this thread, by the code at that address. */
void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code);

/* mg_share_release, mg_share_acquire -- what this thread did before a release is before what another one does after an
 * acquire that follows it. mg_share_barrier -- this thread has passed one. mg_share_unknown -- it does something that
 * orders accesses in a way that is not followed. mg_share_forget -- this memory was given out: what was done there
 * before does not count. */
void mg_share_release(void);
void mg_share_acquire(void);
void mg_share_barrier(void);
void mg_share_unknown(void);
void mg_share_forget(const void *from, size_t bytes);

/* mg_share_tell, mg_share_hear -- the same from one thread to another: what this thread did before it told is before
 * what that one does after it has heard. */
enum { MG_SHARE_THREADS = 64 };
typedef struct mg_told {
    uint32_t epoch, clock[MG_SHARE_THREADS];
} mg_told;
void mg_share_tell(mg_told *told);
void mg_share_hear(const mg_told *told);

/* mg_share_pause, mg_share_resume -- around given code by which a unit's ranks exchange messages: what that accesses
 * and locks is not the unit's. Who sends tells, and who has received hears. */
void mg_share_pause(void);
void mg_share_resume(void);

/* mg_share_enter -- around a region of so many threads (0: as many as OpenMP takes); what it returns goes to
 * mg_share_leave. Regions of more than one thread that threads of another begin end what is known of that one.
 * mg_share_region -- a number that differs from that of any region before; 0: nothing is searched. */
uint32_t mg_share_enter(unsigned threads);
void mg_share_leave(uint32_t entered);
uint32_t mg_share_region(void);
