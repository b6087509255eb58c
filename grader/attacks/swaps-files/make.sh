# attack  02.1 does nothing; while it is graded, its file is exchanged for a link to the solution, again and again
# hopes   the grader looks at one file and reads another
# stopped by a file is opened once, without following links, and read from that descriptor
# earns   0
# verdict FAIL
printf 'void mt_linear_fwd_cpu(void)\n{\n}\nvoid mt_linear_bwd_cpu(void)\n{\n}\n' >plain
cp plain linear.c
(for ((i = 0; i < 400; i++)); do
    ln -sf "$ROOT/solutions/02-backprop/linear.c" .link && mv -f .link linear.c
    cp plain .plain && mv -f .plain linear.c
done) >/dev/null 2>&1 &
