/* tsan.c -- the hooks of a traced build, called for every access of device code.
 *
 * GCC inserts the calls (-fsanitize=thread,alignment and -fsanitize-coverage=trace-pc) for its own libraries; the
 * emulator links these functions in their place; the translator renames those for members of vectors (parts.c). They
 * are called in host code too, where they cost a load and a branch. A hook checks the address (shadow.c), looks for
 * races (race.c) and appends a record to the lane's buffer; merge.c combines the records into requests.
 */
#include <string.h>
#include "emulator/check/order.h"
#include "emulator/check/race.h"
#include "emulator/check/shadow.h"
#include "emulator/check/stream_race.h"
#include "emulator/run/sched.h"
#include "emulator/run/shared.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Waits if the buffer is full. Other threads then run, so it must come before the hook examines the access: no other
 * thread may run between a hook and its access, whose value the next hook reads. */
static inline void make_room(emu_thread *self)
{
    while (EMU_UNLIKELY(self->trace.next == self->trace.end))
        emu_pause();
}

static inline void record(emu_thread *self, uintptr_t address, int code, int kind, int space, uintptr_t pc)
{
    emu_record *r = self->trace.next;
    r->what = emu_what(address, code, kind, space, self->trace.depth);
    r->where = (uint64_t)pc | (uint64_t)self->trace.path << EMU_ADDRESS_BITS;
    self->trace.next = r + 1;
}

static inline bool all_full(const uint8_t *state, int size)
{
    uint64_t low, high;
    switch (size) {
    case 1:
        return state[0] == EMU_FULL;
    case 2:
        low = 0;
        memcpy(&low, state, 2);
        return low == 0x0303;
    case 4:
        low = 0;
        memcpy(&low, state, 4);
        return low == 0x03030303;
    case 8:
        memcpy(&low, state, 8);
        return low == 0x0303030303030303;
    default:
        memcpy(&low, state, 8);
        memcpy(&high, state + 8, 8);
        return (low & high) == 0x0303030303030303 && (low | high) == 0x0303030303030303;
    }
}

static __thread uintptr_t host_flag; /* as emu_tracer.marked_pc, in host code */

/* Host code may access memory that it shares with the device. */
static inline void host_access(const void *pointer, size_t size, int kind, uintptr_t pc)
{
    if (EMU_UNLIKELY(emu_stream_race_host) && !emu_self)
        emu_stream_race_host_access((uintptr_t)pointer, size, kind != EMU_LOAD, kind == EMU_ATOMIC || pc == host_flag,
                                    pc);
}

static inline __attribute__((always_inline)) void access(const void *pointer, int log2_size, int kind, uintptr_t pc)
{
    emu_tracer *tracer = emu_tracing;
    if (!tracer) {
        host_access(pointer, 1ul << log2_size, kind, pc);
        return;
    }
    emu_thread *self = emu_self;
    uintptr_t address = (uintptr_t)pointer;
    int size = 1 << log2_size, space;
    const emu_worker *worker = tracer->worker;
    if (address - (uintptr_t)worker->stacks < worker->stacks_size)
        return; /* registers and local arrays */
    make_room(self);
    if (EMU_UNLIKELY(tracer->pending.cells))
        emu_race_settle(tracer);
    if (EMU_UNLIKELY(address & (uintptr_t)(size - 1)))
        emu_misaligned(address, size, pc);
    if (address - (uintptr_t)worker->shared < EMU_SHARED_SPAN) {
        space = EMU_SHARED;
        if (EMU_UNLIKELY(!all_full(tracer->shared_state + (address - (uintptr_t)worker->shared), size)))
            emu_check_shared(tracer, address, size, kind, pc);
        emu_cell *cell = &tracer->shared_cells[(address - (uintptr_t)worker->shared) / 4];
        if (tracer->races && !(kind == EMU_LOAD && emu_race_read_again(tracer, cell, address, size, pc, tracer->tag)))
            emu_race_shared(tracer, address, size, kind, pc);
    } else if (address - (uintptr_t)emu_arena < emu_arena_size) {
        space = EMU_GLOBAL;
        if (EMU_UNLIKELY(!all_full(emu_device_state + (address - (uintptr_t)emu_arena), size)))
            emu_check_global(address, size, kind, pc);
        if (tracer->races)
            emu_race_global(tracer, address, size, kind, pc);
    } else {
        space = emu_check_elsewhere(address, size, kind, pc);
        if (space == EMU_NOWHERE)
            return;
        if (space == EMU_GLOBAL && tracer->races)
            emu_race_global(tracer, address, size, kind, pc);
    }
    record(self, address, log2_size, kind, space, pc);
}

/* Larger objects are split into the widest aligned pieces, as on a GPU. */
static void range(const void *pointer, size_t size, int kind, uintptr_t pc)
{
    if (!emu_tracing) {
        host_access(pointer, size, kind, pc);
        return;
    }
    const char *p = pointer;
    while (size > 0) {
        emu_tracing->in_struct = true; /* set for each piece: other threads may have run since the last */
        int log2_size = 4;
        while (((size_t)1 << log2_size) > size || ((uintptr_t)p & (((uintptr_t)1 << log2_size) - 1)))
            log2_size--;
        access(p, log2_size, kind, pc);
        p += (size_t)1 << log2_size;
        size -= (size_t)1 << log2_size;
    }
    emu_tracing->in_struct = false;
}

/* Such an access follows. A volatile may be a flag by which threads synchronise (race.c). */
static inline void mark(uintptr_t pc)
{
    if (!emu_tracing) {
        host_flag = pc;
        return;
    }
    make_room(emu_self); /* no other thread may run between this and the access */
    emu_tracing->marked_pc = pc;
}

/* ---- what the compiler calls ------------------------------------------------------------------------------------- */

#define HOOKS(SIZE, LOG2)                       \
    void __tsan_read##SIZE(void *p);            \
    void __tsan_read##SIZE(void *p)             \
    {                                           \
        access(p, LOG2, EMU_LOAD, CALLER);      \
    }                                           \
    void __tsan_write##SIZE(void *p);           \
    void __tsan_write##SIZE(void *p)            \
    {                                           \
        access(p, LOG2, EMU_STORE, CALLER);     \
    }                                           \
    void __tsan_unaligned_read##SIZE(void *p);  \
    void __tsan_unaligned_read##SIZE(void *p)   \
    {                                           \
        range(p, SIZE, EMU_LOAD, CALLER);       \
    }                                           \
    void __tsan_unaligned_write##SIZE(void *p); \
    void __tsan_unaligned_write##SIZE(void *p)  \
    {                                           \
        range(p, SIZE, EMU_STORE, CALLER);      \
    }                                           \
    void __tsan_volatile_read##SIZE(void *p);   \
    void __tsan_volatile_read##SIZE(void *p)    \
    {                                           \
        mark(CALLER);                           \
        access(p, LOG2, EMU_LOAD, CALLER);      \
    }                                           \
    void __tsan_volatile_write##SIZE(void *p);  \
    void __tsan_volatile_write##SIZE(void *p)   \
    {                                           \
        mark(CALLER);                           \
        access(p, LOG2, EMU_STORE, CALLER);     \
    }
HOOKS(1, 0)
HOOKS(2, 1)
HOOKS(4, 2)
HOOKS(8, 3)
HOOKS(16, 4)

/* A member of a vector: the record of the access says so. One of a local variable has no record. */
static inline void member(void *p, int log2_size, int kind, int code, uintptr_t pc)
{
    access(p, log2_size, kind, pc);
    emu_record *last = emu_tracing ? emu_self->trace.next - 1 : NULL;
    if (last && last >= emu_self->trace.begin && emu_address_of(last->what) == (uintptr_t)p &&
        emu_kind_of(last->what) == kind)
        last->what = emu_with_code(last->what, code);
}

#define MEMBERS(NAME, SIZE, LOG2, CODE)           \
    void cuemu_##NAME##_read##SIZE(void *p);      \
    void cuemu_##NAME##_read##SIZE(void *p)       \
    {                                             \
        member(p, LOG2, EMU_LOAD, CODE, CALLER);  \
    }                                             \
    void cuemu_##NAME##_write##SIZE(void *p);     \
    void cuemu_##NAME##_write##SIZE(void *p)      \
    {                                             \
        member(p, LOG2, EMU_STORE, CODE, CALLER); \
    }
MEMBERS(low, 4, 2, EMU_LOW_4)
MEMBERS(high, 4, 2, EMU_HIGH_4)
MEMBERS(part, 8, 3, EMU_PART_8)

/* An object is used by a pointer that its type's alignment does not allow (-fsanitize=alignment). The accesses alone do
 * not tell: g++ makes those that it knows to be misaligned of smaller ones. */
typedef struct misalignment {
    const char *file;
    uint32_t line, column;
    const void *type;
    uint8_t log2_alignment, how;
} misalignment;
void __ubsan_handle_type_mismatch_v1(const misalignment *what, void *p);
void __ubsan_handle_type_mismatch_v1(const misalignment *what, void *p)
{
    const emu_worker *worker = emu_tracing ? emu_tracing->worker : NULL;
    if (worker && (uintptr_t)p - (uintptr_t)worker->stacks >= worker->stacks_size)
        emu_misaligned((uintptr_t)p, 1 << what->log2_alignment, CALLER);
}

void __tsan_read_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size)
{
    range(p, size, EMU_LOAD, CALLER);
}

void __tsan_write_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size)
{
    range(p, size, EMU_STORE, CALLER);
}

void __tsan_vptr_update(void **object, void *table);
void __tsan_vptr_update(void **object, void *table)
{
    (void)table;
    access(object, 3, EMU_STORE, CALLER);
}

void __tsan_vptr_read(void **object);
void __tsan_vptr_read(void **object)
{
    access(object, 3, EMU_LOAD, CALLER);
}

void __tsan_func_entry(void *call);
void __tsan_func_entry(void *call)
{
    emu_thread *self = emu_self;
    if (!emu_tracing)
        return;
    emu_tracing->instrumented = true;
    if (self->trace.depth < EMU_DEPTH_MOST) {
        self->trace.paths[self->trace.depth++] = (uint16_t)self->trace.path;
        uint64_t mixed = (uintptr_t)call * 0x9E3779B97F4A7C15u >> 48;
        self->trace.path = (uint16_t)(self->trace.path * 31 + mixed) | 1u;
    } else {
        self->trace.beyond++;
    }
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
    emu_thread *self = emu_self;
    if (!emu_tracing)
        return;
    if (self->trace.beyond)
        self->trace.beyond--;
    else
        self->trace.path = self->trace.paths[--self->trace.depth];
}

/* A basic block begins: from these records the merge finds where lanes diverge and reconverge. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (!emu_tracing)
        return;
    make_room(emu_self);
    record(emu_self, 0, 0, EMU_BLOCK, EMU_NOWHERE, CALLER);
}

/* ---- what the runtime reports ------------------------------------------------------------------------------------ */

/* Memory that an atomic store is the first to write: it does not read. */
static void initialise(uintptr_t address, int size, uintptr_t pc)
{
    emu_tracer *t = emu_tracing;
    size_t in_shared = address - (uintptr_t)t->worker->shared, in_arena = address - (uintptr_t)emu_arena;
    if (in_shared < EMU_SHARED_SPAN && !all_full(t->shared_state + in_shared, size))
        emu_check_shared(t, address, size, EMU_STORE, pc);
    else if (in_arena < emu_arena_size && !all_full(emu_device_state + in_arena, size))
        emu_check_global(address, size, EMU_STORE, pc);
}

void emu_trace_atomic(void *address, int size, int scope, uintptr_t pc)
{
    if (scope == 0)
        mark(pc);
    if (size < 0) {
        size = -size;
        if (emu_tracing && (uintptr_t)address % (unsigned)size == 0)
            initialise((uintptr_t)address, size, pc);
    }
    access(address, __builtin_ctz((unsigned)size), EMU_ATOMIC, pc);
    if (emu_tracing)
        emu_order_atomic(emu_tracing);
}

void emu_trace_access(void *address, size_t size, bool write, uintptr_t pc)
{
    range(address, size, write ? EMU_STORE : EMU_LOAD, pc);
}

/* ---- the compiler's own atomics: device code that uses __atomic builtins ----------------------------------------- */

#define ATOMIC_UPDATE(BITS, TYPE, LOG2, NAME)                          \
    TYPE __tsan_atomic##BITS##_##NAME(TYPE *p, TYPE value, int order); \
    TYPE __tsan_atomic##BITS##_##NAME(TYPE *p, TYPE value, int order)  \
    {                                                                  \
        (void)order;                                                   \
        access(p, LOG2, EMU_ATOMIC, CALLER);                           \
        return __atomic_##NAME(p, value, __ATOMIC_SEQ_CST);            \
    }
#define ATOMICS(BITS, TYPE, LOG2)                                                                                     \
    TYPE __tsan_atomic##BITS##_load(const TYPE *p, int order);                                                        \
    TYPE __tsan_atomic##BITS##_load(const TYPE *p, int order)                                                         \
    {                                                                                                                 \
        (void)order;                                                                                                  \
        access(p, LOG2, EMU_ATOMIC, CALLER);                                                                          \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                                 \
    void __tsan_atomic##BITS##_store(TYPE *p, TYPE value, int order);                                                 \
    void __tsan_atomic##BITS##_store(TYPE *p, TYPE value, int order)                                                  \
    {                                                                                                                 \
        (void)order;                                                                                                  \
        access(p, LOG2, EMU_ATOMIC, CALLER);                                                                          \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                                 \
    TYPE __tsan_atomic##BITS##_exchange(TYPE *p, TYPE value, int order);                                              \
    TYPE __tsan_atomic##BITS##_exchange(TYPE *p, TYPE value, int order)                                               \
    {                                                                                                                 \
        (void)order;                                                                                                  \
        access(p, LOG2, EMU_ATOMIC, CALLER);                                                                          \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                                 \
    TYPE __tsan_atomic##BITS##_compare_exchange_val(TYPE *p, TYPE expected, TYPE value, int order, int failure);      \
    TYPE __tsan_atomic##BITS##_compare_exchange_val(TYPE *p, TYPE expected, TYPE value, int order, int failure)       \
    {                                                                                                                 \
        (void)order, (void)failure;                                                                                   \
        access(p, LOG2, EMU_ATOMIC, CALLER);                                                                          \
        __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
        return expected;                                                                                              \
    }                                                                                                                 \
    _Bool __tsan_atomic##BITS##_compare_exchange_strong(TYPE *p, TYPE *expected, TYPE value, int order, int failure); \
    _Bool __tsan_atomic##BITS##_compare_exchange_strong(TYPE *p, TYPE *expected, TYPE value, int order, int failure)  \
    {                                                                                                                 \
        (void)order, (void)failure;                                                                                   \
        access(p, LOG2, EMU_ATOMIC, CALLER);                                                                          \
        return __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
    }                                                                                                                 \
    ATOMIC_UPDATE(BITS, TYPE, LOG2, fetch_add)                                                                        \
    ATOMIC_UPDATE(BITS, TYPE, LOG2, fetch_sub)                                                                        \
    ATOMIC_UPDATE(BITS, TYPE, LOG2, fetch_and)                                                                        \
    ATOMIC_UPDATE(BITS, TYPE, LOG2, fetch_or)                                                                         \
    ATOMIC_UPDATE(BITS, TYPE, LOG2, fetch_xor)
ATOMICS(8, uint8_t, 0)
ATOMICS(16, uint16_t, 1)
ATOMICS(32, uint32_t, 2)
ATOMICS(64, uint64_t, 3)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(order);
    if (emu_tracing)
        emu_order_block_fence(emu_tracing);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
