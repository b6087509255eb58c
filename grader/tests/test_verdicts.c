/* test_verdicts.c -- one unit for each kind of error, graded like a student's: the verdict and its message.
 *
 * One program for all of them, because building the toy lab takes a second. A row that must be confined computes the
 * right values only if what it tries is refused, so that PASS means "refused". */
#include "sandbox/sandbox.h"
#include "toy_units.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED(what) BODY("if (" what ") return; " DO)

typedef struct attempt {
    const char *name, *unit;
    mg_verdict verdict;
    const char *words; /* in the detail, or in the build log */
} attempt;

static const attempt attempts[] = {
    { "right", BODY(DO), MG_PASS, "" },
    { "prints", BODY("printf(\"hello\\n\"); " DO), MG_PASS, "" },
    { "wrong by one bit", BODY(DO "if (n > 7) out[7] = nextafterf(out[7], 0);") "#include <math.h>\n", MG_FAIL, "" },
    { "wrong", BODY(DO "if (n) out[n - 1] = 0;"), MG_FAIL, "out[1499] = 0   expected" },
    { "leaves one out", BODY("if (n) memcpy(out, x, 4 * n - 4);"), MG_FAIL, "out[1499] = nan, as before the call" },
    { "all zero", BODY("memset(out, 0, 4 * n);"), MG_FAIL, "out[0] = 0   expected" },
    { "remembers the first answer",
      UNIT "static float memo[1500]; static int calls;\n" TOY "{ if (!calls++) { " DO " memcpy(memo, out, 4 * n); }"
           " else memcpy(out, memo, 4 * n); }",
      MG_FAIL, "out[0]" },
    { "remembers the address of the input",
      UNIT "static const float *first;\n" TOY "{ if (!first) first = x;"
           " if (x == first) x = (void *)first; else { " DO " return; } " DO "}",
      MG_PASS, "" },
    { "not written yet", BODY("MT_TODO(\"90.1\");"), MG_TODO, "" },
    { "claims a pass", BODY("puts(\"PASS 4/4\"); exit(0);"), MG_CRASH, "exit status 0" },
    { "exits at the start", UNIT "__attribute__((constructor)) static void f(void) { _exit(0); }\n" TOY "{ " DO " }",
      MG_ERROR, "before its first call" },
    { "frees twice", BODY("char *volatile p = malloc(9); free(p); free(p);" DO), MG_CRASH, "the heap was destroyed" },
    { "writes one past its own memory", BODY("volatile float *p = malloc(4 * n); p[n] = 1; free((void *)p); " DO),
      MG_CRASH,
      "labs/90-toy/toy.c:18: heap overrun: up to 4 bytes past the end of a block of 6000 bytes were written" },
    { "writes one past memory that it keeps",
      UNIT "static float *kept;\n" TOY "{ if (!kept) kept = malloc(5996); for (int64_t i = 0; i < n; i++)"
           " *(volatile float *)&kept[i] = 2 * x[i], out[i] = kept[i]; }",
      MG_CRASH, "heap overrun: up to 4 bytes past the end of a block of 5996 bytes were written" },
    { "reads what realloc has moved",
      BODY("float *volatile p = malloc(4 * n + 4), *volatile old = p; for (int64_t i = 0; i < n; i++) p[i] = 2 * x[i];"
           " p = realloc(p, 4 * n + 8); if (n) memcpy(out, old, 4 * n); free(p);"),
      MG_FAIL, "(1024 of 1500 wrong)" },
    { "does not free", BODY("float *volatile p = malloc(4 * n + 1); if (!p) return; " DO), MG_FAIL,
      " bytes more stay allocated after each of 8 equal calls" },
    { "keeps memory for as many threads as its first call has",
      "#include <omp.h>\n" UNIT "static float *kept;\n" TOY "{ if (!kept) kept = calloc(omp_get_max_threads(), 4);\n"
      "#pragma omp parallel\n"
      "kept[omp_get_thread_num()] += 1;\n" DO "}",
      MG_CRASH, "bytes past the end of a block of" },
    { "keeps memory for the next call",
      UNIT "static float *kept; static int64_t has;\n" TOY "{ if (n > has) kept = realloc(kept, 4 * (has = n));"
           " for (int64_t i = 0; i < n; i++) kept[i] = 2 * x[i]; if (n) memcpy(out, kept, 4 * n); }",
      MG_PASS, "" },
    { "uses its own memory",
      BODY("float *volatile p = calloc(n + 1, 4); p = realloc(p, 8 * n + 1);"
           "((char *)p)[8 * n] = 1; free(p); char *volatile q = aligned_alloc(64, 100); q[99] = 1; free(q);"
           "q = strdup(\"text\"); free(q); if (posix_memalign((void **)&q, 64, 10)) abort(); q[9] = 1; free(q);" DO),
      MG_PASS, "" },
    { "overflows a local array",
      UNIT "static void put(volatile int *a, int64_t n) { for (int64_t i = 0; i < n; i++) a[i] = (int)i; }\n" TOY
           "{ volatile int a[64]; put(a, n ? 90 : 0); out[0] = (float)a[3]; }",
      MG_CRASH, "a local array was written past its end" },
    { "overflows a local array, and then uses a pointer",
      UNIT "static __attribute__((noinline)) void put(float *const *to, int64_t n) {"
           " volatile float tmp[64]; for (int64_t i = 0; i < n; i++) tmp[i] = 0; to[0][0] = tmp[3]; }\n" TOY
           "{ float *to[64] = { out }; " DO " put(to, n ? 120 : 0); }",
      MG_CRASH, "labs/90-toy/toy.c:17: a local array was written past its end: a pointer beside it was overwritten" },
    { "uses a pointer that is none", BODY("*(volatile int *)((uintptr_t)out << 40 | 1) = 1;"), MG_CRASH,
      "labs/90-toy/toy.c:18: used a pointer that is not an address" },
    { "failed check", BODY("MT_CHECK(n == 3, \"x is [%d]\", (int)n);"), MG_CRASH, "x is [1500]" },
    { "divides by zero", BODY("volatile int zero = 0; out[0] = (int)n / zero;"), MG_CRASH,
      "labs/90-toy/toy.c:18: SIGFPE" },
    { "null pointer", BODY("*(volatile int *)0 = 1;"), MG_CRASH,
      "labs/90-toy/toy.c:18: touched address 0 (a null pointer)" },
    { "a member of a null pointer",
      UNIT "typedef struct node { double x[9]; volatile int *p; } node;\n" TOY
           "{ node *volatile a = NULL; out[0] = (float)*a->p; }",
      MG_CRASH,
      "labs/90-toy/toy.c:19: touched address 0x48, 72 bytes behind 0 (a null pointer)\n    | { node *volatile a" },
    { "a pointer in freed memory",
      UNIT "typedef struct node { double x[9]; struct node *next; volatile int *p; } node;\n" TOY
           "{ node *volatile a = calloc(1, sizeof *a), *volatile b = a; free(a); out[0] = (float)*b->next->p; }",
      MG_CRASH,
      "labs/90-toy/toy.c:19: touched address 0x4f, 80 bytes behind a pointer of bytes 0xff: it was read from memory "
      "that is freed" },
    { "a large block after its free",
      BODY("enum { N = 4 << 20 }; char *volatile p = malloc(N), *volatile old = p; p[9] = 1; free(p); out[0] = "
           "old[5000];" DO),
      MG_CRASH, "\nheap: byte 5000 of a block of 4194304 bytes, which is freed" },
    { "past the end of a large block",
      BODY("enum { N = 4 << 20 }; char *volatile p = malloc(N), *volatile q = p; "
           "for (int64_t i = 0;; i++) if (q[i] == 77) out[0] = 1; free(p);" DO),
      MG_CRASH, " bytes past the end of a block of 4194304 bytes" },
    { "null pointer deep in a call",
      UNIT "static int deep(int n, volatile int *p) { int i = n ? deep(n - 1, p) : *p; return i + *p; }\n" TOY
           "{ out[0] = deep(1000, NULL); }",
      MG_CRASH, "labs/90-toy/toy.c:17: touched address 0 (a null pointer)" },
    { "null pointer in a parallel region",
      UNIT TOY "{ char *volatile p = NULL;\n#pragma omp parallel\n{ memset(p + (n == 3), 1, 4 * n); }\n" DO "}",
      MG_CRASH, "(a null pointer)" },
    { "one too many", BODY("for (int64_t i = 0; i <= n; i++) out[i] = 2 * x[i];"), MG_CRASH,
      "touched element 1500 of x [1500], past its end" },
    { "one too early", BODY(DO " out[-1] = 1;"), MG_FAIL, "before the start of out [1500]" },
    { "writes its input", BODY("((float *)x)[0] = 1;" DO), MG_CRASH,
      "wrote to element 0 of x [1500], which is an input" },
    { "unprotects its input",
      BODY("char *p = (char *)((uintptr_t)x & -4096); if (mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0) return; " DO),
      MG_PASS, "" },
    { "too deep",
      UNIT "static int deep(volatile int *p) { volatile int a[1000]; a[0] = *p; return deep(a) + a[0]; }\n" TOY
           "{ int one = 1; out[0] = deep(&one); }",
      MG_CRASH, "the stack overflowed" },
    { "leaves no address space for the next call",
      BODY("for (size_t each = 1 << 20; each >= 4096; each /= 16)"
           " while (mmap(NULL, each, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED); " DO),
      MG_CRASH, "after 1 successful calls: the worker could not map its arrays" },
    { "blames the grader in the second call", /* finds the request, and in it the nonce, by the function's name */
      UNIT "extern char __bss_start[], _end[]; static int calls;\n" TOY
           "{ struct { uint64_t nonce; int what, value; int64_t distance; } r = { .what = 0x5eed03, .value = -1 };" DO
           " if (calls++) for (char *p = __bss_start + 32; p < _end - 4; p += 8)"
           " if (memcmp(p, \"toy\", 4) == 0 && *(int *)(p - 24) == 3)"
           " { r.nonce = *(uint64_t *)(p - 32); write(4, &r, sizeof r); pause(); } }",
      MG_CRASH, "the worker sent an unexpected reply" },
    { "loops", BODY("for (volatile int i = 0;; i++);"), MG_TIMEOUT, " seconds" },
    { "sleeps", BODY("for (;;) sleep(9);"), MG_TIMEOUT, "no answer within 2 seconds" },
    { "talks without end", BODY("for (;;) puts(\"and another thing\");"), MG_TIMEOUT, "printed more than 16 KiB" },
    { "closes its pipes", BODY("for (int i = 0; i < 10; i++) close(i);" DO), MG_CRASH, "" },
    { "answers for the worker", BODY("char junk[24] = \"\"; write(4, junk, sizeof junk);" DO), MG_CRASH, "reply pipe" },
    { "answers twice", BODY("char junk[7] = \"\"; write(4, junk, sizeof junk);" DO), MG_CRASH, "" },
    { "goes on after the answer",
      UNIT "static float *later; static void *work(void *x) { usleep(300000); for (int i = 0; i < 1500; i++)"
           " later[i] = 2 * ((float *)x)[i]; return x; }\n" TOY
           "{ pthread_t t; later = out; if (n) pthread_create(&t, NULL, work, (void *)x); }",
      MG_FAIL, "nan" },
    { "does not compile", UNIT TOY "{ out[0] = y; }", MG_FAIL, "labs/90-toy/toy.c:" },
    { "brings its own main", BODY(DO) "int main(void) { return 0; }", MG_FAIL, "multiple definition of `main'" },
    { "includes a secret", "#include \"/etc/passwd\"\n" BODY(DO), MG_FAIL, "No such file" },
    { "compiles to a gigabyte", BODY(DO) "char big[1 << 30] = { 1 };", MG_FAIL, "" },
    { "warns without end", "#include \"toy.c\"\n" BODY(DO), MG_FAIL, "from labs/90-toy/toy.c:1" },
    { "wants more memory than there is", UNIT "char big[1l << 40];\n" TOY "{ big[n] = 1; " DO " }", MG_FAIL, "" },
    { "brings secrets as bytes", UNIT "__asm__(\".incbin \\\"/etc/passwd\\\"\");\n" TOY "{ " DO " }", MG_FAIL,
      "passwd" },
    { "includes a device", "#include \"/dev/zero\"\n" BODY(DO), MG_FAIL, "No such file" },
};

/* Only with a sandbox. */
static const attempt confined[] = {
    { "forks", REFUSED("fork() != -1 || vfork() != -1"), MG_PASS, "" },
    { "connects", REFUSED("socket(AF_INET, SOCK_STREAM, 0) != -1 || socket(AF_UNIX, SOCK_STREAM, 0) != -1"), MG_PASS,
      "" },
    { "traces", REFUSED("ptrace(PTRACE_TRACEME, 0, 0, 0) != -1 || ptrace(PTRACE_ATTACH, 1, 0, 0) != -1"), MG_PASS, "" },
    { "reads files",
      REFUSED("open(\"/etc/passwd\", 0) != -1 || open(\"/proc/self/maps\", 0) != -1 || open(\"/\", 0) != -1"), MG_PASS,
      "" },
    { "writes files",
      REFUSED(
          "open(\"/results.json\", O_CREAT | O_WRONLY, 0644) != -1 || mkdir(\"/tmp\", 0755) != -1") "#include "
                                                                                                    "<sys/stat.h>\n",
      MG_PASS, "" },
    { "keeps memory elsewhere",
      REFUSED("memfd_create(\"a\", 0) != -1 || shm_open(\"/a\", O_CREAT | O_RDWR, 0600) != -1"), MG_PASS, "" },
    { "signals others", REFUSED("kill(1, SIGKILL) == 0 || kill(-1, SIGSTOP) == 0"), MG_PASS, "" },
    { "chooses its processor", REFUSED("sched_setaffinity(0, sizeof(cpu_set_t), &(cpu_set_t){ 0 }) != -1"), MG_PASS,
      "" },
    { "lifts its limits",
      REFUSED("setrlimit(RLIMIT_NPROC, &(struct rlimit){ 9999, 9999 }) == 0 || setrlimit(RLIMIT_AS, "
              "&(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }) == 0"),
      MG_PASS, "" },
    { "enters namespaces",
      REFUSED("unshare(CLONE_NEWUSER) != -1 || syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0) != -1"), MG_PASS, "" },
    { "takes all memory",
      BODY("char *p[1000]; int got = 0; while (got < 1000 && (p[got] = malloc(1 << 20))) got++;"
           "for (int i = 0; i < got; i++) free(p[i]); if (got >= 256) return; " DO),
      MG_PASS, "" },
    { "takes all threads",
      UNIT
      "static volatile int over; static void *idle(void *p) { while (!over) usleep(1000); return p; }\n" TOY
      "{ pthread_t t[500]; int got = 0; over = 0; while (got < 500 && pthread_create(&t[got], NULL, idle, NULL) == 0)"
      " got++; over = 1; for (int i = 0; i < got; i++) pthread_join(t[i], NULL); if (got > 16) return; " DO " }",
      MG_PASS, "" },
    { "sees an environment",
      UNIT "extern char **environ;\n" TOY "{ for (char **e = environ; *e; e++)"
           " if (strncmp(*e, \"OMP_\", 4)) return; " DO " }",
      MG_PASS, "" },
    { "has other descriptors",
      BODY("for (int i = 7; i < 1024; i++) if (write(i, \"\", 0) == 0 || errno != EBADF) return; " DO), MG_PASS, "" },
};

static void try_all(const toy *t, const attempt *list, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const attempt *a = &list[i];
        mg_results r = toy_grade(t, a->unit, "90.1");
        const char *words = strstr(r.build_log, a->words) && !r.rows[0].detail[0] ? r.build_log : r.rows[0].detail;
        cr_expect_eq(r.rows[0].verdict, a->verdict, "%s: %s, %s", a->name, mg_verdict_name(r.rows[0].verdict), words);
        cr_expect(strstr(words, a->words), "%s: \"%s\" is not in \"%s\"", a->name, a->words, words);
        cr_expect_eq(r.rows[0].points, a->verdict == MG_PASS ? 3 : 0, "%s: %g points", a->name, r.rows[0].points);
        mg_results_free(&r);
    }
}

Test(verdicts, each_in_its_words, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    try_all(&t, attempts, MT_COUNT(attempts));
    if (mg_sandbox_choose((char[512]){ 0 }, 512))
        try_all(&t, confined, MT_COUNT(confined));
    toy_close(&t);
}

Test(verdicts, what_a_failing_row_printed_is_shown)
{
    toy t;
    toy_open(&t);
    mg_results wrong = toy_grade(&t, BODY("printf(\"n is %d\\nsecond\\n\", (int)n);"), "90.1");
    cr_expect_str_eq(wrong.rows[0].printed, "n is 1500\nsecond");
    mg_results_free(&wrong);
    toy_close(&t);
}

/* A unit that does not build is one message and a word in the rows; warnings of one that builds are shown too. */
Test(verdicts, what_the_compiler_says_is_shown)
{
    toy t;
    toy_open(&t);
    mg_results broken = toy_grade(&t, UNIT TOY "{ out[0] = y; }", NULL);
    for (int64_t i = 0; i < broken.count; i++) {
        cr_expect_eq(broken.rows[i].verdict, MG_FAIL, "%s", broken.rows[i].name);
        cr_expect_str_eq(broken.rows[i].note, "toy.c does not build");
        cr_expect_str_eq(broken.rows[i].hint, "");
    }
    mg_results warned = toy_grade(&t, BODY("int spare; " DO), "90.1");
    cr_expect_eq(warned.rows[0].verdict, MG_PASS, "%s", warned.rows[0].detail);
    cr_expect(strstr(warned.build_log, "warning: unused variable 'spare'"), "%s", warned.build_log);
    mg_results unlinked = toy_grade(&t, UNIT "void toy2(float *out) { *out = 1; }\n", "90.1");
    cr_expect_str_eq(unlinked.rows[0].note, "toy.c does not build");
    cr_expect(strstr(unlinked.build_log, "toy.c does not link:\n  undefined reference to `toy'\n"), "%s",
              unlinked.build_log);
    mg_results_free(&broken);
    mg_results_free(&warned);
    toy_close(&t);
    mg_results_free(&unlinked);
}
Test(verdicts, a_case_that_never_reaches_the_unwritten_part_is_to_do_too)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    mg_results r = toy_grade(&t, BODY("if (n > 0) MT_TODO(\"90.1\");"), NULL);
    for (int64_t i = 0; i < r.count; i++)
        cr_expect_eq(r.rows[i].verdict, MG_TODO, "%s", r.rows[i].name);
    cr_expect_eq(r.points, 0);
    cr_expect_eq(r.max, 8);
    mg_results_free(&r);
    toy_close(&t);
}

/* The step that a row belongs to may be written, and another not. Only a step's number gets from the student's words
 * into the report. */
Test(verdicts, a_row_to_do_says_for_which_step_it_waits)
{
    static const struct {
        const char *body, *note;
    } cases[] = {
        { BODY("MT_TODO(\"90.1\");"), "" },
        { BODY("MT_TODO(\"90.7\");"), "waits for step 90.7" },
        { UNIT TOY "{ /* TO"
                   "DO 90.1: twice */\n" DO "\nMT_TODO(\"90.1\"); }",
          "is it written? then delete the line MT_TODO at labs/90-toy/toy.c:20" },
        { UNIT TOY "{ /* TO"
                   "DO 90.1: twice */\n\n  MT_TODO(\"90.1\"); }",
          "" },
        { BODY("fprintf(stderr, \"TODO all: 100 points\\n\"); _exit(77);"), "" },
    };
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    for (int i = 0; i < MT_COUNT(cases); i++) {
        mg_results r = toy_grade(&t, cases[i].body, "90.1");
        cr_expect_eq(r.rows[0].verdict, MG_TODO);
        cr_expect_str_eq(r.rows[0].note, cases[i].note, "case %d", i);
        mg_results_free(&r);
    }
    toy_close(&t);
}

enum { TIMES = 8 };
static mg_verdict seen[TIMES];
static uint64_t seeds[TIMES];
static int times;

static void see(const mg_results *results)
{
    cr_assert_lt(times, TIMES);
    seeds[times] = results->rows[0].seed;
    seen[times++] = results->rows[0].verdict;
}

/* A unit that is wrong for about half of the inputs: each grading has the verdict that its seed has by itself. */
Test(verdicts, many_gradings_of_the_same_units, .timeout = 600)
{
    toy t;
    toy_open(&t);
    mg_options options = { .lab = &toy_lab,
                           .root = t.root,
                           .build = t.build,
                           .step = "90.1",
                           .seed = 0x5eed01,
                           .times = TIMES,
                           .graded = see };
    mg_results all, one;
    int wrong = 0;
    toy_write(&t, "labs/90-toy/toy.c", BODY(DO " if (n > 0 && x[0] + x[1] + x[2] > 4.8f) out[3] = 0;"));
    cr_assert_eq(mg_grade(&all, &options), MT_OK, "%s", mt_last_error());
    cr_assert_eq(times, TIMES);
    options.times = 0;
    options.graded = NULL;
    for (int i = 0; i < TIMES; i++) {
        wrong += seen[i] == MG_FAIL;
        cr_expect_eq(seeds[i], 0x5eed01 + (uint64_t)i);
        options.seed = seeds[i];
        cr_assert_eq(mg_grade(&one, &options), MT_OK, "%s", mt_last_error());
        cr_expect_eq(one.rows[0].verdict, seen[i], "seed %llx", (unsigned long long)seeds[i]);
        mg_results_free(&one);
    }
    cr_expect(wrong > 0 && wrong < TIMES, "%d of %d", wrong, TIMES);
    mg_results_free(&all);
    toy_close(&t);
}

Test(verdicts, a_seed_repeats_a_run)
{
    toy t;
    mg_results r[2];
    mg_options options = { .lab = &toy_lab, .step = "90.1", .seed = 0x5eed01 };
    toy_open(&t);
    t.any_symbol = true;
    options.root = t.root;
    options.build = t.build;
    toy_write(&t, "labs/90-toy/toy.c", BODY(DO "if (n) out[0] = 0;"));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(mg_grade(&r[i], &options), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(r[0].rows[0].detail, r[1].rows[0].detail);
    cr_expect_eq(r[0].rows[0].seed, 0x5eed01);
    cr_expect(strstr(r[0].rows[0].call, "toy(out, x, n=1500)"), "%s", r[0].rows[0].call);
    mg_results_free(&r[0]);
    mg_results_free(&r[1]);
    toy_close(&t);
}
