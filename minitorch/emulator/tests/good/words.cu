// Functions for the two 16-bit or four 8-bit numbers of a word, and the reversed bits of 64.
#include "check.h"

__global__ void compute(unsigned *out, unsigned x, unsigned y)
{
    int i = 0;
    out[i++] = __vadd4(x, y);
    out[i++] = __vadd2(x, y);
    out[i++] = __vsub4(x, y);
    out[i++] = __vaddus4(x, y);
    out[i++] = __vaddss4(x, y);
    out[i++] = __vsubus4(x, y);
    out[i++] = __vsubss2(x, y);
    out[i++] = __vabsdiffu4(x, y);
    out[i++] = __vabsdiffs2(x, y);
    out[i++] = __vminu4(x, y);
    out[i++] = __vmaxs4(x, y);
    out[i++] = __vavgu4(x, y);
    out[i++] = __vhaddu2(x, y);
    out[i++] = __vneg4(x);
    out[i++] = __vabs4(x);
    out[i++] = __vabsss4(x);
    out[i++] = __vcmpeq4(x, y);
    out[i++] = __vcmpgtu4(x, y);
    out[i++] = __vcmpgts4(x, y);
    out[i++] = __vseteq4(x, y);
    out[i++] = __vsetltu2(x, y);
    out[i++] = __vsadu4(x, y);
    out[i++] = __vsads4(x, y);
    unsigned long long bits = __brevll(0x0000000180000005ull);
    out[i++] = (unsigned)(bits >> 32), out[i++] = (unsigned)bits;
}

int main()
{
    /* Computed with integers of Python's. The bytes are 80 07 ff 7f and 80 10 00 03. */
    const std::vector<unsigned> want = {
        0x0017ff82, 0x0017ff82, 0x00f7ff7c, 0xff17ff82, 0x8017ff7f, 0x0000ff7c, 0xfff7ff7c, 0x0009ff7c, 0x00090084,
        0x80070003, 0x8010007f, 0x800c8041, 0x800b7fc1, 0x80f90181, 0x8007017f, 0x7f07017f, 0xff000000, 0x0000ffff,
        0x000000ff, 0x01000000, 0x00010000, 0x00000184, 0x00000086, 0xa0000001, 0x80000000,
    };
    unsigned *out = zeros<unsigned>(want.size());
    compute<<<1, 1>>>(out, 0x8007ff7fu, 0x80100003u);
    std::vector<unsigned> got = take(out, want.size());
    for (size_t i = 0; i < want.size(); i++)
        EXPECT(got[i] == want[i]);
}
