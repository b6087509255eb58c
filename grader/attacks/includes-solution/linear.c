/* attack  02.1 #include of the reference unit
 * hopes   the compiler sees the repository
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   No such file */
#include "@ROOT@/solutions/02-backprop/linear.c"
