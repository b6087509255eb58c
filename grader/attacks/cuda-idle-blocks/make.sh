# attack  06.8 every other thread adds, and 20,000 empty blocks
# hopes   wavefronts are divided by the blocks of the unit
# stopped by divisors of counts are numbers that the check knows, and blocks without their share of the work are none
# earns   2
# verdict FAIL
# stops   bank conflicts
# stops   wavefronts
perl -0pi -e 's/(slot\[t\] = value;\n    __syncthreads\(\);\n    for \(int s = MT_THREADS \/ 2.*?\n)        if \(t < s\)\n            slot\[t\] \+= slot\[t \+ s\];/$1        int i = 2 * s * t;\n        if (i + s < MT_THREADS)\n            slot[i] += slot[i + s];/s;
    s/int s = MT_THREADS \/ 2; s > 0; s \/= 2/int s = 1; s < MT_THREADS; s *= 2/;
    s/(static void sum\(float \*out.*?\n\{\n)/static __global__ void nothing()\n{\n}\n\ntemplate <block_sum_fn *BLOCK_SUM> $1    nothing<<<20000, 32, 0, mt_cuda_stream()>>>();\n    MT_LAUNCHED("nothing");\n/s; s/template <block_sum_fn \*BLOCK_SUM> static __global__ void nothing/static __global__ void nothing/' reduce.cu
