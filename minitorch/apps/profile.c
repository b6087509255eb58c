/* profile.c -- where the time of a program went: reads spans.bin, which `train_mnist --trace` writes, prints a table,
 * and writes it with two pictures of the run beside it: summary.txt, trace.json (for ui.perfetto.dev) and timeline.svg.
 *
 *     build/release/bin/profile build/run/mnist */
#include <stdio.h>

#include "cli/cli.h"
#include "prof/mfu.h"
#include "prof/profile.h"

typedef struct options {
    int64_t threads, events;
    double peak;
    const char *out;
} options;

static const mt_option flags[] = {
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for what is written; default: that of spans.bin" },
    { "events", 'n', "N", MT_I64(options, events, 1, INT32_MAX),
      "Latest spans of each thread in trace and timeline; the table counts all; default: 131072" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024),
      "Number of threads of the peak FLOP/s, which is measured now; default: as many as the program had" },
    { "peak", 'p', "GFLOP/S", MT_F64(options, peak, 1e-9, 1e9), "Another peak to compare with, that of a data sheet" },
    { 0 },
};

int main(int argc, char **argv)
{
    options o = { 0 };
    char path[4096];
    mt_profile *profile = NULL;
    mt_words words = mt_cli_parse_words(argc, argv, "Where the time of a recorded run went.", flags, &o, "[DIR]", 1);
    const char *folder = words.count ? words.item[0] : "build/run/mnist";
    snprintf(path, sizeof path, "%s/spans.bin", folder);
    mt_status status = mt_profile_read(&profile, path, o.events);
    if (status != MT_OK)
        return mt_cli_exit(status);
    o.out = o.out ? o.out : folder;
    int64_t threads = o.threads ? o.threads : mt_max(1, profile->omp_threads);
    const mt_profile_roof roof = { .measured_flops = mt_machine_flops((int)threads),
                                   .given_flops = 1e9 * o.peak,
                                   .model_flops = (double)profile->model_flops };
    mt_profile_summary(stdout, profile, &roof);
    status = mt_cli_folder(o.out);
    if (status == MT_OK)
        status = mt_profile_save(profile, o.out, &roof);
    if (status == MT_OK)
        printf("summary.txt, trace.json (for ui.perfetto.dev) and timeline.svg are in %s\n", o.out);
    mt_profile_free(profile);
    return mt_cli_exit(status);
}
