/* source.c -- the source line of an instruction, found by addr2line (of binutils, which gcc needs).
 *
 * One process serves all queries, since most of its time goes into reading the debug information. Where it cannot be
 * started (it is not installed, or a sandbox forbids it) reports give addresses instead of lines.
 */
#include <elf.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include "emulator/run/findings.h"

typedef struct answer {
    uintptr_t pc;
    char *file; /* NULL: unknown */
    int line;
} answer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static answer *answers;
static size_t answer_count, answer_room;
static FILE *ask, *reply;
static bool failed;

extern char **environ;

static bool start(void)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int in[2], out[2];
    if (length < 0 || pipe2(in, O_CLOEXEC))
        return false;
    program[length] = 0;
    if (pipe2(out, O_CLOEXEC))
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    char *const arguments[] = { "addr2line", "-a", "-i", "-e", program, NULL };
    pid_t child;
    int error = posix_spawnp(&child, "addr2line", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (!error) {
        ask = fdopen(in[1], "w");
        reply = fdopen(out[0], "r");
    }
    return !error && ask && reply;
}

/* The address as addr2line expects it: relative to the file if the program is position-independent. */
static uintptr_t address_in_file(uintptr_t pc)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)__executable_start;
    return header->e_type == ET_DYN ? pc - (uintptr_t)__executable_start : pc;
}

/* Is it a file of the program, not of a library? A program may lie anywhere, also below /usr. -fdebug-prefix-map
 * (cuemu, emulator.mk) puts the emulator's headers and runtime into /usr/include. Frames come innermost first. */
static bool is_program_file(const char *file)
{
    static const char *const libraries[] = { "/usr/include/", "/usr/lib/", "/usr/local/include/", "??", NULL };
    for (int i = 0; libraries[i]; i++)
        if (!strncmp(file, libraries[i], strlen(libraries[i])))
            return false;
    return !strstr(file, "/include/c++/"); /* of a g++ that is installed elsewhere */
}

static char *shorten(const char *file)
{
    char here[4096];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return strdup(n > 1 && !strncmp(file, here, n) && file[n] == '/' ? file + n + 1 : file);
}

/* Reads "0x<pc>", frames "file:line ...", then the same for address 0, which marks the end of the answer. */
static void read_answer(answer *a)
{
    char text[4200];
    bool last = false;
    for (int i = 0; fgets(text, sizeof text, reply); i++) {
        if (!strncmp(text, "0x", 2)) {
            last = i > 0;
            continue;
        }
        if (last)
            return;
        char *colon = strrchr(text, ':');
        if (a->file || !colon)
            continue;
        *colon = 0;
        if (is_program_file(text)) {
            a->file = shorten(text);
            a->line = atoi(colon + 1);
        }
    }
    failed = true;
}

static const answer *find(uintptr_t pc)
{
    for (size_t i = 0; i < answer_count; i++)
        if (answers[i].pc == pc)
            return &answers[i];
    if (answer_count == answer_room) {
        answer_room = answer_room ? 2 * answer_room : 64;
        answers = realloc(answers, answer_room * sizeof *answers);
    }
    answer *a = &answers[answer_count++];
    *a = (answer){ .pc = pc };
    failed |= !ask && !start();
    if (failed)
        return a;
    fprintf(ask, "0x%lx\n0x0\n", (unsigned long)(address_in_file(pc) - 1)); /* a return address is after its call */
    fflush(ask);
    read_answer(a);
    return a;
}

bool emu_source(uintptr_t pc, const char **file, int *line)
{
    pthread_mutex_lock(&lock);
    const answer *a = find(pc);
    bool known = a->file;
    if (known) {
        *file = a->file;
        *line = a->line;
    }
    pthread_mutex_unlock(&lock);
    return known;
}
