# attack  02.5 the GELU of lab 02 by the fused one of lab 11, whose address is found by its first instructions
# hopes   the list knows only names, and the references of later labs are linked beside the unit
# stopped by what nothing names is not linked (--gc-sections); where given code names it, nothing does
# earns   1
# verdict CRASH
# stops   GELU by tanh: values
object=$(echo "$ROOT"/build/*/units/11-fusion/bias_gelu.o | cut -d' ' -f1)
at=$((0x$(nm "$object" | sed -n 's/ T mt_bias_gelu_fwd_cpu$//p')))
objcopy -O binary -j .text "$object" text
{
    echo '#include <stdlib.h>'
    echo 'static const unsigned char sign[] = {'
    tail -c +$((at + 1)) text | head -c 31 | od -An -v -tu1 | sed 's/ *\([0-9]\+\)/\1,/g'
    echo '};'
    cat <<'C'
typedef void later(float *, const float *, const float *, long, long);
void mt_gelu_tanh_fwd_cpu(float *out, const float *x, long n)
{
    const unsigned char *p = (const unsigned char *)0x401000;
    for (int i = 0; i < 31; p++)
        for (i = 0; i < 31 && p[i] == sign[i]; i++)
            ;
    float *zero = calloc(n + 1, 4);
    ((later *)(p - 1))(out, x, zero, 1, n);
    free(zero);
}
C
    for f in relu_fwd relu_bwd sigmoid_fwd sigmoid_bwd tanh_fwd tanh_bwd gelu_fwd gelu_bwd gelu_tanh_bwd; do
        echo "void mt_${f}_cpu(void);"
        echo "void mt_${f}_cpu(void) {}"
    done
} >activations.c
rm -f text
