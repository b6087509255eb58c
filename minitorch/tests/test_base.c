/* test_base.c -- programming errors abort with a message, unwritten steps exit with 77, the last error is per thread.
 * */
#include "aborts.h"
#include "core/base.h"

#include <pthread.h>
#include <stdlib.h>

Test(base, check_that_holds_is_silent_and_evaluated_once)
{
    int calls = 0;
    MT_CHECK(++calls == 1, "never said");
    cr_assert_eq(calls, 1);
}

Test(base, check_aborts, .signal = SIGABRT)
{
    MT_CHECK(1 > 2, "never mind");
}

Test(base, check_names_location_expression_and_message)
{
    ABORTS("check failed: 1 + 1 == 3", MT_CHECK(1 + 1 == 3, "sizes %d and %d differ", 2, 3));
    ABORTS("sizes 2 and 3 differ", MT_CHECK(1 + 1 == 3, "sizes %d and %d differ", 2, 3));
    ABORTS("test_base.c:", MT_CHECK(false, "nothing"));
}

Test(base, todo_exits_77_and_names_the_step)
{
    ending end;
    if (run_in_child(&end) == 0)
        MT_TODO("01.4");
    cr_assert(WIFEXITED(end.status));
    cr_assert_eq(WEXITSTATUS(end.status), 77);
    cr_assert(strstr(end.said, "TODO 01.4"), "said \"%s\"", end.said);
}

static void *error_of_another_thread(void *unused)
{
    (void)unused;
    bool empty = mt_last_error()[0] == 0;
    mt_fail(MT_ERR_IO, "of another thread");
    return empty ? "empty" : NULL;
}

Test(base, last_error_is_kept_per_thread)
{
    pthread_t thread;
    void *was_empty;
    cr_assert_str_empty(mt_last_error());
    cr_assert_eq(mt_fail(MT_ERR_FORMAT, "%s: %d bytes are missing", "a.idx", 7), MT_ERR_FORMAT);
    cr_assert_str_eq(mt_last_error(), "a.idx: 7 bytes are missing");
    pthread_create(&thread, NULL, error_of_another_thread, NULL);
    pthread_join(thread, &was_empty);
    cr_assert_not_null(was_empty);
    cr_assert_str_eq(mt_last_error(), "a.idx: 7 bytes are missing");
}

Test(base, a_failure_may_quote_the_one_before)
{
    mt_fail(MT_ERR_IO, "disk full");
    mt_fail(MT_ERR_IO, "checkpoint: %s", mt_last_error());
    cr_assert_str_eq(mt_last_error(), "checkpoint: disk full");
}

Test(base, a_long_failure_is_cut_not_overrun)
{
    static char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    mt_fail(MT_ERR_IO, "%s", longer);
    cr_assert_eq(strlen(mt_last_error()), 1023);
}

Test(base, warnings_can_be_turned_off)
{
    static const char *const levels[] = { "error", "info", "" };
    for (int i = 0; i < MT_COUNT(levels); i++) {
        ending end;
        if (run_in_child(&end) == 0) {
            setenv("MT_LOG", levels[i], 1);
            mt_warn("%s", "a");
            mt_warn("b %d", 1);
            _exit(0);
        }
        cr_assert_str_eq(end.said, i == 0 ? "" : "warning: a\nwarning: b 1\n", "MT_LOG=%s said \"%s\"", levels[i],
                         end.said);
    }
}

Test(base, clock_does_not_run_backwards)
{
    double before = mt_now();
    usleep(2000);
    double passed = mt_now() - before;
    cr_assert(passed >= 0.002, "2 ms took %g s", passed);
}

Test(base, small_helpers)
{
    int array[7];
    cr_assert_eq(MT_COUNT(array), 7);
    cr_assert_eq(mt_min(-3, INT64_MAX), -3);
    cr_assert_eq(mt_max(-3, INT64_MAX), INT64_MAX);
}

Test(base, calloc_gives_zeros_and_aborts_in_words)
{
    int64_t *numbers = mt_calloc(33, sizeof *numbers), *none = mt_calloc(0, sizeof *none);
    cr_assert(none, "0 elements have an address, too");
    for (int i = 0; i < 33; i++)
        cr_assert_eq(numbers[i], 0);
    free(numbers);
    free(none);
    ABORTS("-1 elements", mt_calloc(-1, 8));
    ABORTS("out of memory: 4611686018427387904 elements of 8 bytes", mt_calloc(INT64_C(1) << 62, 8));
}
