# attack  06.6 the naive transpose by __builtin_memcpy of a variable size, beside an idle tile
# hopes   the emulator replaces memcpy only, and a host's function is not traced
# stopped by no name __builtin_mem... in .cu units
# earns   0
# verdict FAIL
# words   names `__builtin_memcpy`, which .cu units may not use
perl -0pi -e 's/out\[\(left \+ r\) \* N \+ top \+ lane\] = tile\[lane\]\[r\];/{ float v; volatile int n = 4; __builtin_memcpy(\&v, \&x[(top + lane) * C + left + r], n); out[(left + r) * N + top + lane] = v; }/' transpose.cu
