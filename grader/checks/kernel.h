/* kernel.h -- the check of a kernel is its signature, its oracle and its rows; what every kernel is asked is here.
 *
 *   static void softmax(mg_trial *t)          // what operand 0 must be, given operand 1
 *   {
 *       mg_oracle_softmax(t->v[0], t->e[0], t->x[1], NULL, t->size[0], t->size[1]);
 *   }
 *   static const mg_kernel softmax_fwd = {
 *       "mt_softmax_fwd_cpu", "NC", .operand = { MG_WRITTEN("out", "NC", .over = "x"), MG_READ("x", "NC") },
 *       .least = { 0, 1 }, .dist = NORMAL(0, 2), .oracle = softmax,
 *   };
 *   static const mg_kernel_row rows[] = {
 *       { { 3, "random rows", "exp(x - max) divided by the sum" }, { &softmax_fwd }, MG_EVERYTHING },
 *       { { 1, "one column", "the answer is exactly 1" }, { &softmax_fwd }, .size = { 7, 1 } },
 *   };
 *   MG_GROUP("02.6", "softmax", mg_kernel_run, rows)
 *
 * A row asks several ideas of its kernel. Each is a part of the row, with a name and a hint of its own (ideas.c), so
 * that a failure says which idea it is about: "part: no elements, N = 0". */
#pragma once

#include "checks/answer.h"
#include "rows/device.h"
#include "rows/traffic.h"

enum {
    MG_OPERANDS = 12, /* at most */
    MG_SIZES = 4,     /* at most */
    MG_ZERO = -1,     /* among the sizes of a row: 0. Those that are not given (0) are drawn */
};

typedef struct mg_trial mg_trial;
typedef void mg_trial_fn(mg_trial *t);
typedef struct mg_kernel_row mg_kernel_row;

typedef enum mg_role {
    MG_AN_INPUT,    /* an input */
    MG_CLASSES,     /* i32 in 0 .. C - 1, where C is the last size */
    MG_OVERWRITTEN, /* an output that is overwritten */
    MG_ADDED_TO,    /* an output that is added to */
    MG_UPDATED,     /* an output that is an input, too */
    MG_NOT_JUDGED,  /* an output of no meaning */
} mg_role;

typedef struct mg_operand {
    const char *name, *dims; /* "dw", "IO": its shape, by the letters of the sizes; "256": a number of elements */
    mg_role role;
    mg_dist dist;     /* numbers of an input; without one those of the row, or of the kernel */
    const char *over; /* the input that may be the same array as this output */
    char classes;     /* letter of the size that is the number of MG_CLASSES; without one the last */
    void (*describe)(mg_trial *t, int i); /* an array of another type: describes operand i, and of an output v and e */
} mg_operand;

/* MG_READ("w", "IO"), MG_WRITTEN("out", "NC", .over = "x"), ... */
#define MG_READ(n, ...)    { .name = n, .role = MG_AN_INPUT, .dims = __VA_ARGS__ }
#define MG_LABELS(n, ...)  { .name = n, .role = MG_CLASSES, .dims = __VA_ARGS__ }
#define MG_WRITTEN(n, ...) { .name = n, .role = MG_OVERWRITTEN, .dims = __VA_ARGS__ }
#define MG_ADDED(n, ...)   { .name = n, .role = MG_ADDED_TO, .dims = __VA_ARGS__ }
#define MG_CHANGED(n, ...) { .name = n, .role = MG_UPDATED, .dims = __VA_ARGS__ }
#define MG_SCRATCH(n, ...) { .name = n, .role = MG_NOT_JUDGED, .dims = __VA_ARGS__ }

/* What a row may ask. */
enum {
    MG_ORDINARY = 1,      /* sizes that are multiples of 16 */
    MG_ODD = 2,           /* sizes that are no multiples of a vector's */
    MG_ONE = 4,           /* one size after the other is 1 */
    MG_NO_ELEMENTS = 8,   /* one size after the other is 0 */
    MG_LARGE = 16,        /* one after the other has more than 16 bits; the arrays are larger than a stack */
    MG_STATE = 32,        /* the same addresses again, with other numbers */
    MG_MANY_THREADS = 64, /* more threads than cores */
    MG_RACES = 128,       /* the search for data races */
    MG_BITS = 256,        /* equal bits with any number of threads; on the device in any order of them */
    MG_IN_PLACE = 512,    /* an output is an input */
    MG_SUBSETS = 1024,    /* each subset of the outputs that may be NULL */
    MG_NAN = 2048,        /* the kernel's `nan` */
    MG_SPECIAL = 4096,    /* the calls of the row's own; they are always asked */
    MG_PLACES = 8192,     /* arrays that do not begin at multiples of a vector's size */
    MG_ANY_SIZE = MG_ORDINARY | MG_ODD | MG_PLACES | MG_ONE | MG_NO_ELEMENTS,
    MG_THREADS = MG_MANY_THREADS | MG_RACES,
    MG_EVERYTHING = MG_ANY_SIZE | MG_LARGE | MG_STATE | MG_THREADS | MG_BITS,
};

typedef enum mg_how {
    MG_CALL_PLAIN,
    MG_CALL_SEARCHED, /* for data races */
    MG_CALL_COUNTED,
    MG_CALL_BY_THREADS /* with several numbers of them */
} mg_how;

typedef struct mg_kernel {
    const char *function, *sizes;    /* "NIO": its last arguments, one letter each */
    mg_operand operand[MG_OPERANDS]; /* in the order of the arguments */
    mg_trial_fn *oracle;             /* v and e of the outputs from x of the inputs */
    mg_trial_fn *fit;                /* changes sizes, where not all go together */
    mg_trial_fn *draw;               /* draws numbers, and inputs beyond a distribution */
    mg_trial_fn *prepare; /* changes inputs after they were drawn: what backward reads is what forward has saved */
    mg_trial_fn *nan;     /* puts NaN into inputs; t->place: 0 for the first element, 1 for the last, 2 for any */
    bool (*judge)(mg_trial *t); /* sees what has come back before it is compared; false: the run has its verdict */
    mg_dist dist;
    int64_t least[MG_SIZES]; /* of a size where no size is 0 */
    int64_t enough;          /* a size that all threads share; 0: 40,009, or 8,209 where there are several */
    int64_t columns;         /* on the device: the largest last size; 0: as many as a device holds no row of */
    const char *optional;    /* the outputs that may be NULL: "dx dw db" */
    const char *scalar;      /* an f32 argument behind the sizes, t->scalar: normal, if nothing else draws it */
    const char *numbers;     /* f64 arguments behind the sizes, t->number: "lr beta1" */
    const char *grid;        /* on the device: the sizes that may exceed what a grid has in y, "NC" */
    int about;               /* the oracle's own */
} mg_kernel;

/* A call of a row's own, as a part of it. A table of them ends with {0}. */
typedef struct mg_special {
    const char *part, *hint; /* hint NULL: that of the row */
    int64_t size[MG_SIZES];
    mg_dist dist;
    mg_trial_fn *prepare;
    int64_t place, value;      /* for prepare and after */
    mg_trial_fn *adjust;       /* changes what is expected, by what has come back */
    const char *aborts;        /* the call must abort: these words of the header */
    bool (*after)(mg_trial *); /* judges what has come back, in addition */
    mg_how how;
} mg_special;

/* mg_credit_fn -- gives credit for the counts of one call of the row's sizes, on the device. */
typedef void mg_credit_fn(mg_run *run, const mg_kernel_row *row);

struct mg_kernel_row {
    mg_case head;
    const mg_kernel *kernel[4]; /* one after the other */
    bool on_device;             /* the kernels' functions on the device: _cuda instead of _cpu */
    unsigned asks; /* 0: MG_ORDINARY, MG_ODD, MG_PLACES; if the row has sizes of its own, calls of these sizes only */
    int64_t size[MG_SIZES];
    mg_dist dist;
    const char *null;                 /* operands that are not given, and in MG_SUBSETS not judged: "dx dw" */
    bool in_place;                    /* in every call */
    bool held;                        /* outputs that are added to hold something already */
    mg_trial_fn *prepare;             /* changes inputs, in every call */
    const mg_special *special, *more; /* its own calls */
    const char *bar;                  /* the call is counted, in a cache of this size, against this bar of lab.json */
    const char *moves; /* at least: "x out out", operands read, and written ones twice, as a line is fetched first */
    mg_cache cache;
    mg_credit_fn *credit; /* one call, which is counted on the device */
    mg_count count;       /* what is */
    int64_t launches;     /* how many it may make; 0: any number */
    const char *traffic;  /* the count is of shared memory: the bar of traffic that the call must reach, too */
};

/* mg_credit_moves -- a row's `credit`: its count, over the bytes that it moves. */
mg_credit_fn mg_credit_moves;

/* mg_kernel_run -- runs a row: the `run` of an mg_group whose cases are mg_kernel_rows. */
void mg_kernel_run(mg_run *run, const void *one_case);

/* ---- one call ---------------------------------------------------------------------------------- */

/* A call of a kernel: what to do, and while it runs the numbers of each operand. */
struct mg_trial {
    mg_run *run;
    const mg_kernel *kernel;
    char function[64]; /* as the kernel's, or that on the device */
    bool device;
    int64_t size[MG_SIZES];
    mg_dist dist;
    unsigned null;    /* bit i: operand i is not given */
    unsigned ignored; /* bit i: operand i is not judged */
    bool in_place, held;
    mg_how how;
    mg_cache cache; /* of MG_CALL_COUNTED */
    int threads;    /* 0: as many as there are cores */
    const mg_special *special;
    int64_t place, value;
    mg_trial_fn *change; /* before the kernel's prepare */

    float *f[MG_OPERANDS];   /* numbers of inputs, which change and prepare may write */
    void *data[MG_OPERANDS]; /* arrays of operands that describe themselves */
    int32_t *label;
    float scalar;
    double number[8];
    double *x[MG_OPERANDS];                  /* numbers of inputs, exactly; NULL: not given */
    double *v[MG_OPERANDS], *e[MG_OPERANDS]; /* what is expected of outputs, and how far off it may be */
};

/* mg_count_of -- elements of operand i. */
int64_t mg_count_of(const mg_trial *t, int i);

/* mg_try -- make the call and judge it; false: the run has its verdict. */
bool mg_try(mg_trial t);

/* mg_optional -- the bits of the operands that may be NULL. */
unsigned mg_optional(const mg_kernel *k);

/* mg_moved -- bytes of what a row of fixed sizes moves. */
double mg_moved(const mg_kernel_row *row);

/* mg_nan_at -- the place of t->place in operand i becomes NaN. */
void mg_nan_at(mg_trial *t, int i);

/* mg_size_of -- the size with this letter. */
int64_t mg_size_of(const mg_trial *t, char letter);

/* mg_ask -- all that the row asks of t->kernel, part after part; ideas.c, ideas_device.c */
bool mg_ask(const mg_trial *t, const mg_kernel_row *row);
