struct range {
    int n;
    int length() const
    {
        return n;
    }
    __device__ int size() const
    {
        return n;
    }
};
__global__ void fill(int *x, range r)
{
    for (int i = 0; i < r.size(); i++)
        x[i] = r.length(); // REFUSED: calls the host function `length`
}
