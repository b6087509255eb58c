// Accesses at offsets that the compiler knows: vectors at aligned addresses, structs of smaller members, packed structs
// and bytes that memcpy moves, at any address.
#include "check.h"

struct four {
    int a, b, c, d;
};
struct __attribute__((packed)) record {
    char tag;
    int number;
    double value;
};

__device__ __align__(16) float table[64];

__global__ void vectors(float *x)
{
    *reinterpret_cast<float4 *>(x + 4) = make_float4(1, 2, 3, 4);
    *reinterpret_cast<float4 *>(table + 8) = *reinterpret_cast<const float4 *>(x + 4);
    *reinterpret_cast<float2 *>(x + 2) = *reinterpret_cast<const float2 *>(table + 10);
    float part[8];
    for (int i = 0; i < 8; i++)
        part[i] = x[4 + i % 4];
    x[0] = part[5], x[1] = part[7];
}

__global__ void members(four *f, int *numbers)
{
    __shared__ __align__(16) char bytes[64];
    *reinterpret_cast<four *>(numbers + 1) = f[0];
    f[1] = *reinterpret_cast<const four *>(numbers + 1);
    for (int i = 0; i < 64; i++)
        bytes[i] = (char)i;
    f[2].a = *reinterpret_cast<const int *>(bytes + 4);
    f[2].b = *reinterpret_cast<const short *>(bytes + 2);
    memcpy(&f[2].c, bytes + 5, sizeof(int));
    memcpy(bytes + 33, &f[2].c, sizeof(int));
    memcpy(&f[2].d, bytes + 33, sizeof(int));
}

__global__ void packed(record *r, double *sum)
{
    r[1].number = r[0].number + 1;
    r[1].value = r[0].value * 2;
    *sum = r[1].value + r[1].number;
}

int main()
{
    float *x = zeros<float>(8);
    vectors<<<1, 1>>>(x);
    EXPECT(take(x, 8) == std::vector<float>({ 2, 4, 3, 4, 1, 2, 3, 4 }));

    four *f = upload(std::vector<four>({ { 1, 2, 3, 4 }, {}, {} }));
    int *numbers = zeros<int>(8);
    members<<<1, 1>>>(f, numbers);
    EXPECT(take(numbers, 8) == std::vector<int>({ 0, 1, 2, 3, 4, 0, 0, 0 }));
    std::vector<four> got = take(f, 3);
    EXPECT(got[1].a == 1 && got[1].d == 4);
    EXPECT(got[2].a == 0x07060504 && got[2].b == 0x0302 && got[2].c == 0x08070605 && got[2].d == 0x08070605);

    record *r = upload(std::vector<record>({ { 'a', 4, 1.5 }, { 'b', 0, 0 } }));
    double *sum = zeros<double>(1);
    packed<<<1, 1>>>(r, sum);
    EXPECT(take(sum, 1)[0] == 8);
    take(r, 2);
}
