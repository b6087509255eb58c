// A filter (stream compaction): one atomic per group of threads that keep their element.
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void keep_odd(int *out, int *count, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2 == 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        int first = 0;
        if (group.thread_rank() == 0)
            first = atomicAdd(count, (int)group.size());
        first = group.shfl(first, 0);
        out[first + group.thread_rank()] = in[i];
    }
}

int main()
{
    const int n = 300;
    std::vector<int> x(n), want;
    for (int i = 0; i < n; i++) {
        x[i] = i * 7 % 301;
        if (x[i] % 2)
            want.push_back(x[i]);
    }
    int *in = upload(x), *out = zeros<int>(n), *count = zeros<int>(1);
    keep_odd<<<3, 128>>>(out, count, in, n);
    EXPECT(take(count, 1)[0] == (int)want.size());
    std::vector<int> got = take(out, n);
    got.resize(want.size());
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    EXPECT(got == want);
    CUDA(cudaFree(in));
}
