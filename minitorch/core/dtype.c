/* dtype.c -- sizes and names of element types. */
#include "core/dtype.h"

static const struct {
    const char *name;
    int64_t size;
} types[MT_DTYPE_COUNT] = {
    [MT_F32] = { "f32", 4 }, [MT_F16] = { "f16", 2 }, [MT_BF16] = { "bf16", 2 },
    [MT_I32] = { "i32", 4 }, [MT_I64] = { "i64", 8 }, [MT_U8] = { "u8", 1 },
};

static void check(mt_dtype dtype)
{
    MT_CHECK((int)dtype >= 0 && (int)dtype < MT_DTYPE_COUNT, "there is no dtype number %d", (int)dtype);
}

int64_t mt_dtype_size(mt_dtype dtype)
{
    check(dtype);
    return types[dtype].size;
}

const char *mt_dtype_name(mt_dtype dtype)
{
    check(dtype);
    return types[dtype].name;
}
