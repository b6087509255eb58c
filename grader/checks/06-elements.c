/* 06-elements.c -- how the checks of elementwise kernels run. Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "device.h"

#include <float.h>
#include <math.h>

static bool saxpy(mg_run *run, const char *function, int64_t n)
{
    float a = (float)mt_rng_normal(mg_rng(run)), *y;
    mg_begin(run, function);
    mg_answer out = mg_replaced(run, "y", MT_SHAPE(n), (mg_dist)NORMAL(0, 1), &y);
    const float *x = mg_input(run, "x", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "n", n);
    mg_f32(run, "a", a);
    for (int64_t i = 0; i < n; i++) {
        out.v[i] = (double)y[i] + (double)a * (double)x[i];
        out.e[i] = FLT_EPSILON * (fabs((double)y[i]) + fabs((double)a * (double)x[i]));
    }
    return mg_call_and_judge(run, &out, 1);
}

void mg_06_saxpy(mg_run *run, const void *one_case)
{
    static const int64_t sizes[] = { 1, 0, 31, 32, 33, 127, 257, 1009, 1025, 4099 };
    const elements_case *c = one_case;
    for (int64_t i = 0; i < MT_COUNT(sizes); i++)
        if (!saxpy(run, c->function, sizes[i]))
            return;
}

void mg_06_saxpy_traffic(mg_run *run, const void *one_case)
{
    const traffic_case *c = one_case;
    const int64_t n = 65536;
    if (saxpy(run, c->function, n))
        mg_device_credit(run, c->bar, mg_device_traffic_of(run, 12.0 * (double)n), "times the bytes that must move");
}
