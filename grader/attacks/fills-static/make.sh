# attack  02.1 right, with a static array that leaves no memory for the arrays of a call
# hopes   a worker that cannot start its threads, or map its arrays, is an error of the grader
# stopped by 64 MiB of static arrays, counted in the object
# earns   0
# verdict FAIL
# words   has 2015 MiB of static arrays, and units may have 64
cat >>linear.c <<'C'
static char all[2015L << 20];
char *mt_all(long i);
char *mt_all(long i)
{
    return all + i;
}
C
