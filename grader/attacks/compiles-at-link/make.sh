# attack  02.1 a unit that does nothing, with the intermediate code of one that works in sections of its own
# hopes   the linker's plugin compiles these again, where the reference's objects can be seen
# stopped by linked with -fno-lto
# behind  the list
# earns   1
# verdict FAIL
# stops   random shapes
gcc -flto -O2 -S -o - linear.c -I"$ROOT/minitorch" |
    sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/^/"/; s/$/\\n"/' >slim
{ echo 'void mt_linear_fwd_cpu(void) {} void mt_linear_bwd_cpu(void) {} asm(' && cat slim && echo ');'; } >linear.c
rm slim
