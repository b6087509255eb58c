/* runtime.h -- what translated CUDA code and the shim headers may call: the emulator's C ABI.
 *
 * Three kinds of callers: the host part of a program (cuemu_launch and the CUDA API of include/cuda_runtime_api.h),
 * device code (everything else here; host code that calls it gets an error with its line), and the hooks a traced build
 * inserts (__tsan_*, __sanitizer_cov_*: check/tsan.c). The runtime finds the line of a call from its return address, so
 * the shim's wrappers must be inlined (always_inline); only barriers, launches and shared arrays pass __FILE__.
 */
#ifndef CUEMU_RUNTIME_H
#define CUEMU_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuemu_uint3 {
    unsigned x, y, z;
} cuemu_uint3;

/* ---- launching --------------------------------------------------------------------------------------------------- */

/* The arguments of a kernel, for those who do not know their types. */
typedef struct cuemu_arguments {
    void (*run)(void *args); /* calls the kernel, as one thread */
    void *(*copy)(const void *args);
    void (*drop)(void *args);            /* frees a copy */
    void (*list)(void *args, void **at); /* the address of each */
    int count;
} cuemu_arguments;

/* One kernel<<<grid, block, shared, stream>>>(args). `run(args)` is called once per thread, on that thread's own stack;
 * args lives until cuemu_launch returns, which is when the last block has ended. */
typedef struct cuemu_launch_config {
    cuemu_uint3 grid, block;
    size_t dynamic_shared; /* bytes */
    void *stream;          /* a cudaStream_t */
    const void *entry;  /* the kernel's address, as cudaFuncSetAttribute gets it; NULL: unknown, opt-in not checked */
    const char *kernel; /* its name as written, "mt_add<float>" */
    const char *file;   /* of the launch */
    int line;
    void (*run)(void *args);
    void *args;
    int cooperative;             /* its blocks may wait for each other */
    const cuemu_arguments *kind; /* of args */
} cuemu_launch_config;

/* Errors in the configuration are returned as a cudaError_t, and by cudaGetLastError, as on a GPU. */
int cuemu_launch(const cuemu_launch_config *config);

/* A kernel by its address: bind() makes arguments of their addresses. */
typedef struct cuemu_kernel {
    const void *entry;
    const char *name;
    const cuemu_arguments *kind;
    void *(*bind)(const void *entry, void **arguments);
} cuemu_kernel;
void cuemu_know_kernel(const cuemu_kernel *kernel);
const cuemu_kernel *cuemu_find_kernel(const void *entry); /* NULL: not known */

/* Checks the running kernel's __launch_bounds__: a larger block ends it with an error at the line of its launch. */
void cuemu_launch_bound(long long threads);

/* The bound of a kernel that is not a template, known without a launch: in the section cuemu_bound. */
typedef struct cuemu_bound {
    const void *entry;
    long long threads;
} cuemu_bound;
int cuemu_bound_of(const void *entry); /* 1024: none is known */

/* ---- built-in variables: const, so that they are no memory access and are computed once per function ------------- */
cuemu_uint3 cuemu_thread_idx(void) __attribute__((const, nothrow));
cuemu_uint3 cuemu_block_idx(void) __attribute__((const, nothrow));
cuemu_uint3 cuemu_block_dim(void) __attribute__((const, nothrow));
cuemu_uint3 cuemu_grid_dim(void) __attribute__((const, nothrow));
unsigned cuemu_thread_rank(void) __attribute__((const)); /* in the block; its warp is rank / 32 */
unsigned cuemu_lane(void) __attribute__((const));
unsigned cuemu_multiprocessors(void) __attribute__((const)); /* of the device */
int cuemu_in_kernel(void);                                   /* is this device code running? */

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

/* One __shared__ array of the source: a static object of the translated code, all zero but for these four. */
typedef struct cuemu_shared_array {
    const char *name, *file;
    int line;
    unsigned id; /* the runtime's */
} cuemu_shared_array;

/* The address of this block's array: aligned to at least `align`, followed by a gap that belongs to no array. */
void *cuemu_shared(cuemu_shared_array *array, size_t size, size_t align);
void *cuemu_dynamic_shared(void) __attribute__((const)); /* extern __shared__ */
size_t cuemu_shared_offset(const void *shared);          /* __cvta_generic_to_shared */
void *cuemu_shared_address(size_t offset);               /* its inverse */

/* ---- textures ---------------------------------------------------------------------------------------------------- */

/* A cudaTextureObject_t points to one of these. */
typedef struct cuemu_texture {
    const char *data;
    long width, height, pitch; /* in texels, rows, bytes from row to row */
    int texel;                 /* bytes of one */
    int mode[2];               /* cudaTextureAddressMode of x and y */
    int linear, normalized_coordinates;
} cuemu_texture;
/* The texture, for a read as a type of `size` bytes. */
cuemu_texture cuemu_texture_of(unsigned long long object, size_t size);

/* ---- barriers and warps ------------------------------------------------------------------------------------------ */
void cuemu_barrier(const char *file, int line);   /* __syncthreads */
void cuemu_grid_sync(const char *file, int line); /* of all blocks of a cooperative launch */
int cuemu_grid_is_cooperative(void);

enum cuemu_vote { CUEMU_COUNT, CUEMU_AND, CUEMU_OR };
int cuemu_barrier_vote(const char *file, int line, enum cuemu_vote vote, int value);

enum cuemu_warp_op {
    CUEMU_SYNCWARP,
    CUEMU_SHFL,      /* value of lane `arg` of the segment of `width` lanes */
    CUEMU_SHFL_UP,   /* of the lane `arg` below; own value at the segment's edge */
    CUEMU_SHFL_DOWN, /* above */
    CUEMU_SHFL_XOR,
    CUEMU_BALLOT,     /* the lanes of the mask whose value is not 0 */
    CUEMU_MATCH_ANY,  /* the lanes of the mask with the same value */
    CUEMU_MATCH_ALL,  /* the mask when all values are the same, else 0 */
    CUEMU_REDUCE_ADD, /* reductions of the low 32 bits over the mask */
    CUEMU_REDUCE_MIN, /* unsigned; the _S are signed */
    CUEMU_REDUCE_MAX,
    CUEMU_REDUCE_MIN_S,
    CUEMU_REDUCE_MAX_S,
    CUEMU_REDUCE_AND,
    CUEMU_REDUCE_OR,
    CUEMU_REDUCE_XOR,
};

/* Waits for the lanes of `mask`, then returns this lane's result. A value is at most 8 bytes, zero-extended. */
uint64_t cuemu_warp(enum cuemu_warp_op op, uint32_t mask, uint64_t value, int arg, int width);
/* Synchronises all 32 lanes; the last to arrive calls combine(lanes), where lanes[l] is lane l's `mine` (wmma). */
void cuemu_warp_together(void (*combine)(void *lanes[32]), void *mine);
/* ldmatrix of `count` 8x8 matrices of 16-bit elements: `shared` is the shared address of the lane's row. */
void cuemu_load_matrix(uint32_t *to, size_t shared, int count, int transposed);
/* mma m16n8k8 or m16n8k16 of f16 or bf16: a lane's 4 elements of d = a b + c; k / 4 registers of a and k / 8 of b. */
void cuemu_mma(float *d, const uint32_t *a, const uint32_t *b, const float *c, int k, int bf16);
/* Before load_matrix_sync and store_matrix_sync: checks what CUDA demands of the matrix, where it begins and the bytes
 * from one row (or column) to the next, and waits for all 32 lanes. That orders no accesses to memory. */
void cuemu_matrix_access(const void *matrix, size_t step);
/* The lanes of this warp that execute this call together (__activemask, coalesced_threads). */
uint32_t cuemu_active_mask(void);

/* ---- other device functions -------------------------------------------------------------------------------------- */
/* After a load of what no thread of the launch may write: __ldg. */
void cuemu_constant_load(const void *address, size_t size);
/* Records an atomic update, which the caller then executes itself, untraced. Scopes: 0 block, 1 device, 2 system. */
void cuemu_atomic(void *address, int size, int scope);
void cuemu_atomic_store(void *address, int size, int scope);
void cuemu_fence(int scope);
void cuemu_nanosleep(void);       /* lets the block's other threads run */
void cuemu_trap(const char *why); /* ends the kernel: __trap() or, named, what is not supported */
int cuemu_printf(const char *format, ...) __attribute__((format(printf, 1, 2))); /* on the host: printf */
long long cuemu_clock(void);
void *cuemu_memcpy(void *to, const void *from, size_t size);
void *cuemu_memset(void *to, int value, size_t size);
void cuemu_copy_async(void *shared, const void *global, int size, int zero_filled); /* cp.async: size 4, 8 or 16 */
void cuemu_copy_commit(void);
void cuemu_copy_wait(int groups_left); /* cp.async.wait_group */

/* Takes n 2^doublings steps of cuRAND's XORWOW. */
void cuemu_xorwow_advance(uint32_t v[5], uint64_t n, int doublings);

/* memcpy_async of any size: like cp.async, in pieces. */
void cuemu_copy_pieces(void *to, const void *from, size_t size);

/* ---- cuda::barrier: an object of 8 bytes. `scope` as in cuemu_fence ---- */
void cuemu_phase_init(uint64_t *barrier, uint32_t expected);
uint64_t cuemu_phase_arrive(uint64_t *barrier, uint32_t count, int drop, int scope); /* returns the phase */
int cuemu_phase_ended(uint64_t *barrier, uint64_t phase, int scope);
void cuemu_phase_wait(uint64_t *barrier, uint64_t phase, int scope);
uint64_t cuemu_phase(uint64_t *barrier); /* the present one */
/* A copy that is complete when the barrier's present phase is. */
void cuemu_phase_copy(uint64_t *barrier, void *to, const void *from, size_t size);

/* Names of the sections in which __device__, __constant__ and __managed__ variables must be. */
#define CUEMU_DEVICE_SECTION   "cuemu_device"
#define CUEMU_CONSTANT_SECTION "cuemu_constant"
#define CUEMU_MANAGED_SECTION  "cuemu_managed"

#ifdef __cplusplus
}
#endif
#endif
