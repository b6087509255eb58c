/* dtype.h -- element types. Conversions between them: core/element.h. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_dtype { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 } mt_dtype;

#define MT_DTYPE_COUNT 6

int64_t mt_dtype_size(mt_dtype dtype);     /* bytes per element */
const char *mt_dtype_name(mt_dtype dtype); /* "f32", "bf16", ... */

static inline bool mt_is_float(mt_dtype dtype)
{
    return dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16;
}

MT_C_END
