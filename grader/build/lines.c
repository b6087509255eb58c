/* lines.c -- which lines of the units the addresses of a worker come from: addr2line, in the sandbox. */
#include "build/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What addr2line prints: for each address a line "0x...", then its frames, "FILE:LINE", innermost first. */
static bool look_up(const mg_build *b, const char *worker, const uint64_t *pc, int count, char *log, size_t size)
{
    char address[MG_MOST_LINES][32];
    const char *argv[6 + MG_MOST_LINES] = { "/usr/bin/addr2line", "-a", "-i", "-e", worker };
    for (int i = 0; i < count && i < MG_MOST_LINES; i++) {
        snprintf(address[i], sizeof address[i], "0x%llx", (unsigned long long)pc[i] - 1);
        argv[5 + i] = address[i];
    }
    mg_sandbox box = mg_tool_box(b, argv, NULL);
    box.readable[0] = worker;
    return count > 0 && mg_run_tool(&box, "addr2line", NULL, log, size) == MT_OK;
}

void mg_build_lines(const mg_build *b, const char *worker, const uint64_t *pc, int count, char (*text)[MG_LINE_TEXT])
{
    enum { LOG = 64 << 10 };
    static const char source[] = MG_UNITS_PLACE "/";
    char *log = calloc(1, LOG), *rest = NULL;
    MT_CHECK(log, "out of memory");
    size_t n = strlen(source);
    int at = -1;
    for (int i = 0; i < count; i++)
        text[i][0] = 0;
    if (look_up(b, worker, pc, count, log, LOG))
        for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (strncmp(line, "0x", 2) == 0)
                at++;
            else if (at >= 0 && at < count && !text[at][0] && strncmp(line, source, n) == 0)
                snprintf(text[at], MG_LINE_TEXT, "%.*s", (int)strcspn(line + n, " "), line + n);
        }
    free(log);
}

bool mg_build_line(const mg_build *b, const char *worker, const uint64_t *pc, int count, char *text, size_t size)
{
    char each[MG_MOST_LINES][MG_LINE_TEXT];
    int known = 0;
    while (known < count && known < MG_MOST_LINES && pc[known])
        known++;
    mg_build_lines(b, worker, pc, known, each);
    for (int i = 0; i < known; i++)
        if (each[i][0]) {
            snprintf(text, size, "%s", each[i]);
            return true;
        }
    return false;
}
