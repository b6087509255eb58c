/* use.c -- puts the fused kernels into GPT-2's tables; see fused.h. With MT_PLAIN, for programs with lab 08 yours and
 * lab 11 not, the tables stay as they are. */
#include "fused/fused.h"
#include "kernels/vec16.h"
#include "fused/kernels_fused.h"

#ifdef MT_PLAIN
void mt_fused_use(void)
{
}
#else
static bool bf16_pays(int64_t C, int64_t H)
{
    return mt_pairs_are_fast() && C <= H * 128;
}

void mt_fused_use(void)
{
    static const mt_gpt2_table cpu = { .attention_saved = mt_attention_packed_saved_cpu,
                                       .attention_fwd = mt_attention_packed_fwd_cpu,
                                       .attention_bwd = mt_attention_packed_bwd_cpu,
                                       .attention_bf16_pays = bf16_pays,
                                       .attention_bf16_fwd = mt_attention_bf16_fwd_cpu,
                                       .linear_gelu = mt_linear_bias_gelu,
                                       .classifier_rest = mt_classifier_chunked_rest,
                                       MT_GPT2_KERNELS(MT_KERNEL_CPU) };
    static mt_gpt2_table cuda;
    mt_table_set(&mt_gpt2_tables, MT_CPU, &cpu);
    if (mt_cuda && !cuda.linear_gelu) {
        cuda = *mt_gpt2_kernels(MT_CUDA);
        cuda.linear_gelu = mt_linear_bias_gelu;
        mt_table_set(&mt_gpt2_tables, MT_CUDA, &cuda);
    }
}
#endif

const char *mt_attention_name(mt_device device, mt_dtype dtype, int64_t C, int64_t heads)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(device);
    if (dtype == MT_BF16 && kernels->attention_bf16_pays && kernels->attention_bf16_pays(C, heads))
        return "bf16";
    if (device != MT_CPU) /* the device's own */
        return "tiled";
    if (kernels->attention_fwd == mt_attention_plain_fwd_cpu)
        return "plain";
    return C > heads * 128 ? "tiled" : "packed";
}
