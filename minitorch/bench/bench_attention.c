/* bench_attention.c -- the rungs of the attention ladder beside each other: lab 11's "measure it yourself".
 *
 * One sample of T tokens, for T = 256, 512, ... --tokens: what forward saves for backward, and the processor time of
 * forward and backward, the least of --rounds. The bf16 rung has the packed one's backward. The rungs take turns, so
 * that another program slows all of them down. */
#include <math.h>
#include <omp.h>

#include "bench/bench.h"
#include "core/rng.h"
#include "testing/attention_ladder.h"

typedef struct options {
    const char *csv;
    int64_t tokens, heads, width, rounds, threads;
} options;

static const mt_option flags[] = {
    { "tokens", 'n', "N", MT_I64(options, tokens, 256, 1 << 15), "Longest text (2048)" },
    { "heads", 'H', "N", MT_I64(options, heads, 1, 1024), "Heads (4)" },
    { "width", 'd', "N", MT_I64(options, width, 1, 1024), "Columns of a head (64)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "Calls of each kernel; the fastest counts (5)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "Threads (1)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Also write every figure as CSV" },
    { 0 },
};

enum { RUNGS = 8, FROM = 256 };

typedef struct arrays {
    float *qkv, *dout, *out, *dqkv, *saved;
    mt_bf16 *qkv16; /* qkv, rounded */
} arrays;

static float *numbers(int64_t n)
{
    float *x = calloc((size_t)n, sizeof *x);
    MT_CHECK(x, "out of memory for %lld numbers", (long long)n);
    return x;
}

static arrays arrays_new(int64_t T, int64_t C, int64_t saved)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    arrays a = { numbers(3 * T * C), numbers(T * C), numbers(T * C), numbers(3 * T * C), numbers(saved), 0 };
    mt_rng_fill_normal(&rng, a.qkv, 3 * T * C, 0, 1);
    mt_rng_fill_normal(&rng, a.dout, T * C, 0, 1);
    a.qkv16 = malloc((size_t)(3 * T * C) * sizeof *a.qkv16);
    MT_CHECK(a.qkv16, "out of memory for %lld numbers", (long long)(3 * T * C));
    for (int64_t i = 0; i < 3 * T * C; i++)
        a.qkv16[i] = mt_bf16_from_f32(a.qkv[i]);
    return a;
}

static void arrays_free(arrays *a)
{
    free(a->qkv);
    free(a->qkv16);
    free(a->dout);
    free(a->out);
    free(a->dqkv);
    free(a->saved);
}

/* Least times of forward and backward. */
typedef struct least {
    double forward, backward;
} least;

static void once(least *t, const mt_attention_rung *rung, const arrays *a, int64_t T, int64_t C, int64_t H)
{
    double start = bench_cpu(CLOCK_PROCESS_CPUTIME_ID);
    if (rung->fwd)
        rung->fwd(a->out, a->saved, a->qkv, 1, T, C, H);
    else
        rung->fwd_bf16(a->out, a->saved, a->qkv16, 1, T, C, H);
    double middle = bench_cpu(CLOCK_PROCESS_CPUTIME_ID);
    rung->bwd(a->dqkv, a->dout, a->qkv, a->out, a->saved, 1, T, C, H);
    bench_keep_least(&t->forward, middle - start);
    bench_keep_least(&t->backward, bench_cpu(CLOCK_PROCESS_CPUTIME_ID) - middle);
}

static void bench(const options *o, int64_t T, FILE *csv)
{
    int64_t H = o->heads, C = H * o->width, most = 0, count = 0;
    least time[RUNGS];
    for (const mt_attention_rung *rung = mt_attention_ladder_cpu; rung->name && count < RUNGS; rung++) {
        most = mt_max(most, rung->saved(1, T, H));
        time[count++] = (least){ INFINITY, INFINITY };
    }
    arrays a = arrays_new(T, C, most);
    for (int64_t round = 0; round < o->rounds; round++)
        for (int64_t r = 0; r < count; r++)
            once(&time[r], &mt_attention_ladder_cpu[r], &a, T, C, H);
    for (int64_t r = 0; r < count; r++) {
        const mt_attention_rung *rung = &mt_attention_ladder_cpu[r];
        double bytes = (double)sizeof(float) * (double)rung->saved(1, T, H);
        printf("%6lld  %-8s %12.3f %12.2f %12.2f %10.2f %10.2f\n", (long long)T, rung->name, 1e-6 * bytes,
               1e3 * time[r].forward, 1e3 * time[r].backward, time[0].forward / time[r].forward,
               time[0].backward / time[r].backward);
        if (csv)
            fprintf(csv, "%lld,%s,%.0f,%.9g,%.9g\n", (long long)T, rung->name, bytes, time[r].forward,
                    time[r].backward);
    }
    arrays_free(&a);
}

int main(int argc, char **argv)
{
    options o = { .tokens = 2048, .heads = 4, .width = 64, .rounds = 5, .threads = 1 };
    mt_cli_parse(argc, argv, "Attention with and without an array of T x T: bytes kept and processor time.", flags, &o);
    omp_set_num_threads((int)o.threads);
    FILE *csv = bench_csv_open(o.csv, "tokens,rung,saved_bytes,forward_s,backward_s");
    printf("%s; %lld heads of %lld columns\n\n", bench_machine(), (long long)o.heads, (long long)o.width);
    printf("%6s  %-8s %12s %12s %12s %10s %10s\n", "T", "", "saved MB", "forward ms", "backward ms", "forward x",
           "backward x");
    for (int64_t T = FROM; T <= o.tokens; T *= 2)
        bench(&o, T, csv);
    bench_csv_close(csv, o.csv);
    return 0;
}
