/* pool.h -- how the checks of steps 10.6 to 10.9 tell the worker what happens to a pool: one row of two numbers per
 * event.
 *
 *     { MG_POOL_ALLOC, 1000 }, { MG_POOL_FREE, 0 }, { MG_POOL_EMPTY, 0 }
 *
 * The system under the pool has addresses and no memory: each piece that it gives begins where the one before ends. */
#pragma once

enum { MG_POOL_COLUMNS = 2, MG_POOL_PIECES = 8192 /* that the system gives at most */ };

enum {
    MG_POOL_ALLOC,   /* so many bytes */
    MG_POOL_FREE,    /* the block that this event, counted from 0, allocated */
    MG_POOL_EMPTY,   /* mt_pool_empty */
    MG_POOL_RESERVE, /* mt_pool_reserve of so many bytes, which the system has */
};
