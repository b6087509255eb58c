#include <algorithm>
#include <vector>
__global__ void sort(int *x, int n)
{
    std::sort(x, x + n);      // REFUSED: std::sort
    std::vector<int> v;       // REFUSED: std::vector
    x[0] = std::max(x[0], 1); // REFUSED: write min() or max() without std::
}
