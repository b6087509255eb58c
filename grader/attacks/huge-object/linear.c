/* attack  02.1 an object file of a terabyte, and another in the program's memory
 * hopes   to fill the disk while it is compiled
 * stopped by RLIMIT_FSIZE and RLIMIT_AS of the compiler
 * behind  the list
 * earns   0
 * verdict FAIL
 * words   does not build */
__asm__(".data\n.fill 0x4000000000, 4, 0x12345678\n.text");

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
