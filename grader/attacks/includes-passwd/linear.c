/* attack  02.1 #include of the host's files
 * hopes   the compiler's errors show them
 * stopped by the compiler sees the headers, this unit and the toolchain
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   fatal error: /etc/passwd: */
#include "/etc/passwd"
#include "/proc/self/environ"
