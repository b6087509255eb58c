/* attack  02.1 .include and .incbin by paths from the compiler's folder: reference objects, other units, /proc, devices
 * hopes   the assembler reads what the preprocessor may not
 * stopped by the compiler sees the headers, this unit and the toolchain
 * behind  the list
 * earns   0
 * verdict FAIL
 * words   does not build */
__asm__(".section .rodata\n"
        ".incbin \"../in/units/02-backprop/linear.o\"\n"
        ".incbin \"../in/libgiven.a\"\n"
        ".incbin \"/proc/self/environ\"\n"
        ".incbin \"/dev/zero\"\n"
        ".include \"/etc/hostname\"\n"
        ".incbin \"/dev/stdin\"\n"
        ".text");

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)out, (void)x, (void)w, (void)b, (void)N, (void)I, (void)O;
}

void mt_linear_bwd_cpu(void)
{
}
