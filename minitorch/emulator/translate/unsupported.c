/* unsupported.c -- what the emulator cannot run is refused by name, with what to do instead.
 *
 * What it can is known from its own headers: a CUDA-looking name that is called but stands neither in them nor in the
 * unit is not supported. The well-known ones come with advice. */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* A name ending in * is a prefix. */
static const struct advice {
    const char *name, *text;
} names[] = {
    { "tex1D*", "textures are not emulated: read global memory, with __ldg() where it is constant" },
    { "tex2D*", "textures are not emulated: read global memory, with __ldg() where it is constant" },
    { "tex3D*", "textures are not emulated: read global memory, with __ldg() where it is constant" },
    { "surf*Dread", "surfaces are not emulated: read global memory" },
    { "cudaTextureObject_t", "textures are not emulated: read global memory, with __ldg() where it is constant" },
    { "cudaSurfaceObject_t", "surfaces are not emulated: use global memory" },
    { "cudaArray_t", "arrays for textures are not emulated: use cudaMalloc" },
    { "cudaGraph*", "graphs are not emulated: launch the kernels one by one" },
    { "cudaStreamBeginCapture", "graphs are not emulated: launch the kernels one by one" },
    { "cudaLaunchCooperativeKernel",
      "a barrier of the whole grid is not emulated: end the kernel and launch a second one" },
    { "this_grid", "a barrier of the whole grid is not emulated: end the kernel and launch a second one" },
    { "this_cluster", "thread block clusters are not emulated: work within one block" },
    { "__cluster_dims__", "thread block clusters are not emulated: work within one block" },
    { "cudaLaunchKernel*", "launch with kernel<<<grid, block>>>(arguments)" },
    { "cudaMemcpyPeer*", "there is one emulated device: use MPI for several ranks" },
    { "cudaIpc*", "memory is not shared between processes: use MPI for several ranks" },
    { "__shfl", "CUDA has removed it: use __shfl_sync(mask, value, lane)" },
    { "__shfl_up", "CUDA has removed it: use __shfl_up_sync(mask, value, distance)" },
    { "__shfl_down", "CUDA has removed it: use __shfl_down_sync(mask, value, distance)" },
    { "__shfl_xor", "CUDA has removed it: use __shfl_xor_sync(mask, value, bits)" },
    { "__ballot", "CUDA has removed it: use __ballot_sync(mask, condition)" },
    { "__any", "CUDA has removed it: use __any_sync(mask, condition)" },
    { "__all", "CUDA has removed it: use __all_sync(mask, condition)" },
    { "cudaThreadSynchronize", "CUDA has removed it: use cudaDeviceSynchronize()" },
};

/* Headers by the start of their name. */
static const struct advice headers[] = {
    { "cub/*", "write the algorithm yourself: warp shuffles and shared memory are emulated" },
    { "thrust/*", "write the algorithm yourself: warp shuffles and shared memory are emulated" },
    { "cuda/*", "libcu++ is not emulated: use __syncthreads(), atomicAdd() and cuda_pipeline_primitives.h" },
    { "curand*", "make random numbers from a counter (Philox), or on the host" },
    { "cufft*", "only cuBLAS is emulated" },
    { "cusparse*", "only cuBLAS is emulated" },
    { "cusolver*", "only cuBLAS is emulated" },
    { "cudnn*", "only cuBLAS is emulated" },
    { "cublasLt*", "use cublas_v2.h: cublasSgemm and cublasGemmEx are emulated" },
    { "nccl*", "NCCL has no meaning on a CPU: use MPI for several ranks" },
    { "cuda_fp8*", "8-bit floats are not emulated: use half or __nv_bfloat16" },
    { "cuda.h", "the driver API is not emulated: use cuda_runtime.h" },
    { "cooperative_groups/memcpy_async.h", "use __pipeline_memcpy_async of cuda_pipeline_primitives.h" },
    { "cooperative_groups/scan.h", "write the scan with shfl_up" },
};

/* ---- the emulator's own names --------------------------------------------------------------- */

enum { SLOTS = 1 << 14 };
static const token *slot[SLOTS]; /* every name of the shim's headers, hashed */

static const token **find_slot(const token *name)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < name->length; i++)
        hash = (hash ^ (unsigned char)name->at[i]) * 16777619u;
    const token **at = &slot[hash % SLOTS];
    while (*at && !((*at)->length == name->length && memcmp((*at)->at, name->at, (size_t)name->length) == 0))
        at = at + 1 == slot + SLOTS ? slot : at + 1;
    return at;
}

static void learn_text(source *s)
{
    source_lex(s);
    for (int i = 0; i < s->tokens; i++) {
        const token *t = &s->token[i];
        if (t->kind == TOKEN_NAME)
            *find_slot(t) = t;
        if (t->kind != TOKEN_DIRECTIVE)
            continue;
        const char *p = strstr(t->at, "define"), *end = t->at + t->length;
        if (!p || p + 7 >= end)
            continue;
        token *name = calloc(1, sizeof *name); /* the #define's name is a part of the directive's token */
        name->at = p + 7;
        while (name->at + name->length < end &&
               (isalnum((unsigned char)name->at[name->length]) || name->at[name->length] == '_'))
            name->length++;
        *find_slot(name) = name;
    }
}

static void learn_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char *name = format("%s/%s", path, entry->d_name);
        source *s = calloc(1, sizeof *s);
        s->text = read_file(name);
        if (s->text)
            learn_text(s);
        else
            learn_folder(name);
    }
    if (folder)
        closedir(folder);
}

void learn_shim(void)
{
    learn_folder(the_unit.shim);
    for (int i = 0; i < the_unit.sources; i++) /* the unit's own macros are no unknown names either */
        for (int t = 0; t < the_unit.source[i]->tokens; t++)
            if (the_unit.source[i]->token[t].kind == TOKEN_DIRECTIVE &&
                starts_with(&the_unit.source[i]->token[t], "#define"))
                learn_text(&(source){
                    .text = strndup(the_unit.source[i]->token[t].at, (size_t)the_unit.source[i]->token[t].length) });
}

/* ---- refusing ------------------------------------------------------------------------------- */

static bool fits(const char *name, int length, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strlen(pattern) == (size_t)length && memcmp(name, pattern, (size_t)length) == 0;
    int head = (int)(star - pattern), tail = (int)strlen(star + 1);
    return length >= head + tail && memcmp(name, pattern, (size_t)head) == 0 &&
           memcmp(name + length - tail, star + 1, (size_t)tail) == 0;
}

static void refuse_header(const source *s, const token *t)
{
    const char *p = strchr(t->at, '<'), *q = strchr(t->at, '"');
    p = q && (!p || q < p) ? q : p;
    if (!p || p > t->at + t->length || !strstr(t->at, "include") || strstr(t->at, "include") > p)
        return;
    int length = (int)strcspn(p + 1, ">\"");
    char *own = format("%s/%.*s", the_unit.shim, length, p + 1);
    if (*p == '"' || read_file(own)) /* "cuda/..." may well be a folder of the unit's */
        return;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (fits(p + 1, length, headers[i].name))
            complain(s, t->line, "<%.*s> is not supported by the emulator: %s", length, p + 1, headers[i].text);
}

/* Names that only CUDA has: cudaXxx, cublasXxx, and __xxx when they are called. */
static bool looks_like_cuda(const token *t)
{
    bool api = (starts_with(t, "cuda") && t->length > 4 && isupper((unsigned char)t->at[4])) ||
               (starts_with(t, "cublas") && t->length > 6 && isupper((unsigned char)t->at[6]));
    bool intrinsic = starts_with(t, "__") && t->length > 2 && islower((unsigned char)t->at[2]) && is(t + 1, "(") &&
                     !starts_with(t, "__builtin_") && !starts_with(t, "__attribute") && !starts_with(t, "__asm") &&
                     !starts_with(t, "__typeof");
    return api || intrinsic;
}

static void refuse_name(const source *s, const token *t)
{
    const function *first;
    if (is(t - 1, ".") || is(t - 1, "->") || marks_of_function(t, &first) || find_variable(t) || *find_slot(t))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fits(t->at, t->length, names[i].name)) {
            complain(s, t->line, "`%.*s` is not supported by the emulator: %s", t->length, t->at, names[i].text);
            return;
        }
    if (looks_like_cuda(t))
        complain(s, t->line,
                 "`%.*s` is not supported by the emulator: see docs/EMULATOR.md for what is, or try this on a GPU",
                 t->length, t->at);
}

void refuse_unsupported(const source *s)
{
    for (int i = 1; i < s->tokens - 1; i++) {
        if (s->token[i].kind == TOKEN_NAME)
            refuse_name(s, &s->token[i]);
        else if (s->token[i].kind == TOKEN_DIRECTIVE)
            refuse_header(s, &s->token[i]);
    }
}
