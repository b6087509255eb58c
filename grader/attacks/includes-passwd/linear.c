/* attack  02.1 #include of the host's files
 * hopes   the compiler's errors show them
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   No such file */
#include "/etc/passwd"
#include "/proc/self/environ"
