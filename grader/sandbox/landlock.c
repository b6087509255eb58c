/* landlock.c -- a ruleset from the sandbox's lists, then the seccomp filter.
 * Source: Linux, Documentation/userspace-api/landlock.rst. */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights of newer kernels, which installed headers may lack. */
#define TRUNCATE               (1ULL << 14)
#define IOCTL_DEV              (1ULL << 15)
#define SCOPE_ABSTRACT_SOCKETS (1ULL << 0)
#define SCOPE_SIGNALS          (1ULL << 1)

enum { WITH_REFER = 2, WITH_TRUNCATE = 3, WITH_IOCTL = 5, WITH_SCOPES = 6, INSTRUCTIONS = 4096 };

static const uint64_t see = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
/* In a folder to write in: plain files and folders, no devices, sockets, pipes or links. */
static const uint64_t change = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                               LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                               LANDLOCK_ACCESS_FS_MAKE_REG | TRUNCATE;
static const uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;

/* As the kernel has it; it accepts the first members alone. */
typedef struct ruleset {
    uint64_t files, net, scoped;
} ruleset;

int mg_landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

/* All accesses that this kernel can refuse. */
static uint64_t handled(int version)
{
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    if (version >= WITH_REFER)
        all |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= WITH_TRUNCATE)
        all |= TRUNCATE;
    if (version >= WITH_IOCTL)
        all |= IOCTL_DEV;
    return all;
}

/* A path that does not exist, or that the process could not reach before, is nothing to allow. */
static bool allow(int rules, const char *path, uint64_t rights)
{
    struct stat st;
    struct landlock_path_beneath_attr rule = { .allowed_access = rights };
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == EACCES;
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access &= of_files;
    bool good = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return good;
}

static bool allow_listed(int rules, const mg_sandbox *s, uint64_t all)
{
    static const char *const toolchain[] = { "/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32" };
    bool good = true;
    for (int64_t i = 0; s->toolchain && i < MT_COUNT(toolchain); i++)
        good = good && allow(rules, toolchain[i], see);
    for (int i = 0; i < MG_PATHS && s->readable[i]; i++)
        good = good && allow(rules, s->readable[i], see);
    for (int i = 0; i < MG_PATHS && s->writable[i]; i++)
        good = good && allow(rules, s->writable[i], (see | change) & all);
    return good;
}

static bool restrict_files(const mg_sandbox *s)
{
    int version = mg_landlock_version();
    ruleset set = { .files = handled(version), .scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS };
    size_t size = version >= WITH_SCOPES ? sizeof set : sizeof set.files;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
    bool good = rules >= 0 && allow_listed(rules, s, set.files) && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return good;
}

static bool restrict_calls(mg_filter filter)
{
    static struct sock_filter code[INSTRUCTIONS];
    int fd = mg_filter_open(filter, getpid());
    ssize_t n = fd < 0 ? 0 : read(fd, code, sizeof code);
    struct sock_fprog program = { .len = (unsigned short)(n / (ssize_t)sizeof code[0]), .filter = code };
    if (fd >= 0)
        close(fd);
    return n > 0 && n < (ssize_t)sizeof code && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool mg_landlock_enter(const mg_sandbox *s)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_files(s) && restrict_calls(s->filter);
}
