/* 08-tokenizer.c -- how the checks of the tokenizer run: pieces, merges, whole texts. Rows: 08-gpt2.c.
 *
 * Texts are built from parts whose kind is known, so that nothing here uses the framework's tables. Pieces are found
 * by trying GPT-2's rules one after the other; merges are done rule by rule over the whole piece, which is the same
 * as lowest first, because no rule makes what an earlier one merges. */
#include "checks/08-gpt2.h"
#include "rows/traffic.h"
#include "text/vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 16, MOST = 400, RULES = 40, MANY = 600 /* symbols: hundreds of merges, behind place 255 too */ };

typedef enum kind { OTHER, LETTER, NUMBER, WHITE } kind;

typedef struct part {
    unsigned of; /* MG_TEXT_... */
    kind kind;
    const char *text; /* one character */
} part;

// clang-format off
static const part parts[] = {
    { MG_TEXT_WORDS, LETTER, "a" }, { MG_TEXT_WORDS, LETTER, "b" }, { MG_TEXT_WORDS, LETTER, "c" },
    { MG_TEXT_WORDS, LETTER, "d" }, { MG_TEXT_WORDS, LETTER, "A" }, { MG_TEXT_WORDS, LETTER, "Z" },
    { MG_TEXT_WORDS, LETTER, "z" }, { MG_TEXT_WORDS, WHITE, " " }, { MG_TEXT_WORDS, WHITE, " " },
    { MG_TEXT_ENDINGS, OTHER, "'" }, { MG_TEXT_ENDINGS, OTHER, "'" }, { MG_TEXT_ENDINGS, OTHER, "'" },
    { MG_TEXT_ENDINGS, LETTER, "s" }, { MG_TEXT_ENDINGS, LETTER, "t" }, { MG_TEXT_ENDINGS, LETTER, "r" },
    { MG_TEXT_ENDINGS, LETTER, "e" }, { MG_TEXT_ENDINGS, LETTER, "v" }, { MG_TEXT_ENDINGS, LETTER, "m" },
    { MG_TEXT_ENDINGS, LETTER, "l" }, { MG_TEXT_ENDINGS, LETTER, "l" }, { MG_TEXT_ENDINGS, LETTER, "S" },
    { MG_TEXT_SIGNS, NUMBER, "0" }, { MG_TEXT_SIGNS, NUMBER, "9" }, { MG_TEXT_SIGNS, OTHER, "!" },
    { MG_TEXT_SIGNS, OTHER, "-" }, { MG_TEXT_SIGNS, OTHER, "@" }, { MG_TEXT_SIGNS, OTHER, "[" },
    { MG_TEXT_SIGNS, OTHER, "" }, /* a byte of 0 */
    { MG_TEXT_WHITE, WHITE, " " }, { MG_TEXT_WHITE, WHITE, " " }, { MG_TEXT_WHITE, WHITE, "\n" },
    { MG_TEXT_WHITE, WHITE, "\t" }, { MG_TEXT_WHITE, WHITE, "\r" }, { MG_TEXT_WHITE, LETTER, "x" },
    { MG_TEXT_SCRIPTS, LETTER, "\xc3\xa9" }, { MG_TEXT_SCRIPTS, LETTER, "\xd0\x96" },
    { MG_TEXT_SCRIPTS, LETTER, "\xe4\xb8\xad" }, { MG_TEXT_SCRIPTS, LETTER, "\xf0\xa0\x80\x80" },
    { MG_TEXT_SCRIPTS, NUMBER, "\xc2\xb2" }, { MG_TEXT_SCRIPTS, NUMBER, "\xd9\xa3" },
    { MG_TEXT_SCRIPTS, NUMBER, "\xe2\x85\xa7" }, { MG_TEXT_SCRIPTS, WHITE, "\xc2\xa0" },
    { MG_TEXT_SCRIPTS, WHITE, "\xe3\x80\x80" }, { MG_TEXT_SCRIPTS, WHITE, "\xc2\x85" },
    { MG_TEXT_SCRIPTS, OTHER, "\xcc\x81" }, { MG_TEXT_SCRIPTS, OTHER, "\xe2\x80\x8d" },
    { MG_TEXT_SCRIPTS, OTHER, "\xf0\x9f\x98\x80" }, { MG_TEXT_SCRIPTS, OTHER, "\xe2\x80\x99" },
    { MG_TEXT_BROKEN, OTHER, "\xff" }, { MG_TEXT_BROKEN, OTHER, "\xc0" }, { MG_TEXT_BROKEN, OTHER, "\xf8" },
    { MG_TEXT_BROKEN, OTHER, "\xe4" }, /* without what should follow */
    { MG_TEXT_BROKEN, OTHER, "\xf0" },
    { MG_TEXT_BROKEN, OTHER, "\xc1\x81" }, /* overlong: "A" in two bytes */
    { MG_TEXT_BROKEN, OTHER, "\xed\xa0\x80" }, /* a surrogate */
};
// clang-format on

/* A text as characters: where each starts, and its kind. */
typedef struct sample {
    uint8_t text[MOST];
    int64_t start[MOST + 1]; /* [n + 1] */
    kind kind[MOST];
    int64_t n;
} sample;

static int64_t sample_size(const sample *s)
{
    return s->start[s->n];
}

static void append(sample *s, const void *text, int64_t size, kind of)
{
    memcpy(s->text + s->start[s->n], text, (size_t)size);
    s->kind[s->n] = of;
    s->start[s->n + 1] = s->start[s->n] + size;
    s->n++;
}

/* Repeats a part of the text: words occur more than once. */
static void repeat(sample *s, int64_t count, int64_t most)
{
    for (int64_t i = s->n - count; count > 0 && sample_size(s) + 4 <= most; i++, count--)
        append(s, s->text + s->start[i], s->start[i + 1] - s->start[i], s->kind[i]);
}

/* Letters, blanks and apostrophes. */
static void append_words(sample *s, const char *words)
{
    for (const char *w = words; *w; w++)
        append(s, w, 1, *w == '\'' ? OTHER : *w == ' ' ? WHITE : LETTER);
}

/* Whether the row is about blanks: each of its texts has two before a letter; those of other rows have no two. */
static bool has_runs(const text_case *c)
{
    return c->parts == MG_TEXT_WORDS || (c->parts & MG_TEXT_WHITE);
}

static void draw(sample *s, mg_run *run, const text_case *c, int64_t most)
{
    static const char *const ending[] = { "'re", "'ve", "'ll", "'RE", "'vd" };
    mt_rng *rng = mg_rng(run);
    s->n = s->start[0] = 0;
    if ((c->parts & MG_TEXT_ENDINGS) && most >= 6) /* every text has something that looks like an ending */
        append_words(s, mt_rng_below(rng, 2) ? "a'S" : "'da'S");
    if ((c->parts & MG_TEXT_ENDINGS) && most >= 60) /* a long one has all of them, and some that are none */
        append_words(s, "'sa'ta'ma'da'rea'vea'lla'xs'la'ra've");
    int64_t longest = most < 300 ? 5 : 260; /* a run of a kind has no greatest length */
    for (int64_t i = 0; i < longest && most >= 30 && sample_size(s) + 15 <= most; i++)
        if (c->parts & MG_TEXT_SIGNS)
            append(s, "0", 1, NUMBER);
        else if (c->parts & MG_TEXT_SCRIPTS)
            append(s, "\xd9\xa3", 2, NUMBER);
    for (bool due = has_runs(c); sample_size(s) + 6 <= most;) {
        const part *p = &parts[mt_rng_below(rng, MT_COUNT(parts))];
        if (due && s->n > 2) {
            append_words(s, "x  x");
            due = false;
        } else if (s->n > 0 && mt_rng_below(rng, 12) == 0 && (has_runs(c) || s->kind[s->n - 1] != WHITE))
            repeat(s, mg_pick(rng, 1, mt_min(s->n, 6)), most);
        else if ((c->parts & MG_TEXT_ENDINGS) && mt_rng_below(rng, 12) == 0)
            append_words(s, ending[mt_rng_below(rng, MT_COUNT(ending))]);
        else if ((p->of & c->parts) && (has_runs(c) || p->kind != WHITE || s->n == 0 || s->kind[s->n - 1] != WHITE))
            append(s, p->text, mt_max((int64_t)strlen(p->text), 1), p->kind);
    }
    if (c->parts & MG_TEXT_BROKEN && sample_size(s) < most)
        append(s, "\xe4", 1, OTHER);
    bool blanks = (c->parts & MG_TEXT_WHITE) || (has_runs(c) && mt_rng_below(rng, 2)); /* at its end */
    for (int i = 0; i < 2 && blanks && sample_size(s) < most; i++)
        append(s, " ", 1, WHITE);
}

/* The last characters of the text become an ending, or the beginning of one. */
static void end_with(sample *s, const char *e)
{
    s->n = mt_max(0, s->n - 3);
    append_words(s, e);
}

/* ---- pieces -------------------------------------------------------------------------------------- */

static bool says(const sample *s, int64_t at, const char *words)
{
    int64_t size = (int64_t)strlen(words);
    return s->start[at] + size <= sample_size(s) && memcmp(s->text + s->start[at], words, (size_t)size) == 0;
}

/* The character after the piece that starts with this one: the rules in their order. */
static int64_t piece_of(const sample *s, int64_t at)
{
    static const char *const endings[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
    static const kind runs[] = { LETTER, NUMBER, OTHER };
    for (int64_t i = 0; i < MT_COUNT(endings); i++)
        if (says(s, at, endings[i]))
            return at + (int64_t)strlen(endings[i]);
    for (int64_t i = 0; i < MT_COUNT(runs); i++) {
        int64_t first = at + says(s, at, " "), end = first;
        while (end < s->n && s->kind[end] == runs[i])
            end++;
        if (end > first)
            return end;
    }
    int64_t end = at;
    while (end < s->n && s->kind[end] == WHITE)
        end++;
    return end < s->n && end - at > 1 ? end - 1 : end;
}

/* The bytes from begin to end, quoted. */
static const char *quoted(char text[200], const sample *s, int64_t begin, int64_t end)
{
    size_t used = (size_t)snprintf(text, 200, "\"");
    for (int64_t i = begin; i < end && used < 180; i++)
        used += (size_t)snprintf(text + used, 200 - used, s->text[i] >= ' ' && s->text[i] < 127 ? "%c" : "\\x%02x",
                                 s->text[i]);
    snprintf(text + used, 200 - used, "\"%s", used >= 180 ? "..." : "");
    return text;
}

/* The first wrong piece, with its text. */
static bool judge_pieces(mg_run *run, const sample *s, const double *want)
{
    const int64_t *ends = mg_result(run, "ends");
    int64_t i = 0, size = sample_size(s);
    while (i < size && (double)ends[i] == want[i])
        i++;
    int64_t begin = i ? ends[i - 1] : 0, got = ends[i];
    if (i == size || want[i] < 0 || got <= begin || got > size)
        return mg_expect(run, "ends", want, NULL);
    char is[200], right[200], rest[200];
    if (s->text[begin + (s->text[begin] == ' ')] == '0' && got < (int64_t)want[i])
        mg_hint(run, "a run of digits is one piece, however long: \\p{N}+, not \\p{N}{1,3}");
    mg_fail(run, "ends[%lld] = %lld   expected %lld\nthe piece is %s   expected %s\nthe text from there on: %s",
            (long long)i, (long long)got, (long long)want[i], quoted(is, s, begin, got),
            quoted(right, s, begin, (int64_t)want[i]), quoted(rest, s, begin, mt_min(size, begin + 40)));
    return false;
}

/* A text of one word, longer than any that a page has. */
static void long_piece(mg_run *run)
{
    enum { LETTERS = 5000 };
    double want[LETTERS] = { LETTERS };
    for (int64_t i = 1; i < LETTERS; i++)
        want[i] = -1;
    mg_part(run, "a long piece", "5000 equal letters are one piece: a piece may have any length");
    mg_begin(run, "mt_piece_end, over a text");
    mg_out(run, "ends", MT_I64, MT_SHAPE(LETTERS));
    memset(mg_in(run, "text", MT_U8, MT_SHAPE(LETTERS)), 'a', LETTERS);
    if (mg_call(run))
        mg_expect(run, "ends", want, NULL);
}

/* A text, which may end with this ending; of which only the first n characters are taken, n > 0. */
static bool pieces_once(mg_run *run, const char *name, const text_case *c, int64_t most, const char *ending, int64_t n,
                        bool searched)
{
    sample s;
    double want[MOST];
    int64_t count = 0;
    mg_part(run, name, NULL);
    draw(&s, run, c, most);
    if (ending)
        end_with(&s, ending);
    s.n = n ? n : s.n;
    int64_t size = sample_size(&s);
    for (int64_t i = 0; i < size; i++)
        want[i] = -1;
    for (int64_t at = 0; at < s.n; at = piece_of(&s, at))
        want[count++] = (double)s.start[piece_of(&s, at)];
    mg_begin(run, "mt_piece_end, over a text");
    mg_out(run, "ends", MT_I64, MT_SHAPE(size));
    memcpy(mg_in(run, "text", MT_U8, MT_SHAPE(size)), s.text, (size_t)size);
    return (searched ? mg_shared_call(run) : mg_call(run)) && judge_pieces(run, &s, want);
}

void mg_08_pieces(mg_run *run, const void *one_case)
{
    static const char *const last[] = { "'", "'r", "'s", "'ve", "'l", "'ll" };
    const text_case *c = one_case;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = pieces_once(run, NULL, c, mg_pick(mg_rng(run), c->most / 4, c->most), NULL, 0, false);
    for (int i = 0; i < MT_COUNT(last) && good && c->parts & MG_TEXT_ENDINGS; i++)
        good = pieces_once(run, "an ending at the end of the text", c, c->most, last[i], 0, false);
    for (int n = 1; n <= 3 && good; n++)
        good = pieces_once(run, "a text of 1 to 3 characters", c, c->most, NULL, n, false);
    if (good && pieces_once(run, "several threads", c, c->most, NULL, 0, true) && c->parts == MG_TEXT_WORDS)
        long_piece(run);
}

/* ---- merges --------------------------------------------------------------------------------------- */

typedef struct rules {
    int64_t count;
    int32_t pair[RULES][2];
} rules;

/* Writes the bytes of a symbol; returns how many there are. */
static int64_t spell(uint8_t *bytes, int32_t symbol, const rules *r)
{
    if (symbol < MT_BYTES) {
        bytes[0] = (uint8_t)symbol;
        return 1;
    }
    const int32_t *pair = r->pair[symbol - MT_BYTES];
    int64_t first = spell(bytes, pair[0], r);
    return first + spell(bytes + first, pair[1], r);
}

/* Rules over the first letters, later ones built on earlier ones; no two make the same bytes, none more than MOST. */
static rules draw_rules(mg_run *run, int64_t letters, int64_t count)
{
    rules r = { 0 };
    mt_strings made = { 0 };
    int64_t size[RULES];
    for (int64_t tries = 0; letters > 0 && r.count < count && tries < 100 * count; tries++) {
        uint8_t bytes[MOST];
        size[r.count] = 0;
        for (int side = 0; side < 2; side++) {
            int64_t pick = mg_pick(mg_rng(run), 0, letters + r.count - 1);
            r.pair[r.count][side] = (int32_t)(pick < letters ? "abc d"[pick] : MT_BYTES + pick - letters);
            size[r.count] += pick < letters ? 1 : size[pick - letters];
        }
        if (size[r.count] > MOST)
            continue;
        int64_t length = spell(bytes, (int32_t)(MT_BYTES + r.count), &r);
        r.count += mt_strings_add(&made, bytes, length) == r.count; /* its number, when it is new */
    }
    mt_strings_free(&made);
    return r;
}

static int64_t merge_all(double *symbol, int64_t n, const rules *r)
{
    for (int64_t k = 0; k < r->count; k++) {
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            bool here = i + 1 < n && symbol[i] == r->pair[k][0] && symbol[i + 1] == r->pair[k][1];
            symbol[kept++] = here ? (double)(MT_BYTES + k) : symbol[i];
            i += here;
        }
        n = kept;
    }
    return n;
}

static void rules_in(mg_run *run, const rules *r)
{
    int32_t *pair = mg_in(run, "rules", MT_I32, MT_SHAPE(r->count, 2));
    memcpy(pair, r->pair, (size_t)r->count * sizeof r->pair[0]);
}

/* Pairs of symbols beyond 15 and 16 bits: the last of so many rules make "dabcdabc" and bytes 225, 64, c; the others
 * make strings of other bytes, rule 40,000 bytes 225 and 64, rule 5 bytes 0 and 5. */
static bool merge_far(mg_run *run)
{
    enum { OTHERS = 66000, PAIRS = 187 * 256, FAR = MT_BYTES + OTHERS, MID = MT_BYTES + 40000 };
    static const int32_t text[] = { 'd', 'a', 'b', 'c', 'd', 'a', 'b', 'c', 225, 64, 'c', 0, 5 };
    static const int32_t last[][2] = {
        { 'a', 'b' }, { FAR, 'c' }, { 'd', FAR + 1 }, { FAR + 2, FAR + 2 }, { MID, 'c' }
    };
    double want[] = { FAR + 3, FAR + 4, MT_BYTES + 5, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 }, left = 3;
    mg_part(run, "symbols beyond 16 bits", "symbols are i32, and some of these have more than 16 bits");
    mg_begin(run, "mt_bpe_merge");
    memcpy(mg_inout(run, "symbol", MT_I32, MT_SHAPE(MT_COUNT(text))), text, sizeof text);
    mg_out(run, "count", MT_I64, MT_SHAPE(1));
    int32_t *pair = mg_in(run, "rules", MT_I32, MT_SHAPE(OTHERS + MT_COUNT(last), 2));
    for (int32_t i = 0, j = 0; i < OTHERS; j = ++i % PAIRS, pair += 2)
        pair[0] = i < PAIRS ? j / 256 + (j / 256 < 32 ? 0 : 69) : MT_BYTES + j / 256, pair[1] = j % 256;
    memcpy(pair, last, sizeof last);
    return mg_call(run) && mg_expect(run, "count", &left, NULL) && mg_expect(run, "symbol", want, NULL);
}

static bool merge_once(mg_run *run, const char *name, const text_case *c, int64_t n, bool searched)
{
    rules r = draw_rules(run, c->letters, c->letters == 1 ? 6 : RULES / 2);
    double want[MANY];
    mg_part(run, name, n == MANY ? "there may be any number of symbols, and of merges" : NULL);
    mg_begin(run, "mt_bpe_merge");
    int32_t *symbol = mg_inout(run, "symbol", MT_I32, MT_SHAPE(n));
    mg_out(run, "count", MT_I64, MT_SHAPE(1));
    rules_in(run, &r);
    for (int64_t i = 0; i < n; i++)
        want[i] = symbol[i] = "abc d"[mt_rng_below(mg_rng(run), (uint32_t)mt_max(c->letters, 1))];
    double left = (double)merge_all(want, n, &r);
    for (int64_t i = (int64_t)left; i < n; i++) /* the worker clears what follows the result */
        want[i] = -1;
    return (searched ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "count", &left, NULL) &&
           mg_expect(run, "symbol", want, NULL);
}

void mg_08_merge(mg_run *run, const void *one_case)
{
    const text_case *c = one_case;
    bool good = true;
    for (int t = 0; t < 2 * CALLS && good; t++)
        good = merge_once(run, NULL, c, mg_pick(mg_rng(run), 2, c->most), false);
    if (good && merge_once(run, "no symbols", c, 0, false) && merge_once(run, "one symbol", c, 1, false) &&
        merge_once(run, "several threads", c, c->most, true) &&
        merge_once(run, "hundreds of symbols", c, MANY, false) && c->letters == 4)
        merge_far(run);
}

/* The whole way, through the given encoder. Ids are symbols. Each text ends with a word of letters that rules merge. */
void mg_08_encode(mg_run *run, const void *one_case)
{
    const text_case *c = one_case;
    for (int t = 0; t < CALLS; t++) {
        sample s;
        double want[MOST];
        int64_t n = 0;
        rules r = draw_rules(run, c->letters, RULES);
        draw(&s, run, c, mg_pick(mg_rng(run), c->most / 2, c->most));
        append_words(&s, " ");
        for (int i = 0; i < 30; i++)
            append(&s, &"abc"[mt_rng_below(mg_rng(run), 3)], 1, LETTER);
        for (int64_t at = 0, end; at < s.n; at = end) {
            end = piece_of(&s, at);
            for (int64_t i = s.start[at]; i < s.start[end]; i++)
                want[n + i - s.start[at]] = s.text[i];
            n += merge_all(want + n, s.start[end] - s.start[at], &r);
        }
        for (int64_t i = n; i < sample_size(&s); i++)
            want[i] = -1;
        mg_begin(run, "mt_encode");
        mg_out(run, "ids", MT_I32, MT_SHAPE(sample_size(&s)));
        memcpy(mg_in(run, "text", MT_U8, MT_SHAPE(sample_size(&s))), s.text, (size_t)sample_size(&s));
        rules_in(run, &r);
        if (!mg_call(run) || !mg_expect(run, "ids", want, NULL))
            return;
    }
}
