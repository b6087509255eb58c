/* user.c -- who sandboxed programs run as. Limits on processes count all processes of a user, those in other containers
 * too, so each grader that is root takes a user that nobody else has. */
#include "sandbox/sandbox.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NOBODY = 65534,
    OWN = 0x70000000, /* no system gives the users above this number to anyone (systemd.io/UIDS-GIDS) */
    OWNS = 0x0fffffff,
};

/* Whether `id` exists here: in a user namespace only those of its map do ("inside outside count"). */
static bool is_mapped(const char *map, unsigned long id)
{
    unsigned long first, outside, count;
    bool mapped = false;
    FILE *file = fopen(map, "re");
    while (file && !mapped && fscanf(file, "%lu %lu %lu", &first, &outside, &count) == 3)
        mapped = id >= first && id - first < count;
    if (file)
        fclose(file);
    return mapped;
}

/* Whether root is allowed to give up its groups; not in a user namespace that an ordinary user has made. */
static bool may_set_groups(void)
{
    char word[8] = "";
    FILE *file = fopen("/proc/self/setgroups", "re");
    bool denied = file && fscanf(file, "%7s", word) == 1 && strcmp(word, "deny") == 0;
    if (file)
        fclose(file);
    return !denied;
}

/* A container that has few users has nobody; its user namespace counts its own processes only. */
static uid_t choose_user(void)
{
    uint32_t draw = (uint32_t)getpid();
    if (geteuid() || !may_set_groups())
        return geteuid();
    ssize_t drawn = getrandom(&draw, sizeof draw, 0);
    (void)drawn;
    const uid_t users[] = { OWN + draw % OWNS, NOBODY };
    for (int i = 0; i < MT_COUNT(users); i++)
        if (is_mapped("/proc/self/uid_map", users[i]) && is_mapped("/proc/self/gid_map", users[i]))
            return users[i];
    return geteuid();
}

uid_t mg_uid(void)
{
    static _Atomic int64_t known = -1; /* asked once: a child has limits of memory, which reading files may exceed */
    if (known < 0)
        known = choose_user();
    return (uid_t)known;
}

/* Root of a user namespace that has no other user: without capabilities it may do what the user outside may. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED; /* exec as uid 0 gives none either */
    return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0 && syscall(SYS_capset, &head, none) == 0;
}

bool mg_drop_root(void)
{
    uid_t user = mg_uid();
    if (geteuid() != 0)
        return true;
    if (user == 0)
        return drop_capabilities();
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}
