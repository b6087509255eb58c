/* 08-gpt2.c -- the rows of lab 08. How they run: 08-tokenizer.c, 08-words.c, 08-attention.c. */
#include "checks/08-gpt2.h"

// clang-format off
static const text_case pieces_cases[] = {
    { { 3, "words", "a word takes the one blank before it, and no more" }, MG_TEXT_WORDS, 0, 60 },
    { { 3, "endings", "'s 't 're 've 'm 'll 'd come first, at the start of a piece, in lower case" }, MG_TEXT_WORDS | MG_TEXT_ENDINGS, 0, 60 },
    { { 2, "numbers and signs", "a piece is of one kind; the blank before it may be there for each kind" }, MG_TEXT_WORDS | MG_TEXT_SIGNS, 0, 60 },
    { { 3, "white space", "all but its last character, unless it ends the text or is only one" }, MG_TEXT_WORDS | MG_TEXT_WHITE, 0, 60 },
    { { 2, "other scripts", "ask mt_char_kind; a character has 1 to 4 bytes, also a white one" }, MG_TEXT_WHITE | MG_TEXT_SCRIPTS, 0, 60 },
    { { 1, "bytes that are not UTF-8", "each is a character of the kind of punctuation" }, MG_TEXT_WORDS | MG_TEXT_BROKEN, 0, 60 },
    { { 2, "everything", "the text may end anywhere: do not look behind it" }, ~0u, 0, 300 },
};
static const text_case bytes_cases[] = {
    { { 3, "all 256", "33-126, 161-172 and 174-255 stand for themselves; the others are 256, 257, ... in order" }, 0, 0, 0 },
};
static const text_case merge_cases[] = {
    { { 5, "by rank", "what makes the lowest symbol goes first, wherever it is; then look again" }, 0, 4, 40 },
    { { 2, "runs", "of equal neighbours the leftmost" }, 0, 1, 40 },
    { { 1, "nothing to merge", "no symbols, one symbol, no rules: nothing changes" }, 0, 0, 3 },
};
static const words_case words_cases[] = {
    { { 2, "words met again", "the slot whose key is this one" }, MG_WORDS_ANY },
    { { 2, "a crowd in one place", "look at all MT_WORD_WAYS slots; an empty one is better than one that is taken" }, MG_WORDS_CROWDED },
    { { 2, "words that begin alike", "compare both halves of the key" }, MG_WORDS_ALIKE },
};
static const text_case decode_cases[] = {
    { { 3, "spellings", "id i is spelled from start[i] up to start[i + 1]" }, 0, 0, 40 },
    { { 1, "no ids", "nothing is written" }, 0, 0, 0 },
};
static const text_case encode_cases[] = {
    { { 3, "whole texts", "pieces, merges and words work together: grade those first" }, MG_TEXT_WORDS | MG_TEXT_WHITE, 4, 300 },
    { { 2, "texts of everything", "every byte has a symbol; nothing is lost" }, ~0u, 4, 300 },
};

/* ---- 08.5, 08.6, 08.8 attention: tokens, scores, what is judged */
#define TOKENS(count, size) .tokens = MG_TOKENS_##count, .scores = MG_SCORES_##size
#define JUDGE(what)         .judged = MG_JUDGE_##what
static const attention_case attention_cases[] = {
    { { 1, "one token", "softmax of one score is 1: out is the value, lse the score" }, TOKENS(ONE, ANY), JUDGE(BOTH) },
    { { 3, "random texts", "score = q . k / sqrt(D), with D = C / H; out sums the values, each times its probability" }, TOKENS(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries", "query i sees the keys 0 to i: its own too, and none after it" }, TOKENS(FEW, ANY), JUDGE(OUT) },
    { { 2, "many heads", "head h has columns h*D to h*D+D-1 of queries, keys, values and out" }, TOKENS(SHORT, ANY), JUDGE(OUT), .heads = true },
    { { 3, "tiles of keys", "softmax is over the keys of all tiles: each tile adds to the sum of those before" }, TOKENS(TILES, ANY), JUDGE(OUT) },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score first" }, TOKENS(SHORT, LARGE), JUDGE(OUT) },
    { { 3, "growing scores", "with a larger maximum, all that was summed before shrinks by e^(before - max)" }, TOKENS(TILES, SLOWLY), JUDGE(OUT) },
    { { 1, "fast growing scores", "e^(before - max), not e^(max - before): the first is at most 1" }, TOKENS(TILES, GROWING), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not of the last tile" }, TOKENS(TILES, SHRINKING), JUDGE(OUT) },
    { { 2, "log-sum-exp", "the sum shrinks too when the maximum grows; lse = max + log(sum)" }, TOKENS(TILES, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "T = 0 or B = 0 must touch nothing" }, TOKENS(NONE, ANY), JUDGE(BOTH) },
};
static const attention_race attention_race_cases[] = {
    { { 6, "speed", "mt_expf in a loop becomes vector code; libm's exp is called once for each score" }, .T = 512, .bar = "08.5" },
};
static const attention_case attention_backward_cases[] = {
    { { 3, "dq", "the scores' gradient times the keys, where that gradient is p * (dp - delta), times 1 / sqrt(D) like the scores" }, TOKENS(SHORT, ANY), JUDGE(DQ) },
    { { 3, "dk", "the scores' gradient, transposed, times the queries: 0 where a key is not visible" }, TOKENS(SHORT, ANY), JUDGE(DK) },
    { { 3, "dv", "the probabilities, transposed, times dout: p = e^(score / sqrt(D) - lse), 0 where a key is not visible" }, TOKENS(SHORT, ANY), JUDGE(DV) },
    { { 1, "first tokens", "the last query sees all keys, the first only its own" }, TOKENS(FEW, ANY), JUDGE(ALL) },
    { { 1, "one token", "a probability of 1 has no slope: dq and dk are 0, dv is dout" }, TOKENS(ONE, ANY), JUDGE(ALL) },
    { { 2, "tiles of keys", "a query gets its gradient from all tiles of keys, a key from all tiles of queries" }, TOKENS(TILES, ANY), JUDGE(ALL) },
    { { 2, "large scores", "subtract lse before the exponential: e^score alone overflows float" }, TOKENS(SHORT, LARGE), JUDGE(ALL) },
    { { 2, "adds to what is there", "gradients accumulate: += and not =" }, TOKENS(TILES, SLOWLY), JUDGE(ALL), .heads = true, .held = true },
    { { 1, "no tokens", "T = 0 or B = 0 must touch nothing" }, TOKENS(NONE, ANY), JUDGE(ALL) },
};
static const attention_race attention_backward_race_cases[] = {
    { { 5, "speed", "as in forward: mt_expf in a loop becomes vector code; libm's exp is called once for each score" }, .backward = true, .T = 384, .bar = "08.6" },
};
static const attention_case cached_cases[] = {
    { { 1, "first token", "at place 0 the token is its own only key: out is its value" }, TOKENS(ONE, ANY), JUDGE(OUT) },
    { { 3, "random places", "keys 0 to place, place included; each score divided by sqrt(D), each value times its weight" }, TOKENS(SHORT, ANY), JUDGE(OUT) },
    { { 1, "many heads", "row j of the cache: C numbers of key, then C of value; head h has D of each, from h*D on" }, TOKENS(SHORT, ANY), JUDGE(OUT), .heads = true },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score so far" }, TOKENS(SHORT, LARGE), JUDGE(OUT) },
    { { 2, "growing scores", "with a larger maximum, sum and out shrink by e^(old max - new max)" }, TOKENS(TILES, SLOWLY), JUDGE(OUT) },
    { { 1, "the cache itself", "row `place` gets the token's key and value; no other row changes" }, TOKENS(SHORT, ANY), JUDGE(CACHE) },
};
static const attention_case cached_text_cases[] = {
    { { 2, "token by token", "one cache from the first token on gives what attention over the whole text gives" }, TOKENS(TILES, ANY), JUDGE(OUT) },
};
#undef TOKENS
#undef JUDGE

#define GROUP(step, title, run, cases) MG_GROUP(step, title, mg_08_##run, cases##_cases)

static const mg_group groups[] = {
    GROUP("08.1", "pieces", pieces, pieces),
    GROUP("08.2", "characters of bytes", bytes, bytes),
    GROUP("08.2", "merge", merge, merge),
    GROUP("08.2", "table of words", words, words),
    GROUP("08.2", "decode", decode, decode),
    GROUP("08.2", "encode", encode, encode),
    GROUP("08.5", "attention", attention, attention),
    GROUP("08.5", "attention", attention_race, attention_race),
    GROUP("08.6", "attention backward", attention_backward, attention_backward),
    GROUP("08.6", "attention backward", attention_race, attention_backward_race),
    GROUP("08.8", "cached attention", cached, cached),
    GROUP("08.8", "cached attention", cached_text, cached_text),
};
// clang-format on

const mg_lab mg_lab_08 = { "08-gpt2", groups, MT_COUNT(groups) };
