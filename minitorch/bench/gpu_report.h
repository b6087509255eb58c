/* gpu_report.h -- a part of the report of make gpu-check: OUT/NAME.md for people, and OUT/NAME.json, one object a
 * line, for programs. Each line is in the files as soon as it is written, so that a program that is stopped loses
 * nothing. */
#pragma once

#include "core/device.h"
#include "core/storage.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct gpu_report {
    FILE *md, *json;
    int64_t passed, failed;
} gpu_report;

/* gpu_sent -- a copy of n floats on the device; mt_free(copy, 4 * n, MT_CUDA). */
static inline float *gpu_sent(const float *here, int64_t n)
{
    float *there = mt_alloc(4 * n, MT_CUDA);
    mt_copy(there, MT_CUDA, here, MT_CPU, 4 * n);
    return there;
}

static inline FILE *gpu_opened(const char *folder, const char *name, const char *end)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
    FILE *file = fopen(path, "w");
    MT_CHECK(file, "cannot write %s", path);
    setvbuf(file, NULL, _IOLBF, 0);
    return file;
}

/* gpu_report_begin -- for a program that is called with the folder OUT; ends it where there is none, or no device. */
static inline gpu_report gpu_report_begin(int argc, char **argv, const char *name)
{
    MT_CHECK(argc > 1, "usage: gpu_%s OUT", name);
    mt_must(mt_device_open(MT_CUDA));
    return (gpu_report){ .md = gpu_opened(argv[1], name, "md"), .json = gpu_opened(argv[1], name, "json") };
}

/* gpu_report_note -- a check that passed, complaint NULL, or failed. */
static inline void gpu_report_note(gpu_report *r, const char *what, const char *complaint)
{
    r->passed += !complaint;
    r->failed += complaint != NULL;
    if (complaint) {
        printf("FAIL %s: %s\n", what, complaint);
        fprintf(r->md, "- FAIL %s: %s\n", what, complaint);
    }
}

/* gpu_report_verdict -- the numbers of checks that passed and failed, in both files and on the terminal. */
static inline void gpu_report_verdict(gpu_report *r, const char *name)
{
    fprintf(r->md, "%" PRId64 " passed, %" PRId64 " failed\n", r->passed, r->failed);
    fprintf(r->json, "{\"name\": \"%s\", \"passed\": %" PRId64 ", \"failed\": %" PRId64 "}\n", name, r->passed,
            r->failed);
    printf("%s: %" PRId64 " passed, %" PRId64 " failed\n", name, r->passed, r->failed);
}

/* gpu_report_end -- the program's exit status: 1 if a check failed or the files could not be written. */
static inline int gpu_report_end(gpu_report *r)
{
    return fclose(r->md) || fclose(r->json) || r->failed > 0;
}
