/* 08-gpt2.c -- the rows of lab 08. How they run: 08-tokenizer.c, 08-words.c. */
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

#define GROUP(step, title, run, cases) MG_GROUP(step, title, mg_08_##run, cases##_cases)

static const mg_group groups[] = {
    GROUP("08.1", "pieces", pieces, pieces),
    GROUP("08.2", "characters of bytes", bytes, bytes),
    GROUP("08.2", "merge", merge, merge),
    GROUP("08.2", "table of words", words, words),
    GROUP("08.2", "decode", decode, decode),
    GROUP("08.2", "encode", encode, encode),
};
// clang-format on

const mg_lab mg_lab_08 = { "08-gpt2", groups, MT_COUNT(groups) };
