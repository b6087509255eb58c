/* moves.c -- functions of the C library that move data, wrapped by the linker (link.c): what they read and write is
 * counted like the accesses of the unit (traffic.c). Others of string.h are built of these, or only look. */
#include "worker/moves.h"
#include "worker/unseen.h"

#include <stdlib.h>
#include <string.h>

#define READS(from, bytes) mg_touch(from, bytes, false, (uintptr_t)__builtin_return_address(0))
#define WRITES(to, bytes)  mg_touch(to, bytes, true, (uintptr_t)__builtin_return_address(0))

/* A function, and what it does before or behind the library's. */
#define WRAP(type, name, parameters, arguments, before, behind) \
    type __real_##name parameters;                              \
    type __wrap_##name parameters;                              \
    type __wrap_##name parameters                               \
    {                                                           \
        before;                                                 \
        type result = __real_##name arguments;                  \
        behind;                                                 \
        return result;                                          \
    }
#define COPY_BYTES(name) \
    WRAP(void *, name, (void *to, const void *from, size_t n), (to, from, n), (READS(from, n), WRITES(to, n)), )
#define COPY_STRING(name, end)                                   \
    WRAP(char *, name, (char *to, const char *from), (to, from), \
         (READS(from, strlen(from) + 1), WRITES(end, strlen(from) + 1)), )
#define COPY_PART(name, end)                                                  \
    WRAP(char *, name, (char *to, const char *from, size_t n), (to, from, n), \
         (READS(from, strnlen(from, n)), WRITES(end, n)), )
#define COMPARE(name) WRAP(int, name, (const void *a, const void *b, size_t n), (a, b, n), (READS(a, n), READS(b, n)), )
#define NOTHING(name, parameters, arguments, before) \
    void __real_##name parameters;                   \
    void __wrap_##name parameters;                   \
    void __wrap_##name parameters                    \
    {                                                \
        before;                                      \
        __real_##name arguments;                     \
    }

COPY_BYTES(memcpy)
COPY_BYTES(memmove)
COPY_BYTES(mempcpy)
WRAP(void *, memset, (void *to, int value, size_t n), (to, value, n), WRITES(to, n), )
WRAP(void *, memccpy, (void *to, const void *from, int c, size_t n), (to, from, c, n), ,
     n = result ? (size_t)((char *)result - (char *)to) : n;
     READS(from, n); WRITES(to, n))
NOTHING(bcopy, (const void *from, void *to, size_t n), (from, to, n), (READS(from, n), WRITES(to, n)))
NOTHING(bzero, (void *to, size_t n), (to, n), WRITES(to, n))
COPY_STRING(strcpy, to)
COPY_STRING(stpcpy, to)
COPY_STRING(strcat, to + strlen(to))
COPY_PART(strncpy, to)
COPY_PART(stpncpy, to)
WRAP(char *, strncat, (char *to, const char *from, size_t n), (to, from, n),
     (READS(from, strnlen(from, n)), WRITES(to + strlen(to), strnlen(from, n) + 1)), )
COMPARE(memcmp)
COMPARE(bcmp)

/* Each element is read and written once at least. */
typedef int order(const void *a, const void *b);
typedef int order_with(const void *a, const void *b, void *with);
NOTHING(qsort, (void *at, size_t n, size_t size, order *o), (at, n, size, o), (READS(at, n *size), WRITES(at, n *size)))
NOTHING(qsort_r, (void *at, size_t n, size_t size, order_with *o, void *with), (at, n, size, o, with),
        (READS(at, n *size), WRITES(at, n *size)))

/* Functions of math.h that return a second result by a pointer. */
#define SECOND(type, name, other) WRAP(type, name, (type x, other * to), (x, to), WRITES(to, sizeof *to), )
#define QUOTIENT(type, name)      WRAP(type, name, (type x, type y, int *to), (x, y, to), WRITES(to, sizeof *to), )
#define BOTH(type, name) \
    NOTHING(name, (type x, type * s, type * c), (x, s, c), (WRITES(s, sizeof *s), WRITES(c, sizeof *c)))
SECOND(float, modff, float)
SECOND(double, modf, double)
SECOND(float, frexpf, int)
SECOND(double, frexp, int)
QUOTIENT(float, remquof)
QUOTIENT(double, remquo)
BOTH(float, sincosf)
BOTH(double, sincos)

/* Functions that look at memory, convert text or print to memory. */
UNSEEN4(strlen, strnlen, strcmp, strncmp)
UNSEEN4(strcasecmp, strncasecmp, memchr, memrchr)
UNSEEN4(rawmemchr, memmem, strchr, strrchr)
UNSEEN4(strchrnul, strstr, strspn, strcspn)
UNSEEN4(strpbrk, strsep, strtok, strtok_r)
UNSEEN4(strtol, strtoll, strtoul, strtoull)
UNSEEN4(strtof, strtod, strtold, atoi)
UNSEEN4(atol, atoll, atof, snprintf)
UNSEEN4(vsnprintf, sprintf, vsprintf, sscanf)
UNSEEN(__isoc99_sscanf)
