/* 08-words.c -- how the checks of byte characters, of the table of words and of decoding run. The table is filled by
 * the slots that come back, and each slot must be one that the contract allows. Rows: 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "rows/traffic.h"
#include "checks/oracle.h"
#include "text/tokenizer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mg_08_bytes(mg_run *run, const void *one_case)
{
    double want[256];
    int64_t hidden = 0;
    (void)one_case;
    for (int b = 0; b < 256; b++) {
        bool visible = b > 32 && b != 127 && b != 173 && (b < 127 || b > 160);
        want[b] = (double)(visible ? b : 256 + hidden++);
    }
    mg_begin(run, "mt_byte_char");
    mg_out(run, "code", MT_I64, MT_SHAPE(256));
    if (mg_call(run))
        mg_expect(run, "code", want, NULL);
}

enum { LOOKUPS = 200, DIFFERENT = 60, CROWD = 7 };
enum { DECODED = 16 /* calls */, LONGEST = 300 /* bytes of a token */ };

/* ---- the table of words ---------------------------------------------------------------------------- */

typedef uint64_t key[2];

static void draw_word(mg_run *run, key k, int64_t size)
{
    uint8_t bytes[16] = { 0 };
    for (int64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)mt_rng_below(mg_rng(run), 256); /* any bytes are text, 0 too */
    bytes[15] = (uint8_t)size;
    memcpy(k, bytes, sizeof bytes);
}

/* Another word of the same length, with both halves changed in the same bits. */
static void draw_sibling(mg_run *run, key k, const key of)
{
    uint64_t bits = ((uint64_t)mt_rng_u32(mg_rng(run)) << 32 | mt_rng_u32(mg_rng(run))) & 0x7070707070707;
    k[0] = of[0] ^ bits;
    k[1] = of[1] ^ bits;
}

/* Three words of one home: one with a 0 byte in it, its beginning, and one that differs from it behind the 0 only. */
enum { ZERO_AT = 3, TWINS = 3 };

static void draw_twins(mg_run *run, key *twin)
{
    uint8_t *first = (uint8_t *)twin[0], *begin = (uint8_t *)twin[1];
    do {
        draw_word(run, twin[0], MT_WORD_BYTES);
        first[ZERO_AT] = 0;
        memset(begin, 0, sizeof(key));
        begin[MT_WORD_BYTES] = (uint8_t)mg_pick(mg_rng(run), ZERO_AT + 1, MT_WORD_BYTES - 1);
        memcpy(begin, first, begin[MT_WORD_BYTES]);
    } while (mt_word_home(twin[1]) != mt_word_home(twin[0]));
    do {
        draw_word(run, twin[2], MT_WORD_BYTES);
        memcpy(twin[2], twin[0], ZERO_AT + 1);
    } while (mt_word_home(twin[2]) != mt_word_home(twin[0]));
}

/* The words of a case. Some share one home; some have the same first eight bytes, or the same exclusive or of both
 * halves. One of a crowd has no other bytes than 0: its first half looks like that of an empty slot. The first of
 * those that are alike are twins. */
static void draw_words(mg_run *run, key *words, int64_t kind)
{
    if (kind == MG_WORDS_ALIKE)
        draw_twins(run, words);
    for (int64_t count = kind == MG_WORDS_ALIKE ? TWINS : 0; count < DIFFERENT;) {
        bool first = count % CROWD == 0; /* of a crowd */
        key k;
        draw_word(run, k, kind == MG_WORDS_ALIKE ? MT_WORD_BYTES : mg_pick(mg_rng(run), 1, MT_WORD_BYTES));
        if (kind == MG_WORDS_CROWDED && first)
            k[0] = 0, k[1] = (uint64_t)(1 + count / CROWD % 8) << 56;
        if (kind == MG_WORDS_ALIKE && count % CROWD > CROWD / 2)
            draw_sibling(run, k, words[count - 1]);
        else if (kind == MG_WORDS_ALIKE && !first)
            k[0] = words[count - 1][0];
        if (kind == MG_WORDS_ANY || first || mt_word_home(k) == mt_word_home(words[count - 1]))
            memcpy(words[count++], k, sizeof k);
    }
}

/* What the table holds, as the answers filled it: may this slot be returned for this word? */
static bool allowed(key *table, const key word, int64_t slot, const char **why)
{
    int64_t home = mt_word_home(word);
    bool there = false, room = false;
    *why = "none of the slots where this word may be";
    if (slot < home || slot >= home + MT_WORD_WAYS)
        return false;
    for (int64_t i = home; i < home + MT_WORD_WAYS; i++) {
        there |= memcmp(table[i], word, sizeof(key)) == 0;
        room |= table[i][1] == 0;
    }
    *why = there ? "not the slot that holds this word" : "taken by another word, and there is an empty one";
    return there ? memcmp(table[slot], word, sizeof(key)) == 0 : !room || table[slot][1] == 0;
}

/* A word in a message: letters and digits as they are, other bytes as \xNN. */
static const char *spelling(const key word)
{
    static char text[4 * MT_WORD_BYTES + 1];
    const uint8_t *bytes = (const uint8_t *)word;
    char *to = text;
    for (int i = 0; i < bytes[MT_WORD_BYTES]; i++)
        to += sprintf(to, bytes[i] < 128 && isalnum(bytes[i]) ? "%c" : "\\x%02x", bytes[i]);
    return text;
}

void mg_08_words(mg_run *run, const void *one_case)
{
    static key table[MT_WORDS];
    const words_case *c = one_case;
    key words[DIFFERENT], asked[LOOKUPS];
    const char *why;
    draw_words(run, words, c->kind);
    memset(table, 0, sizeof table);
    mg_begin(run, "mt_word_slot, again and again");
    mg_out(run, "slot", MT_I64, MT_SHAPE(LOOKUPS));
    for (int64_t i = 0; i < LOOKUPS; i++)
        memcpy(asked[i], words[c->kind == MG_WORDS_ALIKE && i < TWINS ? i : mt_rng_below(mg_rng(run), DIFFERENT)],
               sizeof(key));
    memcpy(mg_in(run, "keys", MT_I64, MT_SHAPE(LOOKUPS, 2)), asked, sizeof asked);
    if (!mg_shared_call(run))
        return;
    const int64_t *slot = mg_result(run, "slot");
    for (int64_t i = 0; i < LOOKUPS; i++) {
        if (!allowed(table, asked[i], slot[i], &why)) {
            char got[40];
            snprintf(got, sizeof got, slot[i] == INT64_MIN ? "NULL" : "slot %lld", (long long)slot[i]);
            if (c->kind == MG_WORDS_ALIKE && i < TWINS)
                mg_hint(run, "a word may contain bytes of 0, and begin like another: compare all 16 bytes of the key");
            if (slot[i] < mt_word_home(asked[i]) && slot[i] > mt_word_home(asked[i]) - MT_WORD_WAYS)
                mg_hint(run, "this slot is before the home: the remainder of a negative number is negative, but a key "
                             "is unsigned");
            mg_fail(run, "look-up %lld, word '%s', home %lld: returned %s, which is %s", (long long)i,
                    spelling(asked[i]), (long long)mt_word_home(asked[i]), got, why);
            return;
        }
        memcpy(table[slot[i]], asked[i], sizeof(key));
    }
}

/* ---- decoding ------------------------------------------------------------------------------------ */

/* Token 0 has `first` bytes, and is the first of the ids; all others have 1 to 4 bytes. The text has room for
 * `room`. */
static bool decode_once(mg_run *run, const char *part, int64_t tokens, int64_t n, int64_t first, int64_t room)
{
    mt_rng *rng = mg_rng(run);
    int64_t *at = calloc((size_t)tokens + 1, sizeof *at), size = 0;
    double *want = mg_doubles(room), total;
    MT_CHECK(at, "out of memory for %lld tokens", (long long)tokens);
    mg_part(run, part, part ? "ids, places and lengths need more than 16 bits here" : NULL);
    for (int64_t i = 0; i < tokens; i++)
        at[i + 1] = at[i] + (i == 0 ? first : mg_pick(rng, 1, 4));
    mg_begin(run, "mt_bpe_decode");
    mg_out(run, "size", MT_I64, MT_SHAPE(1));
    mg_out(run, "text", MT_U8, MT_SHAPE(room));
    int32_t *ids = mg_in(run, "ids", MT_I32, MT_SHAPE(n));
    uint8_t *bytes = mg_in(run, "bytes", MT_U8, MT_SHAPE(at[tokens]));
    memcpy(mg_in(run, "start", MT_I64, MT_SHAPE(tokens + 1)), at, (size_t)(tokens + 1) * sizeof *at);
    for (int64_t i = 0; i < at[tokens]; i++)
        bytes[i] = (uint8_t)mt_rng_below(rng, 256);
    for (int64_t i = 0; i < n; i++) { /* the worker clears the text first */
        ids[i] = i == 0 ? 0 : (int32_t)mg_pick(rng, n > LONGEST, tokens - 1);
        for (int64_t k = at[ids[i]]; k < at[ids[i] + 1]; k++)
            want[size++] = bytes[k];
    }
    total = (double)size;
    bool good = mg_call(run) && mg_expect(run, "size", &total, NULL) && mg_expect(run, "text", want, NULL);
    free(at);
    free(want);
    return good;
}

void mg_08_decode(mg_run *run, const void *one_case)
{
    const text_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    for (int t = 0; t < DECODED; t++) {
        int64_t n = mg_pick(rng, c->most / 2, c->most);
        if (!decode_once(run, NULL, mg_pick(rng, 1, 20), n, mg_pick(rng, 257, LONGEST), LONGEST * n))
            return;
    }
    if (decode_once(run, "a large vocabulary", 200000, c->most, LONGEST, LONGEST * c->most) && c->most &&
        decode_once(run, "a text of more than 65536 bytes", 20, 1 << 16, LONGEST, (4 << 16) + LONGEST))
        decode_once(run, "the longest token", 10, 3, 1 << 16, 3 << 16);
}
