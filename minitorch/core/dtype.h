/* dtype.h -- element types. Conversions between them: core/element.h. */
#ifndef MT_CORE_DTYPE_H
#define MT_CORE_DTYPE_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mt_dtype { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 } mt_dtype;

#define MT_DTYPE_COUNT 6

int64_t mt_dtype_size(mt_dtype dtype);     /* bytes per element */
const char *mt_dtype_name(mt_dtype dtype); /* "f32", "bf16", ... */

#ifdef __cplusplus
}
#endif
#endif
