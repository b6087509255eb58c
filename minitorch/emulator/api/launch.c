/* launch.c -- kernel<<<grid, block, shared, stream>>>(...) in host code: what a GPU would refuse, and the place of the
 * launch in the order of its stream. */
#include <string.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"
#include "emulator/run/shared.h"
#include "emulator/run/workers.h"

#define MOST_COOPERATIVE 24576u /* threads: each has a stack, and a process may have 65,530 mappings */
#define CEILING_GRID_YZ  65535u
#define CEILING_GRID_X   0x7fffffffu

static cudaError_t refused; /* why the launch was not possible */

/* `why`: one line, and possibly a second one with a hint. */
static bool refuse(const cuemu_launch_config *c, cudaError_t code, const char *why, unsigned long long is,
                   unsigned long long most)
{
    int end = (int)strcspn(why, "\n");
    refused = code;
    emu_error(EMU_LIMIT, (emu_site){ .file = c->file, .line = c->line },
              "kernel %s is not launched: %.*s (%llu; %llu allowed)%s", c->kernel, end, why, is, most, why + end);
    emu_fail(code);
    return false;
}

static bool possible(const cuemu_launch_config *c)
{
    cuemu_uint3 g = c->grid, b = c->block;
    unsigned long long threads = (unsigned long long)b.x * b.y * b.z;
    if (!g.x || !g.y || !g.z)
        return refuse(c, cudaErrorInvalidConfiguration,
                      "the grid has no blocks\nhint: do not launch for an empty array; for others round up, "
                      "(n + each - 1) / each",
                      0, CEILING_GRID_X);
    if (g.x > CEILING_GRID_X)
        return refuse(c, cudaErrorInvalidConfiguration, "too many blocks in gridDim.x", g.x, CEILING_GRID_X);
    if (g.y > CEILING_GRID_YZ || g.z > CEILING_GRID_YZ)
        return refuse(c, cudaErrorInvalidConfiguration, "too many blocks in gridDim.y or gridDim.z",
                      g.y > g.z ? g.y : g.z, CEILING_GRID_YZ);
    if (!threads)
        return refuse(c, cudaErrorInvalidConfiguration, "the block has no threads", 0, EMU_MAX_THREADS);
    if (b.x > EMU_MAX_THREADS || b.y > EMU_MAX_THREADS || threads > EMU_MAX_THREADS)
        return refuse(c, cudaErrorInvalidConfiguration,
                      "too many threads in a block\nhint: the order is <<<blocks, threads per block>>>", threads,
                      EMU_MAX_THREADS);
    if (b.z > 64)
        return refuse(c, cudaErrorInvalidConfiguration, "blockDim.z is too large", b.z, 64);
    if (c->dynamic_shared > (size_t)EMU_SHARED_LIMIT)
        return refuse(c, cudaErrorInvalidValue, "too much dynamic shared memory for a block of this device",
                      c->dynamic_shared, (size_t)EMU_SHARED_LIMIT);
    if (c->dynamic_shared > emu_shared_allowed(c->entry))
        return refuse(c, cudaErrorInvalidValue,
                      "this much dynamic shared memory needs cudaFuncSetAttribute(kernel, "
                      "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first",
                      c->dynamic_shared, emu_shared_allowed(c->entry));
    unsigned long long blocks = (unsigned long long)g.x * g.y * g.z,
                       most = (unsigned long long)emu_device->multiprocessors;
    most *= (unsigned long long)emu_resident_blocks((int)threads, c->dynamic_shared);
    if (c->cooperative && blocks > most)
        return refuse(c, cudaErrorCooperativeLaunchTooLarge,
                      "too many blocks for a cooperative launch: all of them must be resident at the same time\n"
                      "hint: launch at most cudaOccupancyMaxActiveBlocksPerMultiprocessor times the number of "
                      "multiprocessors, and let each block loop over its part of the data",
                      blocks, most);
    if (c->cooperative && blocks * threads > MOST_COOPERATIVE)
        return refuse(c, cudaErrorCooperativeLaunchTooLarge,
                      "too many threads for the emulator to run at the same time, which a GPU could\n"
                      "hint: launch fewer blocks, and let each block loop over its part of the data",
                      blocks * threads, MOST_COOPERATIVE);
    return emu_stream_valid(c->stream) || refuse(c, cudaErrorInvalidResourceHandle, "its stream does not exist", 0, 0);
}

static void start(const cuemu_launch_config *config)
{
    emu_operate(config->stream, true, config->kernel, (emu_site){ .file = config->file, .line = config->line });
    emu_run(config);
}

int cuemu_launch(const cuemu_launch_config *config)
{
    if (emu_self) {
        emu_error(EMU_UNSUPPORTED, (emu_site){ .file = config->file, .line = config->line },
                  "kernel %s is launched by device code: the emulator has no dynamic parallelism", config->kernel);
        emu_kill(cudaErrorNotSupported);
    }
    emu_api_lock();
    cudaError_t error = emu_sticky();
    refused = cudaSuccess;
    if (!error && possible(config) && !emu_capture_launch(config, &refused))
        start(config);
    error = error ? error : refused;
    emu_api_unlock();
    return error;
}
