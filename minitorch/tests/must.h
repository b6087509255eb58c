/* must.h -- in a Criterion test: fail with the message of a comparison (testing/compare.h), unless it is NULL. */
#pragma once

#include <criterion/criterion.h>

static inline void must(const char *complaint)
{
    cr_assert_null(complaint, "%s", complaint);
}
