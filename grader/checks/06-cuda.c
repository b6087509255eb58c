/* 06-cuda.c -- the rows of lab 06: CUDA kernels on the emulator. How they run: 06-elements.c. */
#include "checks/06-cuda.h"

static const elements_case saxpy_cases[] = {
    { { 2, "every size", "the last block has threads without an element: ask whether i < n" }, "mt_saxpy_scalar_cuda" },
};
static const traffic_case saxpy_traffic_cases[] = {
    { { 2, "traffic", "neighbouring threads take neighbouring elements" },
      "mt_saxpy_scalar_cuda",
      "06.1 saxpy: traffic" },
};

static const mg_group groups[] = {
    MG_GROUP("06.1", "saxpy", mg_06_saxpy, saxpy_cases),
    MG_GROUP("06.1", "saxpy", mg_06_saxpy_traffic, saxpy_traffic_cases),
};

const mg_lab mg_lab_06 = { "06-cuda-kernels", groups, MT_COUNT(groups) };
