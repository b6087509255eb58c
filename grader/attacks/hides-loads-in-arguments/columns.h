/* The sum of dout's columns by load(at, left), which loads *at; left numbers follow it, with it. */
static void sum_columns(float *db, const float *dout, int64_t N, int64_t O)
{
    for (int64_t o = 0; o < O; o++) {
        double sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += load(&dout[n * O + o], N * O - n * O - o);
        db[o] += (float)sum;
    }
}
