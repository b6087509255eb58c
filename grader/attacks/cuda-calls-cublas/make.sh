# attack  07.1 the naive kernel by cuBLAS, which the emulator has for the step that compares with it
# stopped by the list of symbols, file by file
# earns   0
# verdict FAIL
# words   naive.cu: uses `mt_matmul_cublas`, which units may not use
sed -i '/^extern "C" void mt_matmul_naive_cuda/,/^}/ s/^{/{\n    mt_matmul_cublas(c, a, b, d);\n    return;/; 1i #include "cuda/matmul_cuda.h"' naive.cu
