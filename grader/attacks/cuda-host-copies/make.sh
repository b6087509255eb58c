# attack  06.6 the naive transpose by the host's memcpy, through a pointer, beside an idle tile
# hopes   the emulator replaces calls of memcpy only
# stopped by memcpy and memset of a unit are the emulator's under every name; others of their kind are refused
# earns   3
# verdict FAIL
# stops   tiled transpose: traffic
perl -0pi -e 's/out\[\(left \+ r\) \* N \+ top \+ lane\] = tile\[lane\]\[r\];/{ float v; volatile int n = 4; void *(*volatile f)(void *, const void *, size_t) = memcpy; f(\&v, \&x[(top + lane) * C + left + r], n); out[(left + r) * N + top + lane] = v; }/' transpose.cu
