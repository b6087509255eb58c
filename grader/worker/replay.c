/* replay.c -- makes the calls that the grader captured (sandbox/capture.h) again, outside the sandbox, for debuggers:
 *
 *   replay CALLS         every array is a block of malloc of its exact size, so that AddressSanitizer sees its ends
 *
 * `make debug` builds and runs it (grader/tools/debug.sh). It compares nothing: the grade did. */
#include "sandbox/wire_device.h"
#include "worker/heap.h"
#include "worker/on_device.h"
#include "worker/values.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mg_keeps, mg_aborted;
static mg_wire_request request;
static mg_value values[MG_WIRE_VALUES + 1]; /* the last one has no name */
static void *before[MG_WIRE_VALUES];        /* the contents of inputs */

/* A CUDA launcher: the last array is the emulator's report. Counted calls of C functions have a report too, and are
 * replayed uncounted. */
static bool on_device(void)
{
    return mg_on_device && mg_wire_reported(&request) &&
           (strstr(request.function, "_cuda") || strstr(request.function, "_cublas"));
}

/* In the place of worker/heap.c, with which AddressSanitizer would not see the ends of blocks. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
int64_t mg_heap_live(void)
{
    return __sanitizer_get_current_allocated_bytes ? (int64_t)__sanitizer_get_current_allocated_bytes() : 0;
}

static void read_arrays(FILE *file)
{
    for (uint32_t i = 0; i < request.count; i++) {
        const mg_wire_value *v = &request.value[i];
        values[i] = mg_value_of(v);
        if (!mg_wire_is_array(v))
            continue;
        values[i].ptr = malloc(v->bytes);
        before[i] = malloc(v->bytes);
        if ((v->bytes && (!values[i].ptr || !before[i])) || fread(before[i], 1, v->bytes, file) != v->bytes) {
            fprintf(stderr, "replay: the file of calls is cut short\n");
            exit(2);
        }
        memcpy(values[i].ptr, before[i], v->bytes);
    }
    mg_values_end(values, &request);
}

/* The first elements of an array that the call has written. */
static void print_array(uint32_t index, const mg_wire_value *v)
{
    printf("  %s:", v->name);
    for (int64_t i = 0; i < values[index].count && i < 8; i++)
        printf(" %g", mt_load_f64(values[index].ptr, (mt_dtype)v->dtype, i));
    printf("%s\n", values[index].count > 8 ? " ..." : "");
}

/* The emulator's first diagnostic, in the last array. */
static void print_finding(void)
{
    const mg_device_report *r = values[request.count - 1].ptr;
    if (r->text[0])
        printf("  %s:%d: %s\n%s\n", r->file, r->line, r->text, r->where);
}

static void after_call(void)
{
    for (uint32_t i = 0; i < request.count; i++) {
        const mg_wire_value *v = &request.value[i];
        if (v->kind == MG_IN && v->bytes && memcmp(values[i].ptr, before[i], v->bytes) != 0)
            printf("  %s was written, but it is an input\n", v->name);
        if (mg_wire_is_array(v) && v->kind != MG_IN && !(on_device() && i == request.count - 1))
            print_array(i, v);
    }
    if (on_device())
        print_finding();
    for (uint32_t i = 0; i < request.count; i++)
        if (mg_wire_is_array(&request.value[i])) {
            free(values[i].ptr);
            free(before[i]);
        }
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: replay CALLS\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int call = 1; fread(&request, sizeof request, 1, file) == 1; call++) {
        const mg_function *function = mg_function_of(request.function);
        read_arrays(file);
        printf("call %d: %s\n", call, request.function);
        omp_set_num_threads((int)request.threads);
        if (!function)
            printf("  no such function\n");
        else if (on_device())
            mg_on_device(function, values, &request);
        else
            function->call(values);
        after_call();
    }
    fclose(file);
    return 0;
}
