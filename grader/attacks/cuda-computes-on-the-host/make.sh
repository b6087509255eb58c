# attack  06.1 copies the arrays to the host, computes there and copies the result back
# hopes   only the values are checked
# stopped by copies to the host are refused while a unit is called; a call without a launch fails
# earns   2
# verdict FAIL
# stops   saxpy: every size
# words   cudaMemcpy to the host: a unit computes on the device
sed -i '/^extern "C" void mt_saxpy_scalar_cuda/,/^}/ s/^{/{\n    if (n > 0) {\n        float *h = (float *)malloc(4 * n), *g = (float *)malloc(4 * n);\n        cudaMemcpy(h, x, 4 * n, cudaMemcpyDeviceToHost);\n        cudaMemcpy(g, y, 4 * n, cudaMemcpyDefault);\n        for (int64_t i = 0; i < n; i++) g[i] += a * h[i];\n        cudaMemcpy(y, g, 4 * n, cudaMemcpyHostToDevice);\n        return;\n    }/; 1i #include <stdlib.h>' saxpy.cu
