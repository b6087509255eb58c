/* arch.c -- the devices that can be emulated: a T4, an A100, an RTX 3090 and an H100. Limits are those of the CUDA C++
 * programming guide, "Compute Capabilities"; device code is compiled for sm_90 in any case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/include/cuemu/runtime.h"
#include "emulator/run/arch.h"

static const emu_arch known[] = {
    { 75, 64, 64, 0, 1024, 16, 40, 32, 4 << 10, 256, 1590000, 5001000 },
    { 80, 163, 164, 1, 2048, 32, 108, 2, 40 << 10, 5120, 1410000, 1215000 },
    { 86, 99, 100, 1, 1536, 16, 82, 32, 6 << 10, 384, 1695000, 9751000 },
    { 90, 227, 228, 1, 2048, 32, 132, 2, 50 << 10, 5120, 1980000, 2619000 },
};
enum { KNOWN = sizeof known / sizeof known[0] };

const emu_arch *emu_device = &known[KNOWN - 1];

__attribute__((constructor(102))) static void choose(void)
{
    const char *asked = getenv("CUEMU_ARCH");
    char name[16];
    for (int i = 0; i < KNOWN && asked && *asked; i++) {
        snprintf(name, sizeof name, "sm_%d", known[i].number);
        if (strcmp(asked, name) == 0) {
            emu_device = &known[i];
            return;
        }
    }
    if (!asked || !*asked)
        return;
    fprintf(stderr, "cuemu: CUEMU_ARCH=%s is not known: set it to sm_75, sm_80, sm_86 or sm_90\n", asked);
    exit(2);
}

unsigned cuemu_multiprocessors(void)
{
    return (unsigned)emu_device->multiprocessors;
}
