/* sandbox.h -- start one untrusted program.
 *
 * With bubblewrap: an empty root with only the listed folders and files in it, no network, no other processes, no
 * environment, a seccomp filter, an unprivileged uid when the grader is root. With Landlock, where there are no user
 * namespaces: it can open only the listed folders and files, and the rest as before, but it can learn whether another
 * file exists, and its number of threads is not limited when the grader is not root. Without both: the same program
 * with limits only. In all cases it has only the listed descriptors, and it ends with the grader. */
#pragma once

#include "sandbox/filter.h"

#include <sys/types.h>

typedef struct mg_limits {
    double cpu_s, wall_s; /* of one check */
    double calls_s;       /* processor time of all calls of a lab; a call that does not come back counts by the clock */
    int64_t memory_mib;   /* address space */
    int64_t file_mib;     /* any one file */
    int64_t output_kib;   /* stdout and stderr together */
    int64_t processes;    /* and threads, of a worker */
} mg_limits;

enum { MG_PATHS = 32, MG_FDS = 4 };

typedef enum mg_confinement { MG_UNCONFINED, MG_LANDLOCK, MG_BUBBLEWRAP } mg_confinement;

typedef struct mg_sandbox {
    mg_confinement confined;
    bool toolchain;                 /* /usr and the folders linked to it, read-only */
    const char *readable[MG_PATHS]; /* files and folders, seen at the same path inside */
    const char *writable[MG_PATHS];
    const char *folder; /* to start in; NULL for / */
    int64_t tmp_mib;    /* a private /tmp of this size; 0 for none */
    mg_filter filter;
    mg_limits limits;
    int cpus;                /* on how many processors it may run; 0 for all */
    int cpu_shift;           /* which ones: counted down from the last, with this offset */
    int fd[MG_FDS], fds;     /* become descriptors 3, 4, ... */
    const char *const *argv; /* NULL-terminated; argv[0] is an absolute path */
} mg_sandbox;

typedef struct mg_process {
    pid_t child;  /* the process that we wait for: bubblewrap, or the program itself */
    pid_t reaper; /* inside bubblewrap, the parent of the program; 0 without */
    int pidfd;    /* of child; readable when it has ended */
    int output;   /* what the program prints, non-blocking */
} mg_process;

/* mg_sandbox_probe -- whether this kind works here. If not, mt_last_error has the reason and what to do. */
mt_status mg_sandbox_probe(mg_confinement kind);

/* mg_sandbox_choose -- the strongest that works here; if it is not bubblewrap, `why` says why. */
mg_confinement mg_sandbox_choose(char *why, size_t size);

/* mg_sandbox_find -- the one called "bubblewrap", "landlock" or "none"; NULL: mg_sandbox_choose. Fails when it does not
 * work here. */
mt_status mg_sandbox_find(const char *name, mg_confinement *kind, char *why, size_t size);

/* mg_sandbox_start -- start the program; end *process with mg_process_end. */
mt_status mg_sandbox_start(mg_process *process, const mg_sandbox *sandbox);

/* mg_process_end -- kill what is left of it and wait; returns its wait status as from waitpid. Idempotent. */
int mg_process_end(mg_process *process);

/* mg_uid -- the uid and gid that sandboxed programs run under: as root, those of a user that no other
 * process has, or nobody's where there is none. Root of a user namespace that has no such user stays what it is. */
uid_t mg_uid(void);

/* mg_drop_root -- become mg_uid, for ever, without root's groups and capabilities. False: it is not possible. */
bool mg_drop_root(void);
