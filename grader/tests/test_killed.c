/* test_killed.c -- a grader that is killed, or stopped with Ctrl-C, leaves no process and no folder behind. */
#include "toy.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char endless[] =
    "#include <stdint.h>\n#include <time.h>\nvoid toy(float *out, const float *x, int64_t n)\n"
    "{ (void)out; (void)x; (void)n; for (;;) nanosleep(&(struct timespec){ .tv_sec = 9 }, 0); }\n";

static void nap(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* The command line of a process, its words separated by blanks. */
static void command_of(long pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = 0;
    if (file)
        fclose(file);
}

/* Wait until the grader starts a worker; its scratch folder, from the worker's path in a child's command line. */
static bool find_scratch(pid_t grader, char folder[PATH_MAX])
{
    for (int i = 0; i < 15000; i++, nap(1)) {
        char path[64], children[256] = "", text[8192];
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)grader, (int)grader);
        FILE *file = fopen(path, "r");
        if (!file || !fgets(children, sizeof children, file))
            children[0] = 0;
        if (file)
            fclose(file);
        for (char *p = children; *p;) {
            command_of(strtol(p, &p, 10), text, sizeof text);
            p += strspn(p, " ");
            char *end = strstr(text, "/out/worker"), *start = end;
            while (start && start > text && start[-1] != ' ')
                start--;
            if (end) {
                mg_path(folder, "%.*s", (int)(end - start), start);
                return true;
            }
        }
    }
    return false;
}

static bool anyone_in(const char *folder)
{
    char text[8192];
    bool found = false;
    DIR *processes = opendir("/proc");
    for (struct dirent *e; !found && (e = readdir(processes));)
        if (strtol(e->d_name, NULL, 10) > 0) {
            command_of(strtol(e->d_name, NULL, 10), text, sizeof text);
            found = strstr(text, folder) != NULL;
        }
    closedir(processes);
    return found;
}

static void kill_with(const toy *t, int signal_number, int ms)
{
    char folder[PATH_MAX];
    pid_t grader = fork();
    if (grader == 0) {
        signal(SIGINT, SIG_DFL);
        toy_grade(t, endless, "90.1");
        _exit(0);
    }
    cr_assert(find_scratch(grader, folder), "no worker was started");
    cr_assert_eq(access(folder, F_OK), 0, "%s", folder);
    nap(ms);
    kill(grader, signal_number);
    waitpid(grader, NULL, 0);
    for (int i = 0; i < 400 && (access(folder, F_OK) == 0 || anyone_in(folder)); i++)
        nap(50);
    cr_expect_neq(access(folder, F_OK), 0, "%s is still there", folder);
    cr_expect_not(anyone_in(folder), "a process of %s still runs, killed after %d ms", folder, ms);
}

Test(killed, by_sigkill, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    kill_with(&t, SIGKILL, 200);
    toy_close(&t);
}

/* Until the last step of its start, bubblewrap's child does not end with its parent. */
Test(killed, while_the_sandbox_is_made, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    for (int ms = 0; ms < 6; ms++)
        kill_with(&t, SIGKILL, ms);
    toy_close(&t);
}

Test(killed, by_ctrl_c, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    kill_with(&t, SIGINT, 200);
    toy_close(&t);
}
