// A sparse matrix by rows: loops as long as the rows are.
#include "check.h"

__global__ void spmv(float *y, const int *start, const int *column, const float *value, const float *x, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int i = start[r]; i < start[r + 1]; i++)
        sum += value[i] * x[column[i]];
    y[r] = sum;
}

int main()
{
    const int rows = 100;
    std::vector<int> start(1), column;
    std::vector<float> value, x = ramp(rows), want(rows);
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < r * 7 % 13; k++) {
            column.push_back((r + k * k) % rows);
            value.push_back((float)(k + 1));
            want[r] += value.back() * x[column.back()];
        }
        start.push_back((int)column.size());
    }
    int *ds = upload(start), *dc = upload(column);
    float *dv = upload(value), *dx = upload(x), *dy = zeros<float>(rows);
    spmv<<<2, 64>>>(dy, ds, dc, dv, dx, rows);
    EXPECT(take(dy, rows) == want);
    CUDA(cudaFree(ds));
    CUDA(cudaFree(dc));
    CUDA(cudaFree(dv));
    CUDA(cudaFree(dx));
}
