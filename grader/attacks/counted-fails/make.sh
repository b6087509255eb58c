# attack  02.2 does not compile where its accesses are counted
# hopes   a counting worker that cannot be made is an error of the grader
# stopped by what does not build for counting is FAIL: the unit builds otherwise
# earns   0
# verdict FAIL
# words   does not build with -O1 -fsanitize=thread
printf '#ifdef __SANITIZE_THREAD__\n#error not here\n#endif\n' | cat - linear.c >new && mv new linear.c
