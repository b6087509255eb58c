/* link.c -- the static binaries that run submissions, the workers. A link sees its own objects only. */
#include "build/tools.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- workers -------------------------------------------------------------------------------- */

static bool is_mine(const mg_build *b, unsigned whose, const char *id)
{
    for (int i = 0; i < b->mines; i++)
        if (strcmp(b->mine[i], id) == 0)
            return whose >> i & 1;
    return false;
}

static void list_folder(FILE *list, const char *folder, const char *begin)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strlen(e->d_name) > 2 && strcmp(e->d_name + strlen(e->d_name) - 2, ".o") == 0 &&
            strncmp(e->d_name, begin, strlen(begin)) == 0)
            fprintf(list, "%s/%s\n", folder, e->d_name);
    if (dir)
        closedir(dir);
}

/* The parts of one link, which are all that its sandbox contains. */
enum { MOST_LABS = MG_PATHS - 8 };
typedef struct parts {
    char list[PATH_MAX];              /* a response file with the objects, ours first */
    char folder[MOST_LABS][PATH_MAX]; /* of the labs' objects */
    char worker[PATH_MAX], shared[PATH_MAX], given[PATH_MAX], emulator[PATH_MAX];
    int folders, others; /* the first of them are not ours */
} parts;

/* In a counted worker, the graded lab's units count, and the kernels of earlier labs that they call. */
static void add_folder(const mg_build *b, unsigned whose, const char *id, parts *p)
{
    MT_CHECK(p->folders < MOST_LABS, "too many labs");
    char *folder = p->folder[p->folders++];
    bool mine = is_mine(b, whose, id), counted = whose & MG_COUNTED;
    mg_path(folder, "%s/obj/counted/%s", b->scratch, id);
    if (counted && mine && access(folder, R_OK) == 0)
        return;
    mg_path(folder, "%s/in/counted/%s", b->scratch, id);
    if (!counted || access(folder, R_OK) != 0)
        mg_path(folder, mine ? "%s/obj/%s" : "%s/in/units/%s", b->scratch, id);
}

static void find_folders(const mg_build *b, unsigned whose, parts *p)
{
    char units[PATH_MAX];
    mg_path(units, "%s/in/units", b->scratch);
    DIR *labs = opendir(units);
    for (struct dirent *e; labs && (e = readdir(labs));)
        if (e->d_name[0] != '.' && !is_mine(b, whose, e->d_name))
            add_folder(b, whose, e->d_name, p);
    if (labs)
        closedir(labs);
    p->others = p->folders;
    for (int i = 0; i < b->mines; i++)
        if (is_mine(b, whose, b->mine[i]))
            add_folder(b, whose, b->mine[i], p);
}

/* Functions that replace the C library's and notice a misuse (worker/heap.c, worker/joins.c). */
static void list_watched(FILE *list, const char *worker)
{
    static const char *const names[] = { "malloc",         "calloc", "realloc",        "aligned_alloc", "memalign",
                                         "posix_memalign", "free",   "pthread_create", "pthread_join",  "GOMP_task" };
    fprintf(list, "%s/heap.o\n%s/joins.o\n", worker, worker);
    for (int64_t i = 0; i < MT_COUNT(names); i++)
        fprintf(list, "-Wl,--wrap=%s\n", names[i]);
}

/* Whether a worker runs .cu units. The reference's are not among its objects, and counted ones are C units. */
static bool on_device(const mg_build *b, const char *id, unsigned whose)
{
    return b->cuda && !(whose & MG_COUNTED) && is_mine(b, whose, id);
}

/* What counts, and notices what is not counted. */
static const char *const counting[] = { "traffic", "moves", "given", "openmp", "threads", "statics" };

static mt_status find_parts(const mg_build *b, const char *id, unsigned whose, parts *p)
{
    char calls[16];
    p->folders = 0;
    mt_status status = on_device(b, id, whose) ? mg_find_emulator(b, p->emulator) : MT_OK;
    if (status != MT_OK)
        return status;
    mg_path(p->list, "%s/in/worker-%x.list", b->scratch, whose);
    mg_path(p->worker, "%s/in/worker", b->scratch);
    mg_path(p->shared, "%s/in/libcalls.a", b->scratch);
    mg_path(p->given, "%s/in/libgiven.a", b->scratch);
    find_folders(b, whose, p);
    FILE *list = fopen(p->list, "we");
    if (!list)
        return mt_fail(MT_ERR_IO, "%s: %s", p->list, strerror(errno));
    snprintf(calls, sizeof calls, "calls_%.2s", id);
    fprintf(list, "%s/main.o\n%s/call.o\n", p->worker, p->worker);
    list_folder(list, p->worker, calls); /* a large lab has several */
    for (int i = 0; i < p->folders; i++) {
        if (whose & MG_COUNTED && i == p->others)
            fprintf(list, "%s/statics_begin.o\n", p->worker);
        list_folder(list, p->folder[i], "");
    }
    if (whose & MG_COUNTED)
        fprintf(list, "%s/statics_end.o\n", p->worker);
    if (on_device(b, id, whose))
        fprintf(list, "%s/on_device.o\n%s/device_calls.o\n%s/libcuemu.a\n", p->worker, p->worker, p->emulator);
    else if (b->cuda)
        fprintf(list, "-Wl,--unresolved-symbols=ignore-in-object-files\n"); /* the table's .cu launchers */
    if (whose & MG_COUNTED)
        for (int64_t i = 0; i < MT_COUNT(counting); i++)
            fprintf(list, "%s/%s.o\n", p->worker, counting[i]);
    else
        list_watched(list, p->worker);
    /* What another lab's calls share, and functions for which the framework's need a library that is not static: only
     * what is asked for, and before the framework's. */
    fprintf(list, "%s\n%s\n", p->shared, p->given);
    return fclose(list) ? mt_fail(MT_ERR_IO, "%s: %s", p->list, strerror(errno)) : MT_OK;
}

/* What these see in addition to the accesses. */
static const char wrapped[] =
    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=mempcpy,--wrap=memccpy,--wrap=bcopy,--wrap=bzero"
    ",--wrap=strcpy,--wrap=stpcpy,--wrap=strcat,--wrap=strncpy,--wrap=stpncpy,--wrap=strncat,--wrap=memcmp,--wrap=bcmp"
    ",--wrap=qsort,--wrap=qsort_r,--wrap=modff,--wrap=modf,--wrap=frexpf,--wrap=frexp,--wrap=remquof,--wrap=remquo"
    ",--wrap=sincosf,--wrap=sincos,--wrap=strlen,--wrap=strnlen,--wrap=strcmp,--wrap=strncmp,--wrap=strcasecmp"
    ",--wrap=strncasecmp,--wrap=memchr,--wrap=memrchr,--wrap=rawmemchr,--wrap=memmem,--wrap=strchr,--wrap=strrchr"
    ",--wrap=strchrnul,--wrap=strstr,--wrap=strspn,--wrap=strcspn,--wrap=strpbrk,--wrap=strsep,--wrap=strtok"
    ",--wrap=strtok_r,--wrap=strtol,--wrap=strtoll,--wrap=strtoul,--wrap=strtoull,--wrap=strtof,--wrap=strtod"
    ",--wrap=strtold,--wrap=atoi,--wrap=atol,--wrap=atoll,--wrap=atof,--wrap=snprintf,--wrap=vsnprintf"
    ",--wrap=sprintf,--wrap=vsprintf,--wrap=sscanf,--wrap=__isoc99_sscanf"
    ",--wrap=mt_add_fwd_cpu,--wrap=mt_add_bwd_cpu,--wrap=mt_sub_fwd_cpu,--wrap=mt_sub_bwd_cpu,--wrap=mt_mul_fwd_cpu"
    ",--wrap=mt_mul_bwd_cpu,--wrap=mt_div_fwd_cpu,--wrap=mt_div_bwd_cpu,--wrap=mt_exp_fwd_cpu,--wrap=mt_exp_bwd_cpu"
    ",--wrap=mt_log_fwd_cpu,--wrap=mt_log_bwd_cpu,--wrap=mt_sqrt_fwd_cpu,--wrap=mt_sqrt_bwd_cpu"
    ",--wrap=mt_scale_fwd_cpu,--wrap=mt_scale_bwd_cpu,--wrap=mt_mean_fwd_cpu,--wrap=mt_mean_bwd_cpu"
    ",--wrap=mt_max_middle_fwd_cpu,--wrap=mt_max_middle_bwd_cpu,--wrap=mt_dropout_fwd_cpu,--wrap=mt_dropout_bwd_cpu"
    ",--wrap=mt_gather_rows_fwd_cpu,--wrap=mt_gather_rows_bwd_cpu,--wrap=mt_residual_fwd_cpu,--wrap=mt_sum_cpu"
    ",--wrap=mt_sum_middle_cpu,--wrap=mt_add_strided_cpu,--wrap=mt_copy_to_strided_cpu"
    ",--wrap=GOMP_parallel,--wrap=GOMP_parallel_loop_dynamic,--wrap=GOMP_parallel_loop_nonmonotonic_dynamic"
    ",--wrap=GOMP_parallel_loop_guided,--wrap=GOMP_parallel_loop_nonmonotonic_guided"
    ",--wrap=GOMP_loop_dynamic_start,--wrap=GOMP_loop_nonmonotonic_dynamic_start"
    ",--wrap=GOMP_loop_guided_start,--wrap=GOMP_loop_nonmonotonic_guided_start,--wrap=GOMP_loop_dynamic_next"
    ",--wrap=GOMP_loop_nonmonotonic_dynamic_next,--wrap=GOMP_loop_guided_next"
    ",--wrap=GOMP_loop_nonmonotonic_guided_next,--wrap=GOMP_barrier,--wrap=GOMP_loop_end"
    ",--wrap=GOMP_sections_end,--wrap=GOMP_critical_start,--wrap=GOMP_critical_end"
    ",--wrap=GOMP_critical_name_start,--wrap=GOMP_critical_name_end,--wrap=GOMP_atomic_start"
    ",--wrap=GOMP_atomic_end,--wrap=GOMP_ordered_start,--wrap=GOMP_ordered_end,--wrap=GOMP_single_copy_start"
    ",--wrap=GOMP_single_copy_end,--wrap=omp_set_lock,--wrap=omp_unset_lock,--wrap=omp_test_lock"
    ",--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock"
    ",--wrap=pthread_rwlock_rdlock,--wrap=pthread_rwlock_wrlock,--wrap=pthread_rwlock_unlock"
    ",--wrap=pthread_spin_lock,--wrap=pthread_spin_unlock,--wrap=mtx_lock,--wrap=mtx_trylock,--wrap=mtx_unlock"
    ",--wrap=pthread_barrier_wait,--wrap=pthread_cond_wait,--wrap=GOMP_task,--wrap=GOMP_taskloop"
    ",--wrap=GOMP_doacross_post,--wrap=pthread_once,--wrap=pthread_create,--wrap=pthread_join"
    ",--wrap=pthread_detach,--wrap=thrd_create,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc"
    ",--wrap=memalign,--wrap=posix_memalign,--wrap=mmap,--wrap=pthread_spin_trylock,--wrap=sem_wait,--wrap=sem_trywait"
    ",--wrap=sem_post,--wrap=cnd_wait";

/* And worker/device_calls.c. */
static const char observed[] = "-Wl,--wrap=cudaMemcpy,--wrap=cudaMemcpyAsync,--wrap=cudaMemset,--wrap=cudaMemsetAsync"
                               ",--wrap=cuemu_launch,--wrap=emu_operate"
                               ",--wrap=cudaGetLastError,--wrap=cudaPeekAtLastError,--wrap=cudaDeviceSynchronize"
                               ",--wrap=cudaStreamSynchronize";

/* A worker of stubs alone must link, too. */
enum { LEAST_WORK = 10 };

mt_status mg_build_worker(mg_build *b, const char *id, unsigned whose, char path[PATH_MAX], char *log, size_t size)
{
    char bin[PATH_MAX], response[PATH_MAX], table[64];
    parts p;
    mt_status status = whose & MG_COUNTED ? mg_compile_counted(b, log, size) : MT_OK;
    if (status == MT_OK)
        status = find_parts(b, id, whose, &p);
    if (status != MT_OK)
        return status;
    mg_path(bin, "%s/%s", b->scratch, whose == MG_REFERENCE ? "bin" : "out");
    mg_path(path, "%s/worker-%x", bin, whose);
    mg_path(response, "@%s", p.list);
    snprintf(table, sizeof table, "-Wl,--defsym=mg_calls=mg_calls_%.2s", id);
    /* With -fno-lto a unit cannot contain intermediate code to be compiled here. The emulator walks the stack. */
    const char *const argv[] = { mg_compiler, "-static", "-fno-lto",
                                 "-fopenmp",  table,     "-Wl,--eh-frame-hdr,--gc-sections,-z,noexecstack",
                                 "-o",        path,      response,
                                 "-lstdc++",  "-lm",     whose & MG_COUNTED ? wrapped : observed,
                                 NULL };
    mg_sandbox box = mg_tool_box(b, argv, NULL);
    int seen = 0;
    box.readable[seen++] = p.list;
    box.readable[seen++] = p.worker;
    box.readable[seen++] = p.shared;
    box.readable[seen++] = p.given;
    if (on_device(b, id, whose))
        box.readable[seen++] = p.emulator;
    for (int i = 0; i < p.folders; i++)
        box.readable[seen++] = p.folder[i];
    box.writable[0] = bin;
    mg_work link = { fmax(b->work.most - b->work.used, LEAST_WORK), 0 };
    status = mg_run_tool(&box, "linking", whose == MG_REFERENCE ? NULL : &link, log, size);
    b->work.used += link.used;
    if (status == MT_OK && b->listed[0] && whose == MG_MINE)
        status = mg_copy_file(b->listed, p.list);
    return status == MT_OK ? mg_is_plain(path) : status;
}
