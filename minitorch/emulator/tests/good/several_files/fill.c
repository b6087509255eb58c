/* fill.c -- a C file of the program. */
void host_fill(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)i;
}
