/* bench_plan.c -- what a training step of each GPT-2 needs, by the unit cost.c (lab 15's experiment).
 *
 * Nothing is measured. The last line is for programs: `bench_plan: sizes=4`. */
#include <stdio.h>

#include "core/base.h"
#include "models/cost.h"

int main(void)
{
    static const char *const names[] = { "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl" };
    for (int i = 0; i < MT_COUNT(names); i++) {
        mt_gpt2_cost cost = mt_gpt2_cost_of(mt_gpt2_size(names[i]), &(mt_gpt2_batch){ 1, 1024, 1, MT_F32 }, NULL);
        printf("%s, one sample of 1024 tokens, f32\n", names[i]);
        mt_gpt2_cost_print(&cost, mt_gpt2_size(names[i]));
    }
    printf("bench_plan: sizes=%d\n", (int)MT_COUNT(names));
    return 0;
}
