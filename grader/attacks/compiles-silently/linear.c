/* attack  02.1 includes itself twice, to a depth that is never reached, without a message
 * hopes   the time limit of a tool is taken for a busy machine: an error of the grader
 * stopped by a tool that worked half of a minute was at work; one that did not gets five minutes
 * slow    it takes the limit of a minute: run it by name
 * earns   0
 * verdict FAIL
 * words   it took too long */
#if __INCLUDE_LEVEL__ < 60
#include "linear.c"
#include "linear.c"
#endif
