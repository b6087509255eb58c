/* attack  02.1 calls a BLAS
 * hopes   it is linked, since it is installed
 * stopped by linked statically with the listed objects only
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   cblas_sgemm */
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)b;
    cblas_sgemm(101, 111, 111, (int)N, (int)O, (int)I, 1, x, (int)I, w, (int)O, 0, out, (int)O);
}

void mt_linear_bwd_cpu(void)
{
}
