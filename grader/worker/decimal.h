/* decimal.h -- numbers that are not f32, sent as f32. */
#pragma once

#include <math.h>

/* mg_decimal -- the double next to x that has six decimals: of 0.999f the double 0.999. |x| <= 1. */
static inline double mg_decimal(float x)
{
    return round((double)x * 1e6) / 1e6;
}
