/* master.c -- AdamW on the f32 master, with the 16-bit copy written while the new value is still near the processor.
 *
 * The update is lab 04's, in pieces: a piece of p, g, m, v is updated and, before it leaves the cache, converted. From
 * memory and to it go 28 B of the update and 2 B of the copy. */
#include "amp/kernels_16bit.h"
#include "amp/master.h"

enum { PIECE = 16384 }; /* elements: p, g, m, v and the copy take 288 KiB, which stay in L2 */

void mt_adamw_master_update_cpu(const mt_update *u, void *copy, mt_dtype dtype)
{
    int64_t n = mt_update_count(u);
    uint16_t *to = copy;
    MT_CHECK(mt_is_16bit(dtype), "master: the copy is %s, it must be f16 or bf16", mt_dtype_name(dtype));
    /* TODO 09.8: For each piece: update it, then convert it.
     * Hint: a piece is an update of its own: of one row, with arrays that begin at the piece's first element. Pieces
     * are independent: one parallel loop. */
    MT_TODO("09.8"); /* delete this line when yours stands here */
}
