/* 09-conversions.c -- how the checks of steps 09.1 and 09.2 run. Rows: 09-mixed-precision.c. */
#include "checks/09-mixed-precision.h"
#include "testing/compare.h"

#include <math.h>
#include <string.h>

enum { PATTERNS = 1 << 16 };

void mg_09_convert(mg_run *run, const void *one_case)
{
    const convert_case *c = one_case;
    mg_begin(run, "mt_convert_cpu");
    mg_out(run, "out", MT_F32, MT_SHAPE(PATTERNS));
    uint16_t *x = mg_in(run, "x", c->dtype, MT_SHAPE(PATTERNS));
    mg_i64(run, "to", MT_F32);
    mg_i64(run, "from", c->dtype);
    mg_i64(run, "n", PATTERNS);
    for (int64_t i = 0; i < PATTERNS; i++)
        x[i] = (uint16_t)i;
    if (!mg_call(run))
        return;
    const float *got = mg_result(run, "out");
    for (int64_t i = 0; i < PATTERNS; i++) {
        double want = mt_load_f64(x, c->dtype, i);
        if (isnan(want) ? !isnan(got[i]) : got[i] != want || !signbit(got[i]) != !signbit(want)) {
            mg_fail(run, "%s 0x%04llx became %g, expected %g", mt_dtype_name(c->dtype), (long long)i, got[i], want);
            return;
        }
    }
}
