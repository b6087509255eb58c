/* attack  02.1 includes itself twice, to a depth that is never reached, without a message
 * hopes   the time limit of a tool is taken for a busy machine: an error of the grader
 * stopped by processor time is counted, which a tool that waits does not use; one that waits gets five minutes
 * slow    it takes the limit of half a minute: run it by name
 * earns   0
 * verdict FAIL
 * words   no processor time is left */
#if __INCLUDE_LEVEL__ < 60
#include "linear.c"
#include "linear.c"
#endif
