/* crc32c.h -- the checksum of a checkpoint's files: CRC-32C (Castagnoli), which x86 processors have an instruction for.
 *
 * The bytes are the coefficients of a polynomial over the numbers 0 and 1, and the CRC is its remainder modulo
 * P = x^32 + x^28 + ... + 1. It notices every error of up to 32 neighbouring bits. Written with the bits in reverse,
 * as all programs do: bit 31 is the coefficient of x^0.
 * Unit: solutions/12-checkpoints/crc32c.c. Source: RFC 3720, appendix B.4; Intel,
 * "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", 2011. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

#define MT_CRC32C_POLYNOMIAL 0x82F63B78u /* P without x^32 */

/* mt_crc32c -- of data that follows data with this crc; 0 at the start. By the faster of the two below. */
uint32_t mt_crc32c(uint32_t crc, const void *data, int64_t bytes);

/* The same, 8 bytes at a time by eight tables of 256 entries; and by the instruction `crc32` in three streams. The
 * second one is the first one where the processor lacks SSE4.2 (mt_crc32c_fast is false).   Lab 12.1 */
uint32_t mt_crc32c_table(uint32_t crc, const void *data, int64_t bytes);
uint32_t mt_crc32c_sse42(uint32_t crc, const void *data, int64_t bytes);
bool mt_crc32c_fast(void);

/* mt_crc32c_join -- the crc of A followed by B, from those of A and of B alone. Cost: about 64 steps of 32 shifts.
 * Lab 12.1 */
uint32_t mt_crc32c_join(uint32_t a, uint32_t b, int64_t bytes_of_b);

MT_C_END
