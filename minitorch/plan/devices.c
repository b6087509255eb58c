/* devices.c -- devices by name, and a problem; see planner.h. Speeds and watts are nominal, speeds without sparsity; a
 * link is one direction. Prices are those of the book's table, for on-demand machines of a cloud in 2023; the book has
 * none for the other devices: `dollars_hour` in a cluster file says one (plan/files.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/planner.h"

#define GB  1000000000
#define GIB (1 << 30)

const mt_plan_device mt_plan_devices[] = {
    { "V100", 125e12, 15.7e12, (int64_t)32 * GB, 150e9, 6.25e9, 10e-6, 8, 3.06,
      "NVIDIA V100 data sheet, 2020 (SXM2, 32 GB); DGX-1: 4 x 100 Gbit/s a machine; price: AWS p3, 2023", 300, 0.9e12 },
    { "A100", 312e12, 19.5e12, (int64_t)80 * GB, 300e9, 25e9, 10e-6, 8, 4.10,
      "NVIDIA A100 data sheet, 2021 (SXM, 80 GB); DGX A100: 8 x 200 Gbit/s a machine; price: AWS p4d, 2023", 400,
      2.039e12 },
    { "H100", 989e12, 67e12, (int64_t)80 * GB, 450e9, 50e9, 10e-6, 8, 8.00,
      "NVIDIA H100 data sheet, 2023 (SXM5, 80 GB); DGX H100: 8 x 400 Gbit/s a machine; price: the book's rate", 700,
      3.35e12 },
    { "H200", 989e12, 67e12, (int64_t)141 * GB, 450e9, 50e9, 10e-6, 8, 0,
      "NVIDIA H200 data sheet, 2024 (SXM); DGX H200: 8 x 400 Gbit/s a machine", 700, 4.8e12 },
    { "B200", 2250e12, 80e12, (int64_t)180 * GB, 900e9, 50e9, 10e-6, 8, 0,
      "NVIDIA Blackwell architecture brief, 2024 (HGX B200); DGX B200 data sheet: 1,440 GB and 8 x 400 Gbit/s a "
      "machine",
      1000, 8e12 },
    { "TPUv5p", 459e12, 0, (int64_t)95 * GIB, 600e9, 6.25e9, 10e-6, 8960, 0,
      "Google Cloud TPU documentation, v5p: 1,200 GB/s between chips in both directions, 50 Gbit/s a chip outside a "
      "pod",
      0, 2.765e12 },
    { "Trainium2", 667e12, 181e12, (int64_t)96 * GIB, 640e9, 25e9, 10e-6, 16, 0,
      "AWS Neuron documentation, Trainium2: 1.28 TB/s of NeuronLink, taken for both directions; trn2.48xlarge: 3,200 "
      "Gbit/s a machine",
      0, 2.9e12 },
    { "Gaudi3", 1835e12, 0, (int64_t)128 * GB, 525e9, 75e9, 10e-6, 8, 0,
      "Intel Gaudi 3 white paper, 2024 (OAM): of 24 links of 200 Gbit/s 21 within a machine of 8", 900, 3.7e12 },
    { "WSE-3", 125e15, 0, (int64_t)44 * GB, 150e9, 150e9, 10e-6, 1, 0,
      "Cerebras CS-3, announced 2024-03-13: FLOP/s as the maker counts them, memory on the wafer, 12 x 100 Gbit/s",
      23000, 21e15 },
    { 0 },
};

const mt_plan_device *mt_plan_device_named(const char *name)
{
    char names[128] = "";
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
