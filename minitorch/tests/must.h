/* must.h -- in a Criterion test: fail with the complaint of a comparison (testing/compare.h), unless it has none. */
#pragma once

#include <criterion/criterion.h>

static inline void must(const char *complaint)
{
    cr_assert_null(complaint, "%s", complaint);
}
