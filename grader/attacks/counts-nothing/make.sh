# attack  04.5 five passes in functions without instrumentation, beside one pass over nothing that has it
# hopes   bytes that are not seen are not moved
# stopped by the unit's preprocessed text is read: no attribute that switches instrumentation off
# earns   0
# verdict FAIL
# words   has the attribute `no_sanitize`, which units may not have
sed -i '/^#include/!s/^void mt_/#define QUIET(what) no_##what("thread")\n__attribute__((QUIET(sanitize))) void mt_/' adamw.c
