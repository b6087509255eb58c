#include "in_header.cuh"
int main()
{
    apply<<<1, 1>>>(nullptr);
}
