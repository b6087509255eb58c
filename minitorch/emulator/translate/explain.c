/* explain.c -- what the emulator cannot run, by name, with what to do instead.
 *
 * g++ knows scopes, so it decides whether a name is declared; its messages about CUDA's names are replaced by ours. A
 * missing CUDA header is only a warning, since the unit may not use what it declares. */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBCUXX                                                                                                    \
    "of libcu++, <cuda/atomic>, <cuda/barrier>, <cuda/pipeline> and some of <cuda/std> are emulated; write other " \
    "algorithms yourself, and copies of TMA with cuda::memcpy_async"

#define CUB                                                                                                    \
    "of CUB, <cub/cub.cuh>, WarpReduce, WarpScan, BlockReduce, BlockScan and DeviceReduce::Sum are emulated; " \
    "write other algorithms yourself"
#define CURAND "of cuRAND the device's Philox4_32_10 and XORWOW are emulated: <curand_kernel.h>"

#define TEXTURES "of textures, tex1Dfetch, tex1D and tex2D of objects are emulated; cudaMemcpy2DToArray fills an array"

/* A name ending in * is a prefix. */
static const struct advice {
    const char *name, *text;
} names[] = {
    { "tex1D*", TEXTURES },
    { "tex2D*", TEXTURES },
    { "tex3D*", TEXTURES },
    { "surf*Dread", "surfaces are not emulated: read global memory" },
    { "cudaSurfaceObject_t", "surfaces are not emulated: use global memory" },
    { "cuda*Array", TEXTURES },
    { "cuda*ArrayAsync", TEXTURES },
    { "cudaGraphConditional*", "loops in graphs are not emulated: let the host launch the graph repeatedly" },
    { "cudaGraphAddMemAlloc*", "allocate before the graph is made: cudaMalloc" },
    { "cudaGraphAddEvent*", "events as nodes are not emulated: record them behind cudaGraphLaunch" },
    { "cudaGraph*", "of graphs, kernel, memcpy, memset, host, child and empty nodes are emulated" },
    { "cudaStreamGetCaptureInfo*", "make the nodes with cudaGraphAddKernelNode, or capture them" },
    { "this_multi_grid", "a barrier of several devices is not emulated: end the kernel and launch a second one" },
    { "this_cluster", "thread block clusters are not emulated: work within one block" },
    { "__cluster_dims__", "thread block clusters are not emulated: work within one block" },
    { "cudaLaunchKernelEx*", "launch with kernel<<<grid, block>>>(arguments)" },
    { "cudaMemcpy3DPeer*", "there is one emulated device: use cudaMemcpy3D" },
    { "cudaIpc*", "memory is not shared between processes: use MPI for several ranks" },
    { "__shfl", "CUDA has removed it: use __shfl_sync(mask, value, lane)" },
    { "__shfl_up", "CUDA has removed it: use __shfl_up_sync(mask, value, distance)" },
    { "__shfl_down", "CUDA has removed it: use __shfl_down_sync(mask, value, distance)" },
    { "__shfl_xor", "CUDA has removed it: use __shfl_xor_sync(mask, value, bits)" },
    { "__ballot", "CUDA has removed it: use __ballot_sync(mask, condition)" },
    { "__any", "CUDA has removed it: use __any_sync(mask, condition)" },
    { "__all", "CUDA has removed it: use __all_sync(mask, condition)" },
    { "cub", CUB },
    { "thrust", "write the algorithm yourself: warp shuffles and shared memory are emulated" },
    { "cuda", "include <cuda/barrier>, <cuda/pipeline> or <cuda/atomic> before using it" },
    { "curand*", CURAND },
    { "cufft*", "only cuBLAS is emulated" },
    { "cusparse*", "only cuBLAS is emulated" },
    { "cudnn*", "only cuBLAS is emulated" },
    { "__nv_fp8*", "8-bit floats are not emulated: use half or __nv_bfloat16" },
    { "textureReference", "CUDA has removed it: read global memory, with __ldg() where it is constant" },
    { "texture", "CUDA has removed it: read global memory, with __ldg() where it is constant" },
};

/* Headers by the start of their name. */
static const struct advice headers[] = {
    { "cub/*", CUB },
    { "thrust/*", "write the algorithm yourself: warp shuffles and shared memory are emulated" },
    { "cuda/*", LIBCUXX },
    { "curand*", CURAND },
    { "cufft*", "only cuBLAS is emulated" },
    { "cusparse*", "only cuBLAS is emulated" },
    { "cusolver*", "only cuBLAS is emulated" },
    { "cudnn*", "only cuBLAS is emulated" },
    { "cublasLt*", "use cublas_v2.h: cublasSgemm and cublasGemmEx are emulated" },
    { "nv*", "it is for a profiler: leave it out with #ifndef __CUEMU__" },
    { "nccl*", "the emulator has a part of NCCL: <nccl.h>, docs/EMULATOR.md" },
    { "cuda_fp8*", "8-bit floats are not emulated: use half or __nv_bfloat16" },
};

/* ---- names of cooperative groups and wmma ---------------------------------------------------- */

enum { SLOTS = 1 << 12 };
static token learnt[SLOTS];

static token *find_slot(const char *name, int length)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    token *at = &learnt[hash % SLOTS];
    while (at->length && !(at->length == length && memcmp(at->at, name, (size_t)length) == 0))
        at = at + 1 == learnt + SLOTS ? learnt : at + 1;
    return at;
}

void learn_names(const char *from, const char *end)
{
    while (from < end) {
        const char *begin = from;
        while (from < end && (isalnum((unsigned char)*from) || *from == '_'))
            from++;
        if (from > begin && !isdigit((unsigned char)*begin))
            *find_slot(begin, (int)(from - begin)) = (token){ .at = begin, .length = (int)(from - begin) };
        from += from == begin;
    }
}

bool is_learnt(const token *name)
{
    return find_slot(name->at, name->length)->length > 0;
}

/* ---- g++'s messages --------------------------------------------------------------------------- */

static const char *advice_for(const struct advice *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *star = strchr(list[i].name, '*');
        size_t head = star ? (size_t)(star - list[i].name) : 0, tail = star ? strlen(star + 1) : 0,
               length = strlen(name);
        if (star ? length >= head + tail && memcmp(name, list[i].name, head) == 0 &&
                       strcmp(name + length - tail, star + 1) == 0
                 : strcmp(name, list[i].name) == 0)
            return list[i].text;
    }
    return NULL;
}
#define ADVICE_FOR(list, name) advice_for(list, sizeof(list) / sizeof *(list), name)

/* Names that only CUDA has. */
static bool looks_like_cuda(const char *name)
{
    static const char *const prefixes[] = { "cuda", "cublas", "cu", NULL };
    for (int i = 0; prefixes[i]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 && isupper((unsigned char)name[strlen(prefixes[i])]))
            return true;
    return (strncmp(name, "CU_", 3) == 0 || strncmp(name, "CUDA_", 5) == 0 || strncmp(name, "CUBLAS_", 7) == 0 ||
            strncmp(name, "atomic", 6) == 0 || (strncmp(name, "__", 2) == 0 && islower((unsigned char)name[2])));
}

/* "unit.cu:12:5: error: 'name' was not declared in this scope; did you mean 'other'?" */
typedef struct message {
    char *place; /* unit.cu:12 */
    char *name;
    char *instead; /* g++'s suggestion, or NULL */
    const char *text;
} message;

static char *between(const char *text, const char *open)
{
    const char *begin = strstr(text, open), *end = begin ? strchr(begin + strlen(open), '\'') : NULL;
    return end ? strndup(begin + strlen(open), (size_t)(end - begin) - strlen(open)) : NULL;
}

/* Does the name look like a mistyped one of ours? At most two neighbouring letters differ; g++ also suggests other
 * functions. */
static bool is_mistyped(const char *name, const char *ours)
{
    size_t length = strlen(name), right = strlen(ours);
    while (*name && *name == *ours)
        name++, ours++, length--, right--;
    while (length > 0 && right > 0 && name[length - 1] == ours[right - 1])
        length--, right--;
    return length <= 2 && right <= 2 && strcspn(name, "0123456789") >= length && strcspn(ours, "0123456789") >= right;
}

static bool read_message(char *line, message *m)
{
    static const char *const unknown[] = { "was not declared in this scope",
                                           "has not been declared",
                                           "does not name a type",
                                           "does not name a template type",
                                           "is not a member of",
                                           "there are no arguments to",
                                           "has no member named '",
                                           "No such file or directory",
                                           "is not a class, namespace",
                                           NULL };
    char *error = strstr(line, "error: ");
    int i = 0;
    while (error && unknown[i] && !strstr(error, unknown[i]))
        i++;
    if (!error || !unknown[i])
        return false;
    m->text = error + 7;
    m->place = strndup(line, (size_t)(error - line));
    for (int colons = 0, k = (int)strlen(m->place) - 1; k >= 0; k--) /* the last two: column and line's end */
        if (m->place[k] == ':' && ++colons == 2)
            m->place[k] = 0;
    m->instead = between(m->text, "did you mean '");
    m->name = i == 6 ? between(m->text, unknown[6]) : between(m->text, "'");
    if (i == 7)
        m->name = strndup(m->text, strcspn(m->text, ":"));
    for (char *p = m->name; p && *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_/.", *p))
            *p = 0;
    return m->name != NULL;
}

/* The messages of a file, one after another; false: there are no more. */
static bool next_message(FILE *file, message *m)
{
    static char *line;
    static size_t room;
    while (getline(&line, &room, file) > 0)
        if (read_message(line, m))
            return true;
    return false;
}

int missing(const char *path)
{
    FILE *file = fopen(path, "r");
    message m;
    while (file && next_message(file, &m)) {
        const char *advice = strstr(m.text, "No such file") ? ADVICE_FOR(headers, m.name) : NULL;
        if (!advice)
            continue;
        fprintf(stderr, "%s: warning: <%s> is not supported by the emulator: %s\n", m.place, m.name, advice);
        puts(m.name);
        return 0;
    }
    return 1;
}

int explain(const char *path)
{
    FILE *file = fopen(path, "r");
    char *told = strdup("");
    message m;
    while (file && next_message(file, &m)) {
        const char *advice = ADVICE_FOR(names, m.name);
        if (!advice && (strstr(m.text, "member of 'cuda'") || strstr(m.text, "member of 'cuda::")))
            advice = LIBCUXX;
        if (strstr(m.text, "'cub'"))
            advice = CUB;
        if (!advice && !looks_like_cuda(m.name) && !strstr(m.text, "'cooperative_groups") && !strstr(m.text, "'nvcuda"))
            continue;
        bool mistyped = !advice && m.instead && is_mistyped(m.name, m.instead);
        char *words = format("%s: error: `%s` is not supported by the emulator%s%s%s: %s\n", m.place, m.name,
                             mistyped ? " (did you mean `" : "", mistyped ? m.instead : "", mistyped ? "`?)" : "",
                             advice ? advice : "see docs/EMULATOR.md for what is, or try this on a GPU");
        if (!strstr(told, words))
            told = format("%s%s", told, words);
    }
    if (file)
        rewind(file);
    if (*told)
        fputs(told, stderr); /* the other messages may be consequences of these */
    else
        for (int c; file && (c = getc(file)) != EOF;)
            fputc(c, stderr);
    return 1;
}
