/* call.c -- a call and its arguments, by the names that the check has given them (call.h). Where the call takes what
 * the check does not describe, the worker ends, and the verdict is the grader's ERROR (sandbox/death.c). A counted call
 * looks its arguments up, too: nothing here calls the C library before the worker ends. */
#include "sandbox/wire.h"
#include "worker/aborts.h"
#include "worker/call.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The lab's table; the linker sets this name to mg_calls_NN (grader/build/link.c). */
extern const mg_function mg_calls[];

static const char *called; /* the function that was looked up last */

static mg_function refused; /* what a call that may abort calls */

/* One thread: the jump must not be out of a team. */
static void call_or_abort(const mg_value *v)
{
    int64_t *aborted = I64(aborted);
    omp_set_num_threads(1);
    *aborted = mg_aborts(refused.call, v);
}

static const mg_function *in_table(const char *name)
{
    const mg_function *f = mg_calls;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

const mg_function *mg_function_of(const char *name)
{
    static const char may[] = "may abort: ";
    static mg_function guarded;
    const mg_function *f = in_table(name);
    called = name;
    const mg_function *other = !f && strncmp(name, may, strlen(may)) == 0 ? in_table(name + strlen(may)) : NULL;
    if (!other)
        return f;
    refused = *other;
    guarded = (mg_function){ name, call_or_abort };
    return &guarded;
}

static const char *words_of(int what)
{
    static const char *const types[MT_DTYPE_COUNT] = { "an array of f32", "an array of f16", "an array of bf16",
                                                       "an array of i32", "an array of i64", "an array of u8" };
    static const char *const others[] = { "an array", "an integer", "a float", "a double", "NULL" };
    return what < MT_DTYPE_COUNT ? types[what] : others[what - MT_DTYPE_COUNT];
}

/* Whether it is this name with the number, of two digits at most, behind it. */
static bool is_named(const char *it, const char *name, int64_t number)
{
    while (*name && *it == *name)
        it++, name++;
    if (number >= 10 && !*name && *it == '0' + number / 10)
        it++;
    if (number >= 0 && !*name && *it == '0' + number % 10)
        it++, number = -1;
    return !*name && !*it && number < 0;
}

static bool fits(int given, int wanted)
{
    return given == wanted || (wanted <= MG_ANY && (given == MG_NONE || (wanted == MG_ANY && given < MT_DTYPE_COUNT)));
}

const mg_value *mg_argument_of(const mg_value *v, const char *name, int64_t number, int what, const char *file)
{
    const mg_value *found = v;
    while (found->name && !is_named(found->name, name, number))
        found++;
    if (!found->name || !fits(found->what, what)) {
        char digits[24] = "";
        if (number >= 0)
            snprintf(digits, sizeof digits, "%lld", (long long)number);
        fprintf(stderr, "\nthe call %s (%s) takes \"%s%s\", %s, which the check %s%s\n", called, file, name, digits,
                words_of(what), found->name ? "describes as " : "does not describe",
                found->name ? words_of(found->what) : "");
        _exit(MG_EXIT_DISAGREES);
    }
    return found;
}
