/* attack  02.1 writes its own results.json, wherever it can
 * hopes   it is read instead of the grader's; or at least a file is left behind
 * stopped by seccomp: no open; an empty root, or Landlock; results are written by the checker
 * behind  the list
 * earns   1
 * verdict FAIL
 * stops   random shapes */
#include "core/base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void mt_linear_fwd_cpu(void)
{
    static const char *const paths[] = { "results.json",      "@ROOT@/build/report/02.json", "@HERE@/canary/file",
                                         "/tmp/results.json", "/tmp/minitorch-pwned",        "@CANARY@",
                                         "/minitorch-pwned",  "/dev/shm/minitorch-pwned",    "../minitorch-pwned" };
    for (int i = 0; i < (int)(sizeof paths / sizeof *paths); i++) {
        int fd = open(paths[i], O_CREAT | O_WRONLY, 0666);
        if (fd >= 0)
            MT_CHECK(write(fd, "pwned", 5) < 0, "BREACH: wrote %s", paths[i]);
    }
    if (mkdir("/tmp/minitorch-pwned", 0777) == 0 || symlink("/etc/passwd", "/tmp/minitorch-pwned") == 0)
        MT_CHECK(0, "BREACH: made a folder or a link");
}

void mt_linear_bwd_cpu(void)
{
}
