/* test_fused.c -- ops are as test_ops.c says with the fused kernels in use, too. */
#include "fused/fused.h"

#include "aborts.h"
#include "op_trials.h"

TestSuite(fused, .init = mt_fused_use);

Test(fused, values_and_gradients_of_every_case, .timeout = 300)
{
    for_all(right_and_added);
}

Test(fused, a_gradient_does_not_depend_on_who_else_wants_one, .timeout = 300)
{
    for_all(alone_as_together);
}

Test(fused, without_a_tape_values_are_the_same, .timeout = 300)
{
    for_all(nothing_recorded);
}

Test(fused, same_bits_for_any_number_of_threads, .timeout = 300)
{
    for_all(same_bits);
}

Test(fused, misuse_ends_in_words)
{
    mt_scope_begin();
    ABORTS("bias_gelu: x is [64,784], bias is [5]: it must be [784]",
           mt_bias_gelu(mt_full(MT_SHAPE(64, 784), 0), mt_full(MT_SHAPE(5), 0)));
    mt_scope_end();
}
