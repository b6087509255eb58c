/* test_symbols.c -- which symbols, sections and instructions a unit may have: what is refused, with which message, and
 * what a correct unit may use. */
#include "build/symbols.h"
#include "build/tools.h"
#include "toy.h"

static toy t;
static mg_scratch scratch;
static mg_build build;
static mg_labinfo info;

static void open_all(void)
{
    char path[PATH_MAX];
    toy_open(&t);
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mt_status status = mg_build_open(&build, t.root, t.build, scratch.path, mg_sandbox_choose((char[512]){ 0 }, 512));
    cr_assert_eq(status, MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_labinfo_read(&info, t.root, "90-toy"), MT_OK, "%s", mt_last_error());
    mg_build_source(&build, "90-toy", path);
    cr_assert_eq(mg_folder(path, false), MT_OK);
}

static void close_all(void)
{
    mg_labinfo_free(&info);
    mg_scratch_close(&scratch);
    toy_close(&t);
}

/* Compile, examine and link a unit with this text. */
static mt_status build_unit(const char *text, char log[4096])
{
    char path[PATH_MAX];
    mg_build_source(&build, "90-toy", path);
    strcat(path, "/toy.c");
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK);
    build.mines = build.brokens = 0;
    log[0] = 0;
    mt_status status = mg_build_units(&build, &info, log, 4096);
    if (build.brokens)
        return MT_ERR_FORMAT;
    return status == MT_OK ? mg_build_worker(&build, "90-toy", MG_MINE, path, log, 4096) : status;
}

#define HEAD                                                                                                        \
    "#include <stdint.h>\n#include <stdlib.h>\n#include <stdio.h>\n#include <string.h>\n#include <math.h>\n"        \
    "#include <unistd.h>\n#include <setjmp.h>\n#include <signal.h>\n#include <time.h>\n#include <assert.h>\n"       \
    "#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <dlfcn.h>\n#include <ctype.h>\n#include <errno.h>\n" \
    "#include <complex.h>\n#include <pthread.h>\n#include <omp.h>\n"
#define TOY        "void toy(float *out, const float *x, int64_t n)\n"
#define DO         "for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"
#define USES(what) HEAD TOY "{ " DO what " }\n"
#define WITH(what) HEAD what "\n" TOY "{ " DO " }\n"

static const struct {
    const char *unit, *words;
} refused[] = {
    { USES("if (read(3, out, 4)) return;"), "toy.c: uses `read`, which units may not use" },
    { USES("if (write(4, out, 4)) return;"), "`write`" },
    { USES("out[0] = mmap(0, 4096, 3, 1, 6, 0) == 0;"), "`mmap`" },
    { USES("mprotect(out, 4096, 7);"), "`mprotect`" },
    { USES("setenv(\"CUEMU_NORACE\", \"1\", 1);"), "`setenv`" },
    { USES("out[0] = getenv(\"A\") != 0;"), "`getenv`" },
    { USES("extern char **environ; environ = 0;"), "`environ`" },
    { USES("timer_t id; timer_create(CLOCK_REALTIME, 0, &id);"), "`timer_create`" },
    { USES("signal(SIGSEGV, SIG_IGN);"), "`signal`" },
    { USES("raise(SIGABRT);"), "`raise`" },
    { USES("jmp_buf b; if (setjmp(b) == 0) longjmp(b, 1);"), "longjmp" },
    { USES("atexit(abort);"), "`atexit`" },
    { USES("syscall(SYS_getpid);"), "`syscall`" },
    { USES("out[0] = fopen(\"/a\", \"r\") != 0;"), "`fopen`" },
    { USES("stdin->_fileno = 3;"), "`stdin`" },
    { USES("out[0] = dlsym(0, \"a\") != 0;"), "`dlsym`" },
    { USES("fork();"), "`fork`" },
    { USES("extern char __bss_start[]; out[0] = *__bss_start;"), "`__bss_start`" },
    { USES("extern int mg_calls[]; out[0] = *mg_calls;"), "`mg_calls`" },
    { USES("void emu_counts_reset(void) __attribute__((weak)); if (emu_counts_reset) emu_counts_reset();"),
      "`emu_counts_reset`" },
    { USES("__asm__ volatile(\"syscall\" : : \"a\"(39) : \"rcx\", \"r11\", \"memory\");"),
      "a system call as an instruction" },
    { USES("__asm__ volatile(\"int $0x80\" : : \"a\"(20));"), "a system call as an instruction" },
    { WITH("__attribute__((constructor)) static void f(void) { puts(\"first\"); }"), "`.init_array`" },
    { WITH("__attribute__((destructor)) static void f(void) { puts(\"last\"); }"), "`.fini_array`" },
    { WITH("static void f(void) { puts(\"\"); } __attribute__((section(\".init_array.00099\"), used)) static void "
           "(*p)(void) = f;"),
      "`.init_array.00099`" },
    { WITH("static void f(void) { puts(\"\"); } __attribute__((section(\".preinit_array\"), used)) static void "
           "(*p)(void) = f;"),
      "`.preinit_array`" },
    { WITH("__asm__(\".section .data.x,\\\"aw\\\",@init_array\\n.quad toy\\n.text\");"), "`.data.x`" },
    { WITH("__asm__(\".section .init,\\\"ax\\\"\\ncall toy\\n.text\");"), "`.init`" },
    { WITH("__asm__(\".section .ctors,\\\"aw\\\"\\n.quad toy\\n.text\");"), "`.ctors`" },
    { WITH("static void *pick(void) { return (void *)abs; } int chosen(int) __attribute__((ifunc(\"pick\")));"),
      "`chosen`" },
    { WITH("__asm__(\".comm write,8\");"), "`write`" },
    { WITH("__asm__(\".globl fixed\\n.set fixed, 0x401000\");"), "`fixed`" },
    { WITH("__asm__(\".globl \\\"a T 0\\\\nb\\\"\\n\\\"a T 0\\\\nb\\\":\");"), "toy.c: " },
    { WITH("__attribute__((used)) static void __tsan_read4(void *p) { (void)p; }"), "`__tsan_read4`" },
    { WITH("__attribute__((weak)) void mg_on_device(void) { }"), "`mg_on_device`" },
    { WITH("int64_t mt_dtype_size(int d) { return d; }"), "`mt_dtype_size`, which the framework has" },
    { WITH("int main(void) { return 0; }"), "`main`" },
    { WITH("int own(int x) { return x; } __asm__(\".symver own,mt_dtype_size@@V1\");"),
      "a symbol with a strange name" },
    { WITH("__asm__(\".section \\\".data PROGBITS 0 0 8\\\",\\\"aw\\\",@init_array\\n.quad toy\\n.text\");"),
      "a section with a strange name" },
    /* assembly code, where it is written and where it hides */
    { WITH("__asm__(\".data\\nx: .quad 1\\n.text\");"), "has assembly code (asm), which units may not have" },
    { USES("__asm__ volatile(\"nop\");"), "toy.c:20: has assembly code" },
    { WITH("#define GLUE(a, b) a##b\nGLUE(as, m)(\"\" \"nop\");"), "has assembly code" },
    { WITH("static inline float half(float x) { __asm__(\"mulss %0, %0\" : \"+x\"(x)); return x; } float (*p)(float) = "
           "half;"),
      "has assembly code" },
    { WITH("int named(void) __asm__(\"read\"); int named(void); int use(void) { return named(); }"), "uses `read`" },
    { WITH("int named(void) __asm__(\"x\\n.byte 1\"); int use(void) { return named(); }"), "has `asm(\"x" },
    { WITH("int named __asm__(\"mg_\" \"calls\");"), "has `asm(\"mg_calls\")`" },
    { WITH("__attribute__((section(\".text#\"))) const char code[] = { 1, 2 };"), "has data among its instructions" },
    { WITH("[[gnu::section(\".text\")]] const char code[] = { 1, 2 };"), "the attribute `section(\".text\")`" },
    { WITH("static float sum(float (*f)(int), int n) { return f(n) + f(0); }\n"
           "float twice(float x) { float f(int i) { return x * (float)i; } return sum(f, 2); }"),
      "takes the address of a nested function" },
    { WITH("__attribute__((naked)) void bare(void) { }"), "the attribute `naked`" },
    { WITH("#ident \"a\\\"\\n.byte 1\\n#\""), "has assembly code" },
    /* the count of accesses */
    { WITH("void __tsan_read4(void *p); void count(void *p) { __tsan_read4(p); }"), "toy.c:19: names `__tsan_read4`" },
    { WITH("void count(void *p) __asm__(\"__tsan_\" \"read4\");"), "has `asm(\"__tsan_read4\")`" },
    { WITH("static void count(void *p) __attribute__((weakref((\"__tsan_read4\"))));"), "the attribute `weakref(" },
    { WITH("static void count(void *p) __attribute__((weakref(u8\"__tsan\" R\"(_read4)\")));"),
      "`weakref(\"__tsan_read4\")`" },
    { WITH("#define GLUE(a, b) a##b\nvoid GLUE(__ts, an_read4)(void *p);"), "names `__tsan_read4`" },
    { WITH("#pragma redefine_extname count __tsan_read4\nvoid count(void *p);"), "names `__tsan_read4`" },
    { WITH("static void count(void *p) __attribute__((weakref(\"__tsan_read4\")));"), "`weakref(\"__tsan_read4\")`" },
    { WITH("__attribute__((no_sanitize(\"thread\"))) void quiet(void) { }"), "toy.c:19: has the attribute" },
    { WITH("__attribute__((cold, __no_sanitize_thread__)) void quiet(void) { }"),
      "the attribute `no_sanitize_thread`" },
    { WITH("[[gnu::no_sanitize_thread]] void quiet(void) { }"), "the attribute `no_sanitize_thread`" },
    { WITH("#define QUIET(x) _Pragma(\"GCC diagnostic push\") __attribute__((no_##x(\"thread\")))\n"
           "QUIET(sanitize) void quiet(void) { }"),
      "the attribute `no_sanitize`" },
    { WITH("# 1 \"/usr/include/quiet.h\" 1 3\n__attribute__((no_sanitize_thread)) void quiet(void) { }"),
      "gives its lines other numbers" },
    { WITH("/* */ %: /* */ \\\nline 1 \"/usr/include/quiet.h\"\n"), "gives its lines other numbers" },
    { WITH("#if 0\n' R\"x(\n#endif\n#line 1 \"/usr/include/quiet.h\"\n//)x\"\n"), "gives its lines other numbers" },
    { WITH("float at(const __seg_gs float *p) { return *p; }"), "uses `__seg_gs`" },
    { WITH("static char all[100 << 20]; char *mine(long i) { return all + i; }"), "100 MiB of static arrays" },
    { WITH("static _Thread_local char all[5 << 20]; char *mine(long i) { return all + i; }"),
      "5 MiB of variables for each thread" },
};

Test(symbols, what_no_lab_needs_is_refused_by_name, .init = open_all, .fini = close_all, .timeout = 300)
{
    char log[4096];
    for (int i = 0; i < MT_COUNT(refused); i++) {
        cr_expect_eq(build_unit(refused[i].unit, log), MT_ERR_FORMAT, "%s", refused[i].words);
        cr_expect(strstr(log, refused[i].words) && strstr(log, "toy.c:"), "wanted: %s\nsaid: %s", refused[i].words,
                  log);
    }
}

/* What the compiler makes of a unit where its accesses are counted is judged in the same way. */
Test(symbols, the_counted_unit_is_judged_too, .init = open_all, .fini = close_all)
{
    static const struct {
        const char *text, *words;
    } counted[] = {
        { "asm(\".globl f\\nf: ret\");", "has assembly code" },
        { "__attribute__((no_sanitize(\"thread\"))) void quiet(void) { }", "the attribute `no_sanitize`" },
        { "void __tsan_write4(void *p); void count(void *p) { __tsan_write4(p); }", "names `__tsan_write4`" },
        { "int small;", NULL },
    };
    char log[4096], text[4096];
    for (int i = 0; i < MT_COUNT(counted); i++) {
        snprintf(text, sizeof text, "%s#ifdef __SANITIZE_THREAD__\n%s\n#endif\n%s{ %s }\n", HEAD, counted[i].text, TOY,
                 DO);
        cr_expect_eq(build_unit(text, log), MT_OK, "%s", log);
        mt_status status = mg_compile_counted(&build, log, sizeof log);
        cr_expect_eq(status, counted[i].words ? MT_ERR_FORMAT : MT_OK, "%s: %s", counted[i].text, log);
        cr_expect(!counted[i].words || strstr(log, counted[i].words), "%s: %s", counted[i].text, log);
    }
}

static const char *const allowed[] = {
    USES("printf(\"%g\\n\", x[0]); fprintf(stderr, \"x\\n\"); puts(\"y\"); putchar('z'); fflush(stdout); "
         "perror(\"a\");"),
    USES("char s[99]; snprintf(s, 99, \"%d\", 1); sscanf(s, \"%f\", out); out[0] += strtod(s, 0) + atoi(s) + "
         "strlen(s);"),
    USES("assert(n < 1 << 30); if (n < 0) abort(); if (n < -1) exit(1); errno = 0; out[0] += isalpha((int)n) + "
         "toupper(65);"),
    USES("float *p = aligned_alloc(64, 4096); p = realloc(p, 8192); memmove(p, x, 4); memset(p + 1, 0, 4); free(p);"),
    USES("out[0] += expf(x[0]) + tanhf(x[1]) + erff(x[2]) + fmaf(x[0], x[1], x[2]) + sqrtl(x[3]) + pow(x[4], x[5]);"),
    USES(
        "double s, c; sincos(x[0], &s, &c); out[0] += s + lrint(c) + isnan(x[0]) + ldexp(x[1], 3) + fmod(x[2], x[3]);"),
    USES("complex float z = x[0] + x[1] * I; z *= z / (z + 1); out[0] += crealf(z) + cabsf(z);"),
    USES("out[0] += (float)((__int128)n * n / (n + 1)) + (float)(_Float16)x[0] + (float)(x[1] * 1.0L) + "
         "__builtin_popcountll(n);"),
    USES("_Pragma(\"omp parallel for schedule(dynamic)\") for (int i = 0; i < 8; i++) out[i] += omp_get_thread_num();"),
    USES("float s = 0; _Pragma(\"omp parallel for reduction(+ : s)\") for (int i = 0; i < n; i++) s += x[i]; out[0] += "
         "s;"),
    USES("_Pragma(\"omp parallel\") { _Pragma(\"omp critical\") out[0]++; _Pragma(\"omp barrier\") _Pragma(\"omp "
         "single\") out[1]++; }"),
    "#include <immintrin.h>\n" USES("__m256 v = _mm256_loadu_ps(x); _mm256_storeu_ps(out, _mm256_fmadd_ps(v, v, v)); "
                                    "_mm_prefetch(x, _MM_HINT_T0); _mm_sfence();"),
    USES("__asm__ volatile(\"\" : : \"r\"(out) : \"memory\"); out[0] += omp_get_wtime() + clock();"),
    USES("switch (n) { case 1: case 5: out[0] = 1; break; case 9: out[0] = 3; break; case 11: case 12: case 40: out[1] "
         "= 3; }"),
    HEAD "static int down(const void *a, const void *b) { return *(float *)a < *(float *)b; }\n" TOY "{ " DO
         " qsort(out, n, 4, down); float k = 1; bsearch(&k, out, n, 4, down); " DO " }\n",
    HEAD "static _Thread_local float sum; static float table[1000]; const char *const words[] = { \"a\", \"b\" };\n" TOY
         "{ " DO " sum += table[n % 1000]; if (sum > 0) puts(words[n & 1]); }\n",
    HEAD
    "static int section(int naked) { return naked; }\n#define LINE(line) #line\n/*\n# 1 \"comment\"\n*/\n"
    "__attribute__((noinline, aligned(64), optimize(\"O3\"), target(\"avx2\"))) static int weakref(int attribute)\n"
    "{ const char *s = \"# 1 __tsan_read4 asm(\\\"nop\\\")\", *t = R\"a(\n# 1 \"x\"\n)a\"; puts(s); puts(t); "
    "return section(attribute); }\n" TOY
    "{ __asm__ __volatile__(\"\" ::: \"memory\"); float k = x[0]; asm(\"\" : \"+x\"(k)); "
    "int half(int i) { return i / 2 + (int)k; } out[0] = (float)weakref(half(2)); " DO " }\n",
    HEAD "static float large[12 << 20]; static _Thread_local float mine[1 << 18];\n" TOY "{ " DO
         " large[n] = mine[n] = x[0]; }\n",
    HEAD "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static void *work(void *p) { return p; }\n" TOY
         "{ pthread_t t; " DO " pthread_mutex_lock(&m); pthread_create(&t, 0, work, 0); pthread_join(t, 0);"
         " pthread_mutex_unlock(&m); }\n",
    /* helpers that are not static, by names that others have too */
    "#include <stdint.h>\nint count; float *region; void reply(float *p) { *p = count++; } int serve(int x) { return "
    "x; }\n"
    "void drain(float *p, int64_t n) { region = p; while (n--) reply(p + n); }\nfloat index(float x) { return 2 * x; "
    "}\n" TOY "{ drain(out, n); for (int64_t i = 0; i < n; i++) out[i] = index(x[serve((int)i)]); }\n",
};

Test(symbols, what_right_units_use_is_allowed, .init = open_all, .fini = close_all, .timeout = 300)
{
    char log[4096];
    for (int i = 0; i < MT_COUNT(allowed); i++)
        cr_expect_eq(build_unit(allowed[i], log), MT_OK, "%d: %s\n%s", i, allowed[i] + sizeof HEAD - 1, log);
}

/* A helper has no influence on the rest of the worker, whatever its name. */
Test(symbols, a_helper_named_like_a_function_of_libc_serves_its_unit_only)
{
    toy mine;
    toy_open(&mine);
    mg_results r = toy_grade(&mine,
                             "#include <stdint.h>\nlong read(int a, void *b, long c) { (void)b; return a + c; }\n"
                             "int strcmp(const char *a, const char *b) { return a != b; }\n" TOY
                             "{ if (read(1, out, 2) == 3 && strcmp((char *)out, (char *)x)) " DO " }\n",
                             "90.1");
    cr_expect_eq(r.points, 4, "%s %s", r.build_log, r.rows[0].detail);
    mg_results_free(&r);
    toy_close(&mine);
}

Test(symbols, lists)
{
    static const struct {
        const char *id, *unit, *symbol;
        bool may;
    } cases[] = {
        { "01-matmul", "matmul.c", "memcpy", true },
        { "01-matmul", "matmul.c", "__memcpy_chk", true },
        { "01-matmul", "matmul.c", "__read_chk", false },
        { "01-matmul", "matmul.c", "__memcpy", false },
        { "01-matmul", "matmul.c", "__isoc99_sscanf", true },
        { "01-matmul", "matmul.c", "__isoc99_fscanf", false },
        { "01-matmul", "matmul.c", "mt_check_failed", true },
        { "01-matmul", "matmul.c", "cublasSgemm_v2", false },
        { "01-matmul", "matmul.c", "cuemu_launch", false },
        { "01-matmul", "matmul.c", "m", false },
        { "01-matmul", "matmul.c", "", false },
        { "06-cuda-kernels", "saxpy.cu", "cuemu_launch", true },
        { "06-cuda-kernels", "saxpy.cu", "cudaMalloc", true },
        { "06-cuda-kernels", "saxpy.cu", "cudaMallocManaged", false },
        { "06-cuda-kernels", "saxpy.cu", "cuemu_copy_from_symbol", false },
        { "06-cuda-kernels", "saxpy.cu", "mt_row_sum_cuda", true },
        { "06-cuda-kernels", "saxpy.cu", "mt_matmul_cuda", false },
        { "06-cuda-kernels", "saxpy.cu", "mt_softmax_fwd_cpu", false },
        { "06-cuda-kernels", "saxpy.cu", "cublasSasum", false },
        { "07-cuda-matmul", "linear.cu", "mt_matmul_cuda", true },
        { "07-cuda-matmul", "naive.cu", "mt_matmul_cuda", false },
        { "07-cuda-matmul", "cublas.cu", "cublasSgemm_64", true },
        { "07-cuda-matmul", "naive.cu", "cublasSgemm_64", false },
        { "07-cuda-matmul", "naive.cu", "mt_matmul_cublas", false },
    };
    for (int i = 0; i < MT_COUNT(cases); i++)
        cr_expect_eq(mg_may_use(cases[i].id, cases[i].unit, cases[i].symbol), cases[i].may, "%s in %s", cases[i].symbol,
                     cases[i].unit);
}
