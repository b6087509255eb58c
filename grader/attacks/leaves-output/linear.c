/* attack  02.1 writes nothing
 * hopes   what lies in the output is still right from an earlier call, or from the reference
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
