/* devices.c -- devices by name, and a problem; see planner.h. Speeds and watts are nominal, speeds without sparsity; a
 * link is one direction. Prices are those of the book's table, for on-demand machines of a cloud in 2023: for others,
 * change the struct. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/planner.h"

#define GB 1000000000

const mt_plan_device mt_plan_devices[] = {
    { "V100", 125e12, 15.7e12, (int64_t)32 * GB, 150e9, 6.25e9, 10e-6, 8, 3.06,
      "NVIDIA V100 data sheet, 2020 (SXM2, 32 GB); DGX-1: 4 x 100 Gbit/s a machine; price: AWS p3, 2023", 300 },
    { "A100", 312e12, 19.5e12, (int64_t)80 * GB, 300e9, 25e9, 10e-6, 8, 4.10,
      "NVIDIA A100 data sheet, 2021 (SXM, 80 GB); DGX A100: 8 x 200 Gbit/s a machine; price: AWS p4d, 2023", 400 },
    { "H100", 989e12, 67e12, (int64_t)80 * GB, 450e9, 50e9, 10e-6, 8, 8.00,
      "NVIDIA H100 data sheet, 2023 (SXM5, 80 GB); DGX H100: 8 x 400 Gbit/s a machine; price: the book's rate", 700 },
    { 0 },
};

const mt_plan_device *mt_plan_device_named(const char *name)
{
    char names[64] = "";
    for (const mt_plan_device *d = mt_plan_devices; d->name; d++) {
        if (strcmp(d->name, name) == 0)
            return d;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", d->name);
    }
    mt_fail(MT_ERR_ARGUMENT, "there is no device \"%s\": use one of %s", name, names);
    return NULL;
}

mt_plan_problem mt_plan_gpt3(void)
{
    return (mt_plan_problem){ .model = { 50257, 0, 2048, 96, 96, 12288 },
                              .device = *mt_plan_device_named("A100"),
                              .devices = 1024,
                              .batch = 1536,
                              .time = 2048,
                              .tokens = 300e9,
                              .dtype = MT_BF16,
                              .efficiency = 0.5,
                              .overhead = 20e-6,
                              .days = INFINITY,
                              .dollars = INFINITY,
                              .zero = 3,
                              .zero_divided = 1 };
}
