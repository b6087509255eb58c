/* values.h -- the arguments of a call from the checker's request. */
#pragma once

#include "sandbox/wire.h"
#include "worker/call.h"

/* mg_value_of -- what the checker has sent, without the memory of an array. */
static inline mg_value mg_value_of(const mg_wire_value *sent)
{
    mg_value value = { .i64 = sent->i64, .real = sent->real, .what = (int)sent->dtype };
    if (!mg_wire_is_array(sent))
        value.what = sent->kind == MG_I64   ? MG_NUMBER
                     : sent->kind == MG_F32 ? MG_F32_NUMBER
                     : sent->kind == MG_F64 ? MG_F64_NUMBER
                                            : MG_NONE;
    else
        value.count = (int64_t)sent->bytes / mt_dtype_size((mt_dtype)sent->dtype);
    value.name = sent->name;
    return value;
}

/* mg_values_end -- when all arrays have their memory: outputs in place get that of their inputs. */
static inline void mg_values_end(mg_value *values, const mg_wire_request *request)
{
    for (uint32_t i = 0; i < request->count; i++)
        if (request->value[i].kind == MG_ALIAS) {
            values[i] = values[request->value[i].i64];
            values[i].name = request->value[i].name;
        }
    values[request->count].name = NULL;
}
