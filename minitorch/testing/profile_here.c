/* profile_here.c -- see profile_here.h: the recording is a file in memory. */
#include "testing/profile_here.h"
#include "prof/recorder.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    int fd;
    int64_t events;
    char path[32];
} here;

void mt_profile_begin(int64_t events)
{
    MT_CHECK(events >= 0, "a profile of %lld events", (long long)events);
    int fd = memfd_create("profile", MFD_CLOEXEC);
    char path[sizeof here.path];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    MT_CHECK(fd >= 0 && mt_record_begin(path) == MT_OK, "mt_profile_begin: %s", mt_last_error());
    here.fd = fd;
    here.events = events;
    memcpy(here.path, path, sizeof path);
}

mt_profile *mt_profile_end(void)
{
    mt_profile *p = NULL;
    mt_status status = mt_record_end(0);
    if (status == MT_OK)
        status = mt_profile_read(&p, here.path, here.events);
    MT_CHECK(status == MT_OK, "mt_profile_end: %s", mt_last_error());
    close(here.fd);
    return p;
}
