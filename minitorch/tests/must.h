/* must.h -- in a Criterion test: fail with the complaint of a comparison (testing/compare.h), unless it has none. */
#ifndef MT_TESTS_MUST_H
#define MT_TESTS_MUST_H

#include <criterion/criterion.h>

static inline void must(const char *complaint)
{
    cr_assert_null(complaint, "%s", complaint);
}

#endif
