__global__ void instructions(float *x, unsigned *u)
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("bar.red.popc.u32 %0, 0, 1;" : "=r"(lane)); // REFUSED: inline PTX instruction `bar.red.popc.u32`
    asm("{ .reg .pred p;\n"                                  // REFUSED: inline PTX instruction `.reg`
        "}" ::);
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(lane)); // REFUSED: inline PTX operand
    asm volatile(PTX_TEXT : "=r"(lane));                 // REFUSED: plain string literals
    u[0] = lane;
    x[0] = 0;
}
