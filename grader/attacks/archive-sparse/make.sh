# attack  02.1 an archive of a few KiB whose unit is sparse, a terabyte long
# hopes   the grader makes room for all of it, or writes it
# stopped by units of more than 1 MiB are not taken, whatever the archive says about holes
# earns   0
# verdict FAIL
# words   linear.c (too large)
truncate -s 1T linear.c
tar --sparse -cf sparse.tar linear.c softmax.c
rm linear.c
echo "$PWD/sparse.tar"
