/* allowed.c -- the symbols that units may use. A '*' at the end of a word stands for any ending.
 *
 * Left out on purpose: files and descriptors, processes, signals, timers, memory mappings, the environment, long jumps,
 * functions that run at exit. Nothing that a lab asks for needs them, and attacks do. */
#include "build/symbols.h"

#include <stdlib.h>
#include <string.h>

/* ---- every unit ------------------------------------------------------------------------------- */

static const char c_library[] =
    /* string.h */
    "memcpy memmove memset memcmp memchr memrchr rawmemchr memmem memccpy mempcpy bcmp bcopy bzero strlen strnlen "
    "strcmp strncmp strcasecmp strncasecmp strcpy strncpy stpcpy stpncpy strlcpy strlcat strcat strncat strchr strrchr "
    "strchrnul strstr strspn strcspn strpbrk strsep strtok strtok_r strdup strndup strerror "
    /* stdlib.h, errno.h, assert.h */
    "malloc calloc realloc reallocarray free aligned_alloc memalign posix_memalign abs labs llabs div ldiv lldiv qsort "
    "qsort_r bsearch rand rand_r srand random srandom drand48 atoi atol atoll atof strtol strtoll strtoul strtoull "
    "strtod strtof strtold abort exit __errno_location __assert_fail "
    /* stdio.h: what prints; sscanf */
    "printf fprintf vprintf vfprintf snprintf vsnprintf sprintf vsprintf puts fputs putchar putc fputc fwrite fflush "
    "perror sscanf stdout stderr "
    /* ctype.h */
    "isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower "
    "toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc "
    /* time.h, to print how long something took; sched.h */
    "clock clock_gettime timespec_get time difftime sched_yield "
    /* threads */
    "GOMP_* omp_* pthread_create pthread_join pthread_detach pthread_self pthread_equal pthread_once pthread_mutex_* "
    "pthread_mutexattr_* pthread_cond_* pthread_condattr_* pthread_rwlock_* pthread_barrier_* pthread_spin_* mtx_* "
    "pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize pthread_attr_setdetachstate pthread_key_* "
    "pthread_getspecific pthread_setspecific sem_init sem_destroy sem_wait sem_trywait sem_post cnd_* tss_* "
    "thrd_create thrd_join thrd_detach thrd_yield thrd_current call_once ";

/* math.h and complex.h, each also with the endings f and l. */
static const char mathematics[] =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor "
    "fma fmax fmaximum fmin fminimum fmod frexp hypot ilogb isinf isnan finite ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round roundeven "
    "scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc __fpclassify __isnan __isinf __finite __signbit "
    "cabs carg cexp cimag clog conj cpow creal csqrt ";

/* Calls that the compiler makes by itself: arithmetic that the processor lacks, features of the processor, checks. */
static const char compiler[] =
    "__mul* __div* __udiv* __mod* __umod* __add* __sub* __neg* __ashl* __ashr* __lshr* __cmp* __ucmp* __eq* __ne* "
    "__lt* "
    "__le* __gt* __ge* __unord* __extend* __trunc* __float* __fix* __pow* __popcount* __clz* __ctz* __ffs* __bswap* "
    "__parity* __cpu_model __cpu_features2 __cpu_indicator_init __stack_chk_fail __tls_get_addr _GLOBAL_OFFSET_TABLE_ "
    "__tsan_* __ubsan_handle_type_mismatch_v1 _ZGV* ";

/* The framework. Not the units of later labs (symbols.c): they hold the same computations in another form. */
static const char framework[] = "mt_* ";

/* ---- .cu units -------------------------------------------------------------------------------------- */

/* Memory that both sides reach and copies to the host are left out: a unit computes on the device. The kind of a
 * cudaMemcpy is seen when it is called (worker/device_calls.c). */
static const char cuda_runtime[] =
    "cudaGetLastError cudaPeekAtLastError cudaGetErrorName cudaGetErrorString cudaGetDevice cudaGetDeviceProperties "
    "cudaDeviceGetAttribute cudaDeviceSynchronize cudaMalloc cudaMallocAsync cudaFree cudaFreeAsync cudaMemcpy "
    "cudaMemcpyAsync cudaMemset cudaMemsetAsync cudaStream* cudaEvent* cudaFunc* cudaOccupancy* ";

/* Functions that access memory which the emulator does not see: a kernel could call them through a pointer. */
static const char not_in_kernels[] = "memmove mempcpy memccpy memcmp memchr memrchr rawmemchr memmem bcmp bcopy bzero "
                                     "str* stp* __*_chk __isoc* snprintf "
                                     "vsnprintf sprintf vsprintf sscanf ato* qsort qsort_r bsearch ";

/* What the translation of device code calls (emulator/include/cuemu/runtime.h), and C++. */
static const char translation[] =
    "cuemu_* __sanitizer_cov_trace_pc _Unwind_Resume __gxx_personality_v0 __cxa_guard_* __cxa_begin_catch "
    "__cxa_end_catch __cxa_rethrow __cxa_throw_* __cxa_pure_virtual _ZSt* _ZNSt* _ZNKSt* _Zn* _Zd* _ZTVN10__cxxabiv1* ";

static const char cuda_framework[] =
    "mt_check_failed mt_fail mt_last_error mt_todo mt_log mt_cuda_* mt_nd_* mt_view_* mt_shape_* mt_dtype_* "
    "mt_matmul_dims_check mt_*_cuda ";

/* Symbols that one unit may use and no other, because they are the others' answer: "reserves" of its lab.json
 * (Makefile). And those that no unit may. */
static const struct {
    const char *id, *unit, *symbols;
} reserved_for[] = {
    { "", "", "cuemu_copy_from_symbol " },  /* cudaMemcpyFromSymbol */
    { "", "", "mt_disk_sim_* mt_io_use " }, /* a unit writes to the disk that is in use */
    { "", "", "mt_bus_sim_* " },            /* ... and moves memory over the bus that it is given */
    { "", "", "mt_ranks_run mt_comm_threads mt_comm_thread_* mt_comm_mpi mt_mpi_* " }, /* a unit has its ranks */
    MG_RESERVES
};

/* ---- the search --------------------------------------------------------------------------------- */

/* "mt_*_cuda" has its '*' inside; at most one in a word. */
static bool matches(const char *word, size_t length, const char *symbol, size_t symbol_length)
{
    const char *star = memchr(word, '*', length);
    if (!star)
        return length == symbol_length && memcmp(word, symbol, length) == 0;
    size_t before = (size_t)(star - word), after = length - before - 1;
    return symbol_length >= before + after && memcmp(word, symbol, before) == 0 &&
           memcmp(star + 1, symbol + symbol_length - after, after) == 0;
}

static bool listed(const char *words, const char *symbol, size_t symbol_length)
{
    for (const char *word = words; *word; word += strcspn(word, " "), word += *word == ' ')
        if (matches(word, strcspn(word, " "), symbol, symbol_length))
            return true;
    return false;
}

/* The C library under other names: __isoc99_sscanf, and __memcpy_chk where _FORTIFY_SOURCE is on by default. */
static bool in_c_library(const char *symbol, size_t length)
{
    static const char *const before[] = { "__isoc99_", "__isoc23_", "__" };
    bool checked = length > 6 && memcmp(symbol + length - 4, "_chk", 4) == 0;
    if (listed(c_library, symbol, length) || listed(mathematics, symbol, length))
        return true;
    if (length > 1 && strchr("fl", symbol[length - 1]) && listed(mathematics, symbol, length - 1))
        return true;
    for (int i = 0; i < MT_COUNT(before); i++) {
        size_t n = strlen(before[i]);
        if (length > n && memcmp(symbol, before[i], n) == 0 && (i < 2 || checked))
            return listed(c_library, symbol + n, length - n - (checked ? 4 : 0));
    }
    return false;
}

/* The entry of `reserved_for` that names a symbol; -1: none does. */
static int reserved_by(const char *symbol)
{
    int i = 0;
    while (i < MT_COUNT(reserved_for) && !listed(reserved_for[i].symbols, symbol, strlen(symbol)))
        i++;
    return i < MT_COUNT(reserved_for) ? i : -1;
}

bool mg_is_reserved_for(const char *id, const char *unit, const char *symbol)
{
    int i = reserved_by(symbol);
    return i >= 0 && strcmp(reserved_for[i].id, id) == 0 && strcmp(reserved_for[i].unit, unit) == 0;
}

bool mg_may_use(const char *id, const char *unit, const char *symbol)
{
    size_t length = strlen(symbol);
    bool cuda = strcmp(strchr(unit, '.'), ".cu") == 0;
    if (reserved_by(symbol) >= 0)
        return mg_is_reserved_for(id, unit, symbol);
    if (cuda && listed(not_in_kernels, symbol, length))
        return false;
    if (in_c_library(symbol, length) || listed(compiler, symbol, length))
        return true;
    if (!cuda)
        return listed(framework, symbol, length);
    return listed(cuda_runtime, symbol, length) || listed(translation, symbol, length) ||
           listed(cuda_framework, symbol, length);
}

bool mg_is_reserved(const char *symbol)
{
    static const char words[] = "main _start _init _fini mg_* emu_* cuemu_* cuda* cublas* GOMP_* omp_* __tsan_* "
                                "__ubsan_* __sanitizer_* __wrap_* __real_* ";
    return listed(words, symbol, strlen(symbol));
}
