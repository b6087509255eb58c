# attack  04.5 the functions that the compiler calls for each access, called by the unit under another name
# hopes   it reports the minimum, and what it moves is not seen
# stopped by the unit's preprocessed text is read: no name of these functions
# earns   8
# verdict FAIL
# stops   any number of threads
# words   has `asm("__tsan_read4")`, which units may not have
cat >>adamw.c <<'C'
#ifdef __SANITIZE_THREAD__
void report(const void *p) __asm__("__tsan_" "read4");
void report_all(const float *p, long n);
void report_all(const float *p, long n)
{
    for (long i = 0; i < n; i++)
        report(p + i);
}
#endif
C
