# attack  02.1 an archive whose units are a symbolic link to the solution and a hard link to a file of the host
# hopes   the grader follows them, with its own rights
# stopped by links are not followed and not taken
# earns   0
# verdict FAIL
# words   linear.c: this unit is missing
# words   linear.c (a symbolic link)
# words   softmax.c (a hard link)
ln -sf "$ROOT/solutions/02-backprop/linear.c" linear.c
ln -f softmax.c copy.c && tar cf ../s.tar copy.c softmax.c linear.c activations.c init.c manual_mlp.c 2>/dev/null
echo "$PWD/../s.tar"
