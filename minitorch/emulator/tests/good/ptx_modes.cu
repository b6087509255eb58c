// prmt and bfe in every documented mode, and where their operands are at an edge, beside the tables and the loop of
// the PTX manual.
#include <cstdint>

#include "check.h"

__global__ void permute(unsigned *out, unsigned a, unsigned b, unsigned selector)
{
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out[0]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(out[1]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(out[2]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(out[3]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(out[4]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(out[5]) : "r"(a), "r"(b), "r"(selector));
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(out[6]) : "r"(a), "r"(b), "r"(selector));
}

__global__ void extract(unsigned *out, int a, unsigned from, unsigned length)
{
    int field;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(out[0]) : "r"(a), "r"(from), "r"(length));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(from), "r"(length));
    out[1] = field;
}

// The manual's tables: for selectors 0 to 3 the numbers of the bytes, that of the result's highest byte first.
static const char *const tables[][4] = {
    { "3210", "4321", "5432", "6543" }, { "5670", "6701", "7012", "0123" }, { "0000", "1111", "2222", "3333" },
    { "3210", "3211", "3222", "3333" }, { "0000", "1110", "2210", "3210" }, { "1010", "3232", "1010", "3232" },
};

static unsigned byte_of(unsigned a, unsigned b, int number)
{
    return (number < 4 ? a >> 8 * number : b >> 8 * (number - 4)) & 255;
}

static unsigned picked(unsigned a, unsigned b, unsigned selector)
{
    unsigned result = 0;
    for (int i = 3; i >= 0; i--) {
        unsigned digit = selector >> 4 * i & 15, byte = byte_of(a, b, digit % 8);
        result = result * 256 + (digit < 8 ? byte : byte >= 128 ? 255 : 0);
    }
    return result;
}

// The manual's loop over the 32 bits of the result.
static unsigned field_of(unsigned a, unsigned from, unsigned length, bool is_signed)
{
    unsigned pos = from & 255, len = length & 255, last = pos + len - 1 < 31 ? pos + len - 1 : 31;
    unsigned sign = !is_signed || len == 0 ? 0 : a >> last & 1, result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (i < len && pos + i <= 31 ? a >> (pos + i) & 1 : sign) << i;
    return result;
}

int main()
{
    const unsigned a = 0x80ff7f01, b = 0x9a00fe3c, edges[] = { 0, 1, 4, 15, 16, 30, 31, 32, 33, 64, 255, 256 + 3 };
    unsigned *out;
    cudaMallocManaged(&out, 7 * sizeof *out);
    for (unsigned selector = 0; selector < 0x10000; selector += 0x0123 + selector % 7) {
        permute<<<1, 1>>>(out, a, b, selector);
        cudaDeviceSynchronize();
        EXPECT(out[0] == picked(a, b, selector));
        for (int mode = 0; mode < 6; mode++) {
            unsigned want = 0;
            for (int i = 0; i < 4; i++)
                want = want * 256 + byte_of(a, b, tables[mode][selector & 3][i] - '0');
            EXPECT(out[1 + mode] == want);
        }
    }
    permute<<<1, 1>>>(out, 0x80808080, 0, 0xba98);
    cudaDeviceSynchronize();
    EXPECT(out[0] == 0xffffffff);
    for (unsigned from : edges)
        for (unsigned length : edges) {
            extract<<<1, 1>>>(out, (int)a, from, length);
            cudaDeviceSynchronize();
            EXPECT(out[0] == field_of(a, from, length, false));
            EXPECT(out[1] == field_of(a, from, length, true));
        }
    cudaFree(out);
    return 0;
}
