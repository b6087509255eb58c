/* attack  02.1 writes nothing
 * hopes   the output still contains correct values of an earlier call, or of the reference
 * stopped by outputs are poisoned with NaN before each call
 * earns   1
 * verdict FAIL
 * stops   random shapes
 * stops   one of each */
void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
