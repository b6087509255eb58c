/* dump.h -- reference values that another program computed, as named arrays in one file (datasets/reference/).
 *
 *     minitorch dump 1
 *     # maker, seed, versions: any number of such lines
 *     grad f32 250 17                 name, type (f64 f32 i64 i32 u8), shape; no numbers after the type: a scalar
 *     adam/param f64 6 17
 *                                     an empty line ends the header
 *     the arrays' bytes in this order, row-major, little-endian, nothing between them
 *
 * So `head FILE` shows what it contains, and a maker needs only a print and a write. */
#pragma once

#include "core/view.h"

MT_C_BEGIN

typedef struct mt_dump mt_dump; /* opaque */

/* mt_dump_open -- read a whole file. MT_ERR_IO, or MT_ERR_FORMAT with the line: not a dump, truncated, too long. */
mt_status mt_dump_open(mt_dump **out, const char *path);
void mt_dump_close(mt_dump *dump); /* NULL is allowed */

/* mt_dump_array -- an array's elements, aligned, lent until mt_dump_close.
 * Aborts, saying what is there: no array of that name, or of another type or shape. */
const void *mt_dump_array(const mt_dump *dump, const char *name, const char *type, mt_shape shape);

MT_C_END
