# attack  06.1 a kernel that never ends
# hopes   the grader waits
# stopped by time limit of the call
# earns   2
# verdict TIMEOUT
# stops   saxpy: every size
# words   no answer within 2 seconds
sed -i '/^static __global__ void saxpy_scalar/,/^}/ s/^    int64_t i = mt_thread();/    for (volatile int ever = 0; n > 1; ever++)\n        ;\n&/' saxpy.cu
