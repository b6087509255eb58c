/* request.c -- the cost of one memory instruction of a warp.
 *
 * Global memory is moved in sectors of 32 bytes. Shared memory has 32 banks of 4 bytes: in a wavefront every bank
 * serves one word, to any number of lanes, so the cost is the largest number of different words that one bank has to
 * serve. Accesses of 8 bytes are split into half warps and of 16 bytes into quarters: wavefronts of 128 bytes each.
 * Atomic updates of one word are serialised.
 */
#include "emulator/count/report.h"
#include "emulator/count/tally.h"

/* Most requests have a constant stride: *step is it, in bytes. False: the stride varies. */
static bool even_step(const uint64_t *a, int count, int64_t *step)
{
    *step = count > 1 ? (int64_t)(a[1] - a[0]) : 0;
    uint64_t differs = 0;
    for (int i = 1; i < count; i++)
        differs |= (a[i] - a[i - 1]) ^ (uint64_t)*step;
    return !differs;
}

static bool among(const uint64_t *set, int count, uint64_t value)
{
    for (int i = count; i-- > 0;)
        if (set[i] == value)
            return true;
    return false;
}

int emu_sectors(const uint64_t *a, int count, int size)
{
    int64_t step;
    if (even_step(a, count, &step)) {
        uint64_t low = step < 0 ? a[count - 1] : a[0], high = step < 0 ? a[0] : a[count - 1];
        return step > 32 || step < -32 ? count : (int)(((high + (uint64_t)size - 1) >> 5) - (low >> 5)) + 1;
    }
    uint64_t sectors[EMU_WARP_SIZE]; /* an access is aligned to its size, so it lies in one */
    int found = 0;
    for (int i = 0; i < count; i++)
        if (!among(sectors, found, a[i] >> 5))
            sectors[found++] = a[i] >> 5;
    return found;
}

/* Wavefronts of one group of lanes that the banks serve together. */
static int group_wavefronts(const uint64_t *a, int count, int size, bool atomic)
{
    uint64_t words[4 * EMU_WARP_SIZE];
    uint8_t of_bank[32] = { 0 };
    int found = 0, most = 0;
    for (int i = 0; i < count; i++)
        for (uint64_t w = a[i] >> 2; w <= (a[i] + (uint64_t)size - 1) >> 2; w++) {
            if (!atomic && among(words, found, w))
                continue;
            words[found++] = w;
            if (++of_bank[w & 31] > most)
                most = of_bank[w & 31];
        }
    return most;
}

/* Words with a constant stride of `step` bytes: lanes 32 / gcd(step / 4, 32) apart share a bank. */
static int even_wavefronts(int64_t step, int count)
{
    if (step == 0)
        return 1;
    int64_t words = step / 4;
    int period = 32 >> (words % 32 ? __builtin_ctzll((unsigned long long)words) : 5);
    return (count + period - 1) / period;
}

int emu_wavefronts(const uint64_t *a, int count, int size, uint32_t lanes, bool atomic)
{
    int64_t step;
    bool even = even_step(a, count, &step);
    if (even && !atomic && size <= 4 && (step == size || step == 0))
        return 1;
    if (even && !atomic && size == 4)
        return even_wavefronts(step, count);
    int group = size <= 4 ? 32 : 128 / size, waves = 0, done = 0;
    for (int first = 0; first < 32; first += group) {
        uint32_t mask = group == 32 ? lanes : lanes >> first & ((1u << group) - 1);
        int members = __builtin_popcount(mask);
        if (members)
            waves += group_wavefronts(a + done, members, size, atomic);
        done += members;
    }
    return waves;
}

/* The constant cache serves one word at a time, to all lanes that want it. */
static int constant_passes(const uint64_t *a, int count)
{
    uint64_t words[EMU_WARP_SIZE];
    int found = 0;
    for (int i = 0; i < count; i++)
        if (!among(words, found, a[i] >> 2))
            words[found++] = a[i] >> 2;
    return found;
}

void emu_request(emu_tally *t, const emu_record *like, const uint64_t *a, int count, uint32_t lanes)
{
    int size = emu_size_of(like->what), space = emu_space_of(like->what);
    int passes, ideal;
    if (space == EMU_GLOBAL) {
        passes = emu_sectors(a, count, size);
        ideal = (count * size + 31) / 32;
        t->block_bytes += (uint64_t)(count * size);
        t->totals.busiest = t->block_bytes > t->totals.busiest ? t->block_bytes : t->totals.busiest;
    } else if (space == EMU_CONSTANT) {
        passes = constant_passes(a, count);
        ideal = 1;
    } else {
        passes = emu_wavefronts(a, count, size, lanes, emu_kind_of(like->what) == EMU_ATOMIC);
        ideal = (count * size + 127) / 128;
    }
    emu_counter *site = emu_site_of(t->sites, like->what, like->where);
    site->requests++;
    site->lanes += (uint64_t)count;
    site->passes += (uint64_t)passes;
    site->ideal += (uint64_t)(passes < ideal ? passes : ideal);
    if (EMU_UNLIKELY(emu_keep_requests))
        emu_keep_request(site, a, count, lanes, passes);
}
