/* attack  02.1 calls the oracle of the tests
 * hopes   the worker is linked with it
 * stopped by no oracle is among the objects of a worker
 * earns   0
 * verdict FAIL
 * words   mt_oracle_linear */
void mt_oracle_linear(void *want, const float *const *in);

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)N, (void)I, (void)O;
    mt_oracle_linear(out, (const float *const[]){ x, w, b });
}

void mt_linear_bwd_cpu(void)
{
}
