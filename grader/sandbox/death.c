/* death.c -- the description of how a worker ended. It comes from the worker or its exit status, so it is shown but not
 * trusted. */
#include "sandbox/death.h"
#include "sandbox/wire_traffic.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LINES = 6 };

void mg_tail_add(char tail[MG_TAIL], int64_t *tail_bytes, const char *chunk, int64_t bytes)
{
    if (bytes > MG_TAIL) {
        chunk += bytes - MG_TAIL;
        bytes = MG_TAIL;
    }
    int64_t keep = mt_min(*tail_bytes, MG_TAIL - bytes);
    memmove(tail, tail + *tail_bytes - keep, (size_t)keep);
    memcpy(tail + keep, chunk, (size_t)bytes);
    *tail_bytes = keep + bytes;
}

void mg_tail_lines(char *text, size_t size, const char *tail, int64_t bytes)
{
    int64_t from = bytes, lines = 0;
    while (bytes > 0 && isspace((unsigned char)tail[bytes - 1]))
        bytes--;
    for (from = bytes; from > 0 && bytes - from < (int64_t)size - 1; from--)
        if (tail[from - 1] == '\n' && ++lines == LINES)
            break;
    const char *cut = from > 0 && tail[from - 1] != '\n' ? memchr(tail + from, '\n', (size_t)(bytes - from)) : NULL;
    from = cut ? cut + 1 - tail : from; /* whole lines, but for one that is longer than the text may be */
    for (; from < bytes && size > 1; from++, size--)
        *text++ = isprint((unsigned char)tail[from]) || tail[from] == '\n' ? tail[from] : '?';
    *text = 0;
}

static const char *signal_words(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV (an access to memory that is not mapped)";
    case SIGBUS:
        return "SIGBUS (an access to memory that does not exist)";
    case SIGFPE:
        return "SIGFPE (an integer divided by zero)";
    case SIGILL:
        return "SIGILL (an instruction this processor lacks, or __builtin_trap)";
    case SIGABRT:
        return "SIGABRT (abort, or a failed check)";
    case SIGKILL:
        return "SIGKILL (out of memory?)";
    case SIGXFSZ:
        return "SIGXFSZ (a file grew too large)";
    default:
        return strsignal(number);
    }
}

/* What a library said before it aborted, in words for a student; "": it says enough; NULL for others. */
static const char *abort_words(const char *lines)
{
    if (strstr(lines, "stack smashing detected"))
        return "a local array was written past its end";
    if (strstr(lines, "heap overrun") || strstr(lines, "pthread_join of a thread"))
        return "";
    if (strstr(lines, "corrupted") || strstr(lines, "invalid pointer") || strstr(lines, "double free"))
        return "the heap was destroyed: an array of malloc was written outside its bounds, or freed twice";
    return NULL;
}

mg_verdict mg_describe_death(char *text, size_t size, int status, const char *words, const char *tail,
                             int64_t tail_bytes)
{
    char lines[640];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : code > 128 && code < 128 + 65 ? code - 128 : 0;
    mg_tail_lines(lines, sizeof lines, tail, tail_bytes);
    if (code == MG_EXIT_DISAGREES && !words[0]) {
        const char *last = strrchr(lines, '\n');
        snprintf(text, size, "%s", last ? last + 1 : lines);
        return MG_ERROR;
    }
    const char *known = number ? abort_words(lines) : NULL;
    const char *why = words[0] ? words : known ? known : number ? signal_words(number) : NULL;
    if (why)
        snprintf(text, size, "%s%s%s", why, why[0] && lines[0] ? "\n" : "", lines);
    else
        snprintf(text, size, "left with exit status %d instead of answering%s%s", code, lines[0] ? "\n" : "", lines);
    return code == MT_EXIT_TODO && !words[0] ? MG_TODO : MG_CRASH;
}

/* An access near 0 goes through a null pointer, or through one whose bytes are all JUNK (worker/heap.c), which is -1:
 * with the offset of a member, a multiple of 4, it is 3 modulo 4. Nothing is mapped there. */
static void describe_address(char *text, size_t size, int64_t address)
{
    enum { NEAR = 1 << 16 };
    bool near = address >= -NEAR && address < NEAR;
    if (near && (address < 0 || address % 4 == 3))
        snprintf(text, size,
                 "touched address %#llx, %lld bytes behind a pointer of bytes 0xff: it was read from memory that is "
                 "freed, or that was never written",
                 (unsigned long long)address, (long long)address + 1);
    else if (near && address > 0)
        snprintf(text, size, "touched address %#llx, %lld bytes behind 0 (a null pointer)", (unsigned long long)address,
                 (long long)address);
    else
        snprintf(text, size, "touched address %#llx%s", (unsigned long long)address, near ? " (a null pointer)" : "");
}

void mg_describe_fault(char *text, size_t size, const mg_wire_reply *fault, const mg_invocation *in)
{
    int64_t d = fault->distance;
    if (fault->value == MG_OTHER) {
        text[0] = 0; /* the signal says more */
    } else if (fault->value == MG_STACK) {
        snprintf(text, size, "the stack overflowed (endless recursion, or a huge local array)");
    } else if (fault->value == MG_SMALL_STACK) {
        snprintf(
            text, size,
            "the stack overflowed: this call is counted, with a stack of %d MiB; larger arrays come from malloc, and "
            "their bytes count",
            MG_COUNTED_STACK >> 20);
    } else if (fault->value == MG_RETURN) {
        snprintf(text, size, "went on at an address where no code is: a local array was written past its end");
    } else if (fault->value == MG_SMASHED) {
        snprintf(text, size, "a local array was written past its end: a pointer beside it was overwritten");
    } else if (fault->value == MG_WILD) {
        snprintf(
            text, size,
            "used a pointer that is not an address: never written, overwritten, or read from freed memory; or read "
            "or wrote a vector at an address that is no multiple of its size");
    } else if (fault->value < 0) {
        describe_address(text, size, d);
    } else {
        const mg_argument *a = &in->argument[fault->value];
        int64_t each = mt_dtype_size(a->dtype), element = d >= 0 ? d / each : -((each - 1 - d) / each);
        const char *shape = mt_shape_text(a->shape);
        if (d >= 0 && d < a->bytes)
            snprintf(text, size, "wrote to element %lld of %s %s, which is an input", (long long)element, a->name,
                     shape);
        else
            snprintf(text, size, "touched element %lld of %s %s, %s", (long long)element, a->name, shape,
                     d < 0 ? "before its start" : "past its end");
    }
}
