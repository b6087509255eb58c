/* record.h -- one access of one lane, or one basic block, as check/tsan.c writes it down and merge.c reads it. */
#ifndef EMU_RECORD_H
#define EMU_RECORD_H

#include "emulator/run/worker.h"

enum { EMU_LOAD, EMU_STORE, EMU_ATOMIC, EMU_BLOCK };        /* what a record is; EMU_BLOCK: a basic block was entered */
enum { EMU_GLOBAL, EMU_SHARED, EMU_CONSTANT, EMU_NOWHERE }; /* where its address lies */

/* One access of one lane, or one basic block. Lanes whose next records agree in all but the address execute the same
 * instruction. */
struct emu_record {
    uint64_t what;  /* address: 48 bits, size: 3, EMU_LOAD..: 2, space: 2, call depth: 9 */
    uint64_t where; /* pc: 48, hash of the call path: 16 */
};
#define EMU_ADDRESS_BITS 48
#define EMU_KIND_SHIFT   51
#define EMU_DEPTH_SHIFT  55
#define EMU_DEPTH_MOST   127 /* deeper calls are not distinguished */

/* The size is log2 of its bytes, or one of these: of members of a vector (parts.c), in its first or second half. */
enum { EMU_LOW_4 = 5, EMU_HIGH_4, EMU_PART_8 };

static inline uint64_t emu_what(uintptr_t address, int code, int kind, int space, uint32_t depth)
{
    return (uint64_t)address | (uint64_t)code << 48 | (uint64_t)kind << EMU_KIND_SHIFT | (uint64_t)space << 53 |
           (uint64_t)depth << EMU_DEPTH_SHIFT;
}
static inline uintptr_t emu_address_of(uint64_t what)
{
    return what & ((1ull << EMU_ADDRESS_BITS) - 1);
}
static inline uintptr_t emu_pc_of(uint64_t where)
{
    return where & ((1ull << EMU_ADDRESS_BITS) - 1);
}
static inline int emu_code_of(uint64_t what)
{
    return what >> 48 & 7;
}
static inline uint64_t emu_with_code(uint64_t what, int code)
{
    return (what & ~(7ull << 48)) | (uint64_t)code << 48;
}
static inline int emu_size_of(uint64_t what)
{
    static const uint8_t size[] = { 1, 2, 4, 8, 16, [EMU_LOW_4] = 4, [EMU_HIGH_4] = 4, [EMU_PART_8] = 8 };
    return size[emu_code_of(what)];
}
static inline int emu_kind_of(uint64_t what)
{
    return what >> EMU_KIND_SHIFT & 3;
}
static inline int emu_space_of(uint64_t what)
{
    return what >> 53 & 3;
}

#endif
