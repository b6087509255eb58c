void plain(int *x)
{
    *x = 1;
}
int main()
{
    plain<<<1, 1>>>(nullptr); // REFUSED: `plain` is launched but is not a kernel
}
