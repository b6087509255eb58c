// expect.h -- compares the counts of the last launch with expected ones: for counts.cu and members.cu.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>
#include "emulator/count/counters.h"

enum { GLOBAL, SHARED };
enum { LOAD, STORE, ATOMIC };

static int passed, failed;

static void expect(const char *what, uint64_t requests, uint64_t passes, int space, int kind)
{
    const emu_traffic *t = &emu_counts_last()->traffic[space][kind];
    bool right = t->requests == requests && t->passes == passes;
    right ? passed++ : failed++;
    if (!right)
        printf("FAIL %s: %s %s: %lu requests %lu passes, expected %lu %lu\n", what,
               space == GLOBAL ? "global" : "shared",
               kind == LOAD    ? "load"
               : kind == STORE ? "store"
                               : "atomic",
               (unsigned long)t->requests, (unsigned long)t->passes, (unsigned long)requests, (unsigned long)passes);
}

template <class T> static T *device(size_t n)
{
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}
