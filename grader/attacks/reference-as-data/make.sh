# attack  02.1 instructions, made elsewhere, as constant data in an executable section, which a pointer calls
# hopes   data is data, wherever it lies; the compiler's own flags of a section end in a comment
# stopped by no attribute `section`; no data among instructions
# earns   0
# verdict FAIL
# words   has the attribute `section(".text#")`, which units may not have
# words   has data among its instructions
cat >code.c <<'C'
void fwd(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (long i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}
C
gcc -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -c code.c -o code.o
objcopy -O binary --only-section=.text code.o code
{
    echo '__attribute__((section(".text#"), aligned(64))) static const unsigned char code[] = {'
    od -An -v -tx1 -w16 code | sed 's/ \(..\)/0x\1,/g'
    cat <<'C'
};
typedef void fwd(float *, const float *, const float *, const float *, long, long, long);
void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    ((fwd *)code)(out, x, w, b, N, I, O);
}
void mt_linear_bwd_cpu(void)
{
}
C
} >linear.c
rm -f code code.c code.o
