#include <cstdlib>
__global__ void allocate(int *x)
{
    int *p = new int[4];        // REFUSED: `new` in device code
    int *q = (int *)malloc(16); // REFUSED: `malloc` in device code
    int *r = new (int);         // REFUSED: `new` in device code
    *r = *new (int)(5);         // REFUSED: `new` in device code
    static int calls;           // REFUSED: a static variable in device code
    static const int table[2] = { 1, 2 };
    x[0] = table[p == q] + calls;
    delete[] p; // REFUSED: `delete` in device code
    if (*x)
        throw 1; // REFUSED: device code has no `throw`
}
