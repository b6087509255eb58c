/* simd.h -- CUDA's integer functions for the two 16-bit or four 8-bit numbers of a word: __vadd4, __vabsdiffu4 ... */
#ifndef CUEMU_SIMD_H
#define CUEMU_SIMD_H

/* Each number of the result is f of the two at its place, reduced to its bits. */
template <class T, class F> CUEMU_INLINE unsigned cuemu_each(unsigned x, unsigned y, F f)
{
    unsigned result = 0;
    for (unsigned i = 0; i < 32; i += 8 * sizeof(T))
        result |= (unsigned)(typename std::make_unsigned<T>::type)f((T)(x >> i), (T)(y >> i)) << i;
    return result;
}
template <class T, class F> CUEMU_INLINE unsigned cuemu_sum_of_each(unsigned x, unsigned y, F f)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 32; i += 8 * sizeof(T))
        sum += (unsigned)f((T)(x >> i), (T)(y >> i));
    return sum;
}
template <class T> CUEMU_INLINE int cuemu_saturated(int x)
{
    const int least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    return x < least ? least : x > most ? most : x;
}

#define CUEMU_EACH(name, each, type, parameters, y, expression)                          \
    CUEMU_INLINE unsigned name parameters                                                \
    {                                                                                    \
        typedef type T;                                                                  \
        return each<T>(x, y, [](int a, int b) { return (void)a, (void)b, expression; }); \
    }
#define CUEMU_PAIRS(name, sign, expression)                                              \
    CUEMU_EACH(name##2, cuemu_each, sign##16_t, (unsigned x, unsigned y), y, expression) \
    CUEMU_EACH(name##4, cuemu_each, sign##8_t, (unsigned x, unsigned y), y, expression)
#define CUEMU_SINGLES(name, expression)                                   \
    CUEMU_EACH(name##2, cuemu_each, int16_t, (unsigned x), 0, expression) \
    CUEMU_EACH(name##4, cuemu_each, int8_t, (unsigned x), 0, expression)
#define CUEMU_SUMS(name, sign, expression)                                                      \
    CUEMU_EACH(name##2, cuemu_sum_of_each, sign##16_t, (unsigned x, unsigned y), y, expression) \
    CUEMU_EACH(name##4, cuemu_sum_of_each, sign##8_t, (unsigned x, unsigned y), y, expression)

CUEMU_PAIRS(__vadd, uint, a + b)
CUEMU_PAIRS(__vaddus, uint, cuemu_saturated<T>(a + b))
CUEMU_PAIRS(__vaddss, int, cuemu_saturated<T>(a + b))
CUEMU_PAIRS(__vsub, uint, a - b)
CUEMU_PAIRS(__vsubus, uint, cuemu_saturated<T>(a - b))
CUEMU_PAIRS(__vsubss, int, cuemu_saturated<T>(a - b))
CUEMU_PAIRS(__vhaddu, uint, (a + b) >> 1)
CUEMU_PAIRS(__vavgu, uint, (a + b + 1) >> 1)
CUEMU_PAIRS(__vabsdiffu, uint, a < b ? b - a : a - b)
CUEMU_PAIRS(__vabsdiffs, int, a < b ? b - a : a - b)
CUEMU_PAIRS(__vminu, uint, a < b ? a : b)
CUEMU_PAIRS(__vmins, int, a < b ? a : b)
CUEMU_PAIRS(__vmaxu, uint, a > b ? a : b)
CUEMU_PAIRS(__vmaxs, int, a > b ? a : b)
CUEMU_SINGLES(__vneg, -a)
CUEMU_SINGLES(__vnegss, cuemu_saturated<T>(-a))
CUEMU_SINGLES(__vabs, a < 0 ? -a : a)
CUEMU_SINGLES(__vabsss, cuemu_saturated<T>(a < 0 ? -a : a))
CUEMU_SUMS(__vsadu, uint, a < b ? b - a : a - b)
CUEMU_SUMS(__vsads, int, a < b ? b - a : a - b)

/* All bits, or 1, where it holds. */
#define CUEMU_COMPARISON(name, sign, op)             \
    CUEMU_PAIRS(__vcmp##name, sign, a op b ? -1 : 0) \
    CUEMU_PAIRS(__vset##name, sign, a op b)
CUEMU_COMPARISON(eq, uint, ==)
CUEMU_COMPARISON(ne, uint, !=)
CUEMU_COMPARISON(ltu, uint, <)
CUEMU_COMPARISON(lts, int, <)
CUEMU_COMPARISON(leu, uint, <=)
CUEMU_COMPARISON(les, int, <=)
CUEMU_COMPARISON(gtu, uint, >)
CUEMU_COMPARISON(gts, int, >)
CUEMU_COMPARISON(geu, uint, >=)
CUEMU_COMPARISON(ges, int, >=)

#endif
