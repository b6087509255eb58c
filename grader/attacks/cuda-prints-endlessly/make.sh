# attack  06.1 prints from the device for ever
# hopes   to fill memory or disk, or to run for ever
# stopped by limits of output and time
# earns   2
# verdict FAIL|TIMEOUT
# stops   saxpy: every size
sed -i '/^static __global__ void saxpy_scalar/,/^}/ s/^    int64_t i = mt_thread();/    for (int ever = 0; n > 1; ever++)\n        printf("and on and on and on %d\\n", ever);\n&/' saxpy.cu
