# attack  06.6 the naive transpose in a function that the compiler does not instrument, beside an idle tile
# hopes   the accesses that cost are not counted
# stopped by attributes, pragmas and assembler that hide accesses do not compile
# earns   0
# verdict FAIL
# stops   tiled transpose
# words   the attribute `no_sanitize_thread` is not supported by the emulator: every access must be seen
perl -0pi -e 's/(static __global__ void tiled\()/static __attribute__((no_sanitize_thread, no_sanitize_coverage)) __device__ void move(float *to, const float *from)\n{\n    *to = *from;\n}\n\n$1/;
    s/out\[\(left \+ r\) \* N \+ top \+ lane\] = tile\[lane\]\[r\];/move(\&out[(left + r) * N + top + lane], \&x[(top + lane) * C + left + r]);/' transpose.cu
