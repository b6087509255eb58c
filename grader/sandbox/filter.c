/* filter.c -- the seccomp programs.
 *
 * The worker is a static binary: it needs only libc's start, malloc, OpenMP threads and a few pipes, so its filter is a
 * list of allowed calls. A compiler needs many calls, so its filter is a list of forbidden ones; it is confined by the
 * file system, and it runs no code of a student. The flags of clone3 are behind a pointer that a filter cannot read, so
 * clone3 returns ENOSYS and libc uses clone. */
#include "sandbox/filter.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const worker_allowed[] = {
    /* start and end */
    "execve",
    "exit",
    "exit_group",
    "arch_prctl",
    "set_tid_address",
    "set_robust_list",
    "rseq",
    "uname",
    /* memory */
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "mincore", /* of the emulator: is this a host pointer? */
    /* threads and signals of its own */
    "futex",
    "sched_yield",
    "sched_getaffinity",
    "getpid",
    "gettid",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    "wait4", /* of bubblewrap's own pid 1, which the filter covers too */
    /* pipes, and what stdio calls for them */
    "read",
    "write",
    "readv",
    "writev",
    "close",
    "fstat",
    "newfstatat",
    "lseek",
    /* time and random numbers */
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "nanosleep",
    "clock_nanosleep",
    "getrandom",
};

/* Memory is never executable: the instructions of a worker are those that were judged and linked (build/judge.c). The
 * kernel maps the program itself, and a static one maps no other. The third argument of both is the protection. */
static const char *const never_executable[] = { "mmap", "mprotect" };

/* In other workers a timer could send SIGCONT, which undoes our SIGSTOP. */
static const char *const timers[] = { "timer_create", "timer_settime", "timer_delete" };

static const char *const compiler_denied[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "mount_setattr",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "open_by_handle_at",
    "name_to_handle_at",
    "quotactl",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "memfd_create",
    "memfd_secret",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setattr",
    "acct",
    "syslog",
};

enum {
    NEW_NAMESPACES =
        CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP
};

/* A name that is unknown on this architecture or to this libseccomp is skipped. */
static int add_names(scmp_filter_ctx context, uint32_t action, const char *const *name, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(name[i]);
        int error = number < 0 ? 0 : seccomp_rule_add(context, action, number, 0);
        if (error)
            return error;
    }
    return 0;
}

static int add_memory_rules(scmp_filter_ctx context)
{
    int error = 0;
    for (int64_t i = 0; i < MT_COUNT(never_executable) && !error; i++)
        error = seccomp_rule_add(context, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(never_executable[i]), 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return error;
}

static int add_worker_rules(scmp_filter_ctx context, bool device, pid_t self)
{
    int error = add_names(context, SCMP_ACT_ALLOW, worker_allowed, MT_COUNT(worker_allowed));
    if (!error && device)
        error = add_names(context, SCMP_ACT_ALLOW, timers, MT_COUNT(timers));
    if (!error)
        error = add_memory_rules(context);
    if (!error) /* threads, never processes */
        error = seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | NEW_NAMESPACES, CLONE_THREAD));
    if (!error) /* abort and raise, but not SIGCONT, which would undo our SIGSTOP */
        error = seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), self ? 2 : 1, SCMP_A2(SCMP_CMP_LT, SIGCONT),
                                 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)self));
    if (!error) /* its own limits, which it can only lower */
        error = seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_EQ, 0));
    return error;
}

static int add_compiler_rules(scmp_filter_ctx context)
{
    int error = add_names(context, SCMP_ACT_ERRNO(EPERM), compiler_denied, MT_COUNT(compiler_denied));
    for (int bit = 0; bit < 31 && !error; bit++)
        if (NEW_NAMESPACES & (1 << bit))
            error = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                     SCMP_A0(SCMP_CMP_MASKED_EQ, 1u << bit, 1u << bit));
    return error;
}

static int write_program(scmp_filter_ctx context)
{
    int fd = memfd_create("seccomp", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (seccomp_export_bpf(context, fd) || lseek(fd, 0, SEEK_SET)) {
        close(fd);
        return -1;
    }
    return fd;
}

int mg_filter_open(mg_filter filter, pid_t self)
{
    bool worker = filter != MG_FILTER_COMPILER;
    scmp_filter_ctx context = seccomp_init(worker ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
    int fd = -1;
    if (context && !seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) &&
        !seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) &&
        !(worker ? add_worker_rules(context, filter == MG_FILTER_DEVICE, self) : add_compiler_rules(context)))
        fd = write_program(context);
    seccomp_release(context);
    if (fd < 0)
        mt_fail(MT_ERR_UNAVAILABLE, "cannot make the seccomp filter");
    return fd;
}
