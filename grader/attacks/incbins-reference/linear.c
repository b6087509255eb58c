/* attack  02.1 .incbin of the reference's object and of the checker, to be run or looked at later
 * hopes   the assembler sees the build folder
 * stopped by the compiler sees the headers, this unit and the toolchain
 * behind  the list
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   file not found */
__asm__(".section .rodata\n"
        "reference: .incbin \"@ROOT@/build/release/units/02-backprop/linear.o\"\n"
        "checker: .incbin \"@ROOT@/build/release/libgrader.a\"\n"
        ".text");

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
