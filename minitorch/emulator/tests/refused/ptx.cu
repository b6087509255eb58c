__global__ void instructions(float *x, unsigned *u)
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("bar.red.popc.u32 %0, 0, 1;" : "=r"(lane)); // REFUSED: inline PTX instruction `bar.red.popc.u32`
    asm("{ .reg .pred p;\n"                                  // REFUSED: inline PTX instruction `.reg`
        "}" ::);
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(lane));          // REFUSED: inline PTX operand
    asm volatile(PTX_TEXT : "=r"(lane));                          // REFUSED: plain string literals
    asm("ex2.approx.ftz.f16x2 %0, %1;" : "=r"(lane) : "r"(u[1])); // REFUSED: `ex2.approx.ftz.f16x2`
    asm("rcp.approx.ftz.f64 %0, %1;" : "=r"(lane) : "r"(u[1]));   // REFUSED: `rcp.approx.ftz.f64`
    u[0] = lane;
    x[0] = 0;
}
