/* test_ptxas.c -- parsing of PTX and of ptxas -v, the formula of occupancy and the figures as text, without nvcc. */
#include "build/ptxas.c"

#include <criterion/criterion.h>

static const char ptx[] = ".visible .entry wide(\n"
                          "  .param .u64 p\n"
                          ")\n"
                          ".maxntid 128\n"
                          "{\n"
                          "  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
                          "  @%p1 ld.global.v2.u64 {%rd1, %rd2}, [%rd1];\n"
                          "  ld.global.f32 %f5, [%rd2];\n"
                          "  ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];\n"
                          "  cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
                          "  cp.async.commit_group;\n"
                          "  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f2};\n"
                          "}\n"
                          ".visible .entry free_size(\n"
                          ")\n"
                          "{\n"
                          "}\n"
                          ".visible .entry hostile(\n"
                          ")\n"
                          ".maxntid 0\n"
                          "{\n"
                          "}\n";

static const char words[] = "ptxas info : Compiling entry function 'wide' for 'sm_80'\n"
                            "    24 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads\n"
                            "ptxas info : Used 128 registers, 8448 bytes smem, 360 bytes cmem[0]\n"
                            "ptxas info : Compiling entry function 'hostile' for 'sm_80'\n"
                            "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                            "ptxas info : Used 8 registers, 320 bytes cmem[0]\n";

/* By hand, from the CUDA programming guide's table for 8.0: 65,536 registers, 164 KiB, 64 warps, 32 blocks. */
Test(ptxas, occupancy_is_that_of_the_calculator)
{
    int room = 164 << 10;
    cr_assert_eq(occupancy(32, 0, 256, room), 8, "64 warps");
    cr_assert_eq(occupancy(128, 0, 256, room), 2, "registers");
    cr_assert_eq(occupancy(33, 0, 256, room), 6, "registers, in units of 256 to a warp");
    cr_assert_eq(occupancy(32, 48 << 10, 256, room), 3, "shared memory, and 1 KiB of the system's");
    cr_assert_eq(occupancy(16, 0, 32, room), 32, "blocks");
}

Test(ptxas, instructions_are_counted_in_ptx)
{
    facts f = { 0 };
    read_ptx(&f, ptx);
    cr_assert_eq(f.wide_loads, 2);
    cr_assert_eq(f.async_copies, 1);
    cr_assert_eq(f.tensor, 1);
}

Test(ptxas, block_sizes_are_bounds_or_the_default)
{
    cr_assert_eq(block_of(ptx, "wide"), 128);
    cr_assert_eq(block_of(ptx, "free_size"), DEFAULT_THREADS);
    cr_assert_eq(block_of(ptx, "hostile"), DEFAULT_THREADS, "no block has 0 threads");
    cr_assert_eq(block_of(ptx, "not_there"), DEFAULT_THREADS);
}

Test(ptxas, figures_are_the_worst_of_all_kernels)
{
    char log[sizeof words];
    facts f = { .arch = 80 };
    memcpy(log, words, sizeof words);
    read_ptxas(&f, log, ptx, 164 << 10);
    cr_assert_eq(f.kernels, 2);
    cr_assert_eq(f.registers, 128);
    cr_assert_eq(f.local, 24);
    cr_assert_eq(f.spilled, 16);
    cr_assert_eq(f.shared, 8448);
    cr_assert_eq(f.blocks, 4);
    cr_assert(holds(&f, MG_LOCAL_MEMORY) && holds(&f, MG_TWO_BLOCKS));
    f.local = f.spilled + MOST_LOCAL + 1;
    cr_assert(!holds(&f, MG_LOCAL_MEMORY) && !holds(&f, MG_WIDE_LOADS) && !holds(&f, MG_TENSOR_CORES));
}

Test(ptxas, figures_are_kept_as_text)
{
    facts kept = { .arch = 80, .registers = 40, .tensor = 7 }, f;
    char text[256];
    remember(&kept, text, sizeof text);
    cr_expect(recall(text, &f));
    cr_expect_eq(memcmp(&f, &kept, sizeof f), 0);
    text[strlen(text) / 2] = 0;
    cr_expect_not(recall(text, &f), "half of it");
}
