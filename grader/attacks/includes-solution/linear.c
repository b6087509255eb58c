/* attack  02.1 #include of the reference unit
 * hopes   the compiler sees the repository
 * stopped by the compiler sees the headers, this unit and the toolchain
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   /linear.c: */
#include "@ROOT@/solutions/02-backprop/linear.c"
