/* test_tables.c -- every entry of the CPU table is filled, and products go through the table in use. */
#include "aborts.h"
#include "amp/kernels_16bit.h"
#include "fused/fused.h"
#include "fused/kernels_fused.h"
#include "models/kernels_gpt2.h"
#include "kernels/kernels.h"
#include "optim/rules.h"
#include "train/recipe.h"

static mt_matmul_dims seen;

static void note_dims(float *c, const float *a, const float *b, const mt_matmul_dims *dims)
{
    (void)c, (void)a, (void)b;
    seen = *dims;
}

Test(tables, the_cpu_has_every_kernel)
{
    mt_fused_use(); /* the rest of GPT-2's table */
    const struct {
        const void *table;
        size_t size;
    } of[] = { { mt_kernels(MT_CPU), sizeof(mt_base_table) },
               { mt_gpt2_kernels(MT_CPU), sizeof(mt_gpt2_table) },
               { mt_16bit_kernels(MT_CPU), sizeof(mt_16bit_table) },
               { mt_fused_kernels(MT_CPU), sizeof(mt_fused_table) } };
    cr_assert_eq(mt_kernels(MT_CPU), &mt_base_cpu);
    for (int64_t f = 0; f < MT_COUNT(of); f++)
        for (size_t i = 0; i < of[f].size / sizeof(void *); i++)
            cr_assert_not_null(((void *const *)of[f].table)[i], "entry %d of table %d is missing", (int)i, (int)f);
}

Test(tables, entries_are_the_kernels_of_their_names)
{
    const mt_base_table *table = mt_kernels(MT_CPU);
    cr_assert_eq(table->matmul, mt_matmul_parallel_cpu);
    cr_assert_eq(table->linear_fwd, mt_linear_fwd_cpu);
    cr_assert_eq(table->relu_bwd, mt_relu_bwd_cpu);
    cr_assert_eq(table->sigmoid_fwd, mt_sigmoid_fwd_cpu);
    cr_assert_eq(table->tanh_bwd, mt_tanh_bwd_cpu);
    cr_assert_eq(table->gelu_fwd, mt_gelu_fwd_cpu);
    cr_assert_eq(table->gelu_tanh_bwd, mt_gelu_tanh_bwd_cpu);
    cr_assert_eq(table->softmax_fwd, mt_softmax_fwd_cpu);
    cr_assert_eq(table->cross_entropy_bwd, mt_cross_entropy_bwd_cpu);
    cr_assert_eq(table->div_bwd, mt_div_bwd_cpu);
    cr_assert_eq(table->dropout_fwd, mt_dropout_fwd_cpu);
    cr_assert_eq(mt_gpt2_kernels(MT_CPU)->classifier_bwd, mt_classifier_bwd_cpu);
}

Test(tables, fused_kernels_are_a_choice_of_the_program)
{
    cr_assert_eq(mt_gpt2_kernels(MT_CPU), &mt_gpt2_cpu);
    cr_assert_str_eq(mt_attention_name(MT_CPU, MT_F32, 64, 4), "plain");
    cr_assert(!mt_gpt2_cpu.linear_gelu && !mt_gpt2_cpu.classifier_rest && !mt_gpt2_cpu.attention_bf16_pays);
    mt_fused_use();
    const mt_gpt2_table *table = mt_gpt2_kernels(MT_CPU);
    cr_assert_eq(table->attention_fwd, mt_attention_packed_fwd_cpu);
    cr_assert_eq(table->classifier_rest, mt_classifier_chunked_rest);
    cr_assert_str_eq(mt_attention_name(MT_CPU, MT_F32, 64, 4), "packed");
    mt_fused_use();
    cr_assert_eq(mt_gpt2_kernels(MT_CPU), table, "another call changed something");
}

static void note_copy(const mt_strided *dst, const mt_strided *src)
{
    (void)dst, (void)src;
}

Test(tables, one_entry_of_any_table_is_swapped)
{
    mt_base_table changed = mt_base_cpu;
    changed.copy_to_strided = note_copy;
    mt_table_set(&mt_base_tables, MT_CPU, &changed);
    cr_assert_eq(mt_kernels(MT_CPU)->copy_to_strided, note_copy);
    cr_assert_eq(mt_gpt2_kernels(MT_CPU), &mt_gpt2_cpu, "other tables stay");
    mt_table_set(&mt_base_tables, MT_CPU, NULL);
    cr_assert_eq(mt_kernels(MT_CPU), &mt_base_cpu);
}

Test(tables, products_go_through_the_table_in_use)
{
    mt_base_table changed = mt_base_cpu;
    float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 1, 0, 2, 0, 1, 1 }, c[4] = { 9, 9, 9, 9 };
    changed.matmul = note_dims;
    mt_table_set(&mt_base_tables, MT_CPU, &changed);
    mt_matmul_cpu(c, a, b, 2, 5, 3, MT_NO_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    cr_assert(seen.M == 2 && seen.N == 5 && seen.K == 3 && seen.lda == 3 && seen.ldb == 5 && seen.ldc == 5);
    cr_assert(!seen.trans_a && !seen.trans_b && seen.write == MT_ACCUMULATE);
    mt_matmul_cpu(c, a, b, 2, 5, 3, MT_TRANS, MT_TRANS, MT_OVERWRITE);
    cr_assert(seen.lda == 2 && seen.ldb == 3 && seen.ldc == 5 && seen.trans_a && seen.trans_b);
    cr_assert_eq(seen.write, MT_OVERWRITE);
    mt_table_set(&mt_base_tables, MT_CPU, NULL);
    mt_matmul_cpu(c, a, b, 2, 2, 3, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    cr_assert_arr_eq(c, ((float[]){ 8, 3, 20, 6 }), sizeof c); /* [1 2 3; 4 5 6] x [1 0; 2 0; 1 1] */
}

/* A rule that a device has no kernel for, as one that was added for the CPU only. */
Test(tables, an_optimizer_without_a_kernel_is_refused_in_words)
{
    const mt_optim_kernels none = { 0 };
    const mt_backend backend = { .optim = &none };
    for (mt_update_kind kind = 0; kind < MT_UPDATE_KINDS; kind++)
        cr_assert_eq(mt_update_available(MT_CPU, kind), MT_OK, "%s", mt_last_error());
    mt_cuda = &backend;
    cr_assert_eq(mt_update_available(MT_CUDA, MT_LION), MT_ERR_UNAVAILABLE);
    cr_assert_str_eq(mt_last_error(), "the optimizer lion has no kernel for cuda: use another one, or another device");
    ABORTS("the optimizer lion has no kernel for cuda", mt_update_on(MT_CUDA, MT_LION));
    mt_recipe recipe = { .device = MT_CUDA, .optimizer = MT_LION, .out = "/nonesuch" };
    cr_assert_eq(mt_recipe_begin(&recipe), MT_ERR_UNAVAILABLE);
    mt_cuda = NULL;
}

Test(tables, cuda_says_in_words_that_it_is_not_there)
{
    mt_device device;
    cr_assert_null(mt_cuda);
    ABORTS("no kernels for cuda", mt_kernels(MT_CUDA));
    cr_assert_eq(mt_device_open(MT_CPU), MT_OK);
    cr_assert_eq(mt_device_open(MT_CUDA), MT_ERR_UNAVAILABLE);
    cr_assert(strstr(mt_last_error(), "no cuda device") && strstr(mt_last_error(), "CUDA=emu"));
    cr_assert_eq(mt_device_parse("cuda", &device), MT_OK);
    cr_assert_eq(device, MT_CUDA);
    cr_assert_eq(mt_device_parse("tpu", &device), MT_ERR_ARGUMENT);
    cr_assert_eq(device, MT_CUDA, "unchanged on failure");
    cr_assert_str_eq(mt_last_error(), "there is no device \"tpu\": say cpu or cuda");
}
