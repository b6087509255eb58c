# attack  02.1 right, with a gigabyte of variables for each thread, so that none can be started
# hopes   a worker that cannot start its threads is an error of the grader
# stopped by 4 MiB of such variables, counted in the object
# earns   0
# verdict FAIL
# words   MiB of variables for each thread, and units may have 4
cat >>linear.c <<'C'
static _Thread_local char all[2015L << 20];
char *mt_all(long i);
char *mt_all(long i)
{
    return all + i;
}
C
