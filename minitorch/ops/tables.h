/* tables.h -- which kernel an op runs on which device. An op never names a kernel; it asks the table of its device:
 *
 *     mt_kernels(x->storage->device)->relu_fwd(out, x, n);
 *
 * Will use it: every op of ops/ (lab 03 on); lab 06 and 07 bring the CUDA table; lab 11 swaps in fused kernels; a race
 * of two kernels inside a whole training run swaps one entry. Pointers of a table are on the table's device, and kernels
 * of every device keep the contract of ops/kernels.h and ops/matmul.h (CUDA's launch on the device's current stream). */
#ifndef MT_OPS_TABLES_H
#define MT_OPS_TABLES_H

#include "core/device.h"
#include "ops/kernels.h"
#include "ops/kernels_gpt2.h"
#include "ops/kernels_nd.h"
#include "ops/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries have the types of the CPU kernels. Initialisation is not here: parameters are made on the CPU and copied. */
typedef struct mt_kernel_table {
    mt_matmul_fn *matmul;

    __typeof__(mt_linear_fwd_cpu) *linear_fwd;
    __typeof__(mt_linear_bwd_cpu) *linear_bwd;

    mt_unary_fwd_fn *relu_fwd, *sigmoid_fwd, *tanh_fwd, *gelu_fwd, *gelu_tanh_fwd;
    mt_unary_bwd_fn *relu_bwd, *sigmoid_bwd, *tanh_bwd, *gelu_bwd, *gelu_tanh_bwd;

    __typeof__(mt_softmax_fwd_cpu) *softmax_fwd;
    __typeof__(mt_softmax_bwd_cpu) *softmax_bwd;
    __typeof__(mt_cross_entropy_fwd_cpu) *cross_entropy_fwd;
    __typeof__(mt_cross_entropy_bwd_cpu) *cross_entropy_bwd;
    __typeof__(mt_layernorm_fwd_cpu) *layernorm_fwd;
    __typeof__(mt_layernorm_bwd_cpu) *layernorm_bwd;
    __typeof__(mt_embedding_fwd_cpu) *embedding_fwd;
    __typeof__(mt_embedding_bwd_cpu) *embedding_bwd;
    mt_attention_saved_fn *attention_saved;
    mt_attention_fwd_fn *attention_fwd;
    mt_attention_bwd_fn *attention_bwd;
    __typeof__(mt_attention_cached_cpu) *attention_cached;
    __typeof__(mt_classifier_fwd_cpu) *classifier_fwd;
    __typeof__(mt_classifier_bwd_cpu) *classifier_bwd;

    mt_binary_fwd_fn *add_fwd, *sub_fwd, *mul_fwd, *div_fwd;
    mt_binary_bwd_fn *add_bwd, *sub_bwd, *mul_bwd, *div_bwd;
    mt_unary_fwd_fn *exp_fwd, *log_fwd, *sqrt_fwd;
    mt_unary_bwd_fn *exp_bwd, *log_bwd, *sqrt_bwd;
    __typeof__(mt_scale_fwd_cpu) *scale_fwd;
    __typeof__(mt_scale_bwd_cpu) *scale_bwd;
    __typeof__(mt_add_strided_cpu) *add_strided;
    __typeof__(mt_copy_to_strided_cpu) *copy_to_strided;
    __typeof__(mt_sum_middle_cpu) *sum_middle;
    __typeof__(mt_mean_fwd_cpu) *mean_fwd;
    __typeof__(mt_mean_bwd_cpu) *mean_bwd;
    __typeof__(mt_max_middle_fwd_cpu) *max_middle_fwd;
    __typeof__(mt_max_middle_bwd_cpu) *max_middle_bwd;
    __typeof__(mt_gather_rows_fwd_cpu) *gather_rows_fwd;
    __typeof__(mt_gather_rows_bwd_cpu) *gather_rows_bwd;
    __typeof__(mt_dropout_fwd_cpu) *dropout_fwd;
    __typeof__(mt_dropout_bwd_cpu) *dropout_bwd;
} mt_kernel_table;

/* The best CPU kernels: the top of each ladder. */
extern const mt_kernel_table mt_kernels_cpu;

/* The CUDA kernels (cuda/table.c); NULL in a program that is linked without them. */
extern const mt_kernel_table *mt_kernels_cuda;

/* mt_kernels -- the table in use on a device.   Aborts: the device has none. */
const mt_kernel_table *mt_kernels(mt_device device);

/* mt_kernels_set -- use another table on a device from now on; NULL brings back the device's own. The table is borrowed.
 * Not while kernels run in another thread. To change one entry:
 *     mt_kernel_table slow = mt_kernels_cpu;
 *     slow.matmul = mt_matmul_naive_cpu;
 *     mt_kernels_set(MT_CPU, &slow); */
void mt_kernels_set(mt_device device, const mt_kernel_table *table);

#ifdef __cplusplus
}
#endif
#endif
