/* attack  02.1 does nothing
 * hopes   rows without elements count
 * stopped by a row that a function without a body passes counts only beside another one
 * earns   0
 * verdict FAIL
 * stops   no inputs
 * words   an empty function passes this row, too */
void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
