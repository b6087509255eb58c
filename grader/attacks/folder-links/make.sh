# attack  02.1 a folder whose units are a link to the solution and a pipe, with a Makefile and a header beside
# hopes   the grader follows, waits, or runs make
# stopped by O_NOFOLLOW, regular files only, opened before they are examined
# earns   0
# verdict FAIL
# words   linear.c: this unit is missing
# words   linear.c (a symbolic link)
# words   softmax.c (not a regular file)
# words   Makefile (not a unit)
ln -sf "$ROOT/solutions/02-backprop/linear.c" linear.c
rm softmax.c && mkfifo softmax.c
printf 'all:\n\ttouch /tmp/minitorch-pwned\n' >Makefile
