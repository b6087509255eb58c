/* 08-gpt2.h -- the checks of lab 08: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_08_GPT2_H
#define MG_CHECKS_08_GPT2_H

#include "check.h"
#include "checks/fill.h"

/* ---- the tokenizer: 08-tokenizer.c, 08-words.c -------------------------------------------------- */

/* Of what texts are made. */
enum {
    MG_TEXT_WORDS = 1,    /* letters, blanks */
    MG_TEXT_ENDINGS = 2,  /* 's 't 're and what only looks like them */
    MG_TEXT_SIGNS = 4,    /* numbers, punctuation */
    MG_TEXT_WHITE = 8,    /* tabs, new lines, runs of blanks */
    MG_TEXT_SCRIPTS = 16, /* other alphabets, digits and blanks, emoji, marks */
    MG_TEXT_BROKEN = 32,  /* bytes that are not UTF-8 */
};

typedef struct text_case {
    mg_case head;
    unsigned parts;  /* MG_TEXT_... */
    int64_t letters; /* of merges: how many different bytes; 0: no merges at all */
    int64_t most;    /* bytes of a text, or symbols */
} text_case;

void mg_08_pieces(mg_run *run, const void *one_case);
void mg_08_bytes(mg_run *run, const void *one_case);
void mg_08_merge(mg_run *run, const void *one_case);
void mg_08_decode(mg_run *run, const void *one_case);
void mg_08_encode(mg_run *run, const void *one_case);

enum { MG_WORDS_ANY, MG_WORDS_CROWDED, MG_WORDS_ALIKE };

typedef struct words_case {
    mg_case head;
    int64_t kind; /* MG_WORDS_... */
} words_case;

void mg_08_words(mg_run *run, const void *one_case);

#endif
