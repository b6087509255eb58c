/* 08-words.c -- how the checks of the table of words run: a table is filled by the slots that come back, and each
 * slot must be one that the contract allows. Rows: 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "text/tokenizer.h"

#include <string.h>

enum { LOOKUPS = 200, DIFFERENT = 60, CROWD = 7 };

typedef uint64_t key[2];

static void draw_word(mg_run *run, key k, int64_t size)
{
    uint8_t bytes[16] = { 0 };
    for (int64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)mg_pick(mg_rng(run), 'a', 'z');
    bytes[15] = (uint8_t)size;
    memcpy(k, bytes, sizeof bytes);
}

/* The words of a case. Some share one home; some have the same first eight bytes. */
static void draw_words(mg_run *run, key *words, int64_t kind)
{
    for (int64_t count = 0; count < DIFFERENT;) {
        bool first = count % CROWD == 0; /* of a crowd */
        key k;
        draw_word(run, k, kind == MG_WORDS_ALIKE ? MT_WORD_BYTES : mg_pick(mg_rng(run), 1, MT_WORD_BYTES));
        if (kind == MG_WORDS_ALIKE && !first)
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
    *why = "none of the slots where this word may lie";
    if (slot < home || slot >= home + MT_WORD_WAYS)
        return false;
    for (int64_t i = home; i < home + MT_WORD_WAYS; i++) {
        there |= memcmp(table[i], word, sizeof(key)) == 0;
        room |= table[i][1] == 0;
    }
    *why = there ? "not the slot that holds this word" : "a word is overwritten although there is an empty slot";
    return there ? memcmp(table[slot], word, sizeof(key)) == 0 : !room || table[slot][1] == 0;
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
        memcpy(asked[i], words[mt_rng_below(mg_rng(run), DIFFERENT)], sizeof(key));
    memcpy(mg_in(run, "keys", MT_I64, MT_SHAPE(LOOKUPS, 2)), asked, sizeof asked);
    if (!mg_call(run))
        return;
    const int64_t *slot = mg_result(run, "slot");
    for (int64_t i = 0; i < LOOKUPS; i++) {
        if (!allowed(table, asked[i], slot[i], &why)) {
            mg_fail(run, "look-up %lld, '%.8s', home %lld: slot %lld is %s", (long long)i, (const char *)asked[i],
                    (long long)mt_word_home(asked[i]), (long long)slot[i], why);
            return;
        }
        memcpy(table[slot[i]], asked[i], sizeof(key));
    }
}
