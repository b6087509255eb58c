/* operators.h -- what is changed in a unit, one change at a time. */
#pragma once

typedef struct mutant {
    const char *what;      /* "dropped statement" */
    int begin, end, token; /* the text of the unit that is replaced, and its first token */
    char *text;            /* what replaces it, with as many lines */
} mutant;

extern mutant made[];
extern int mutants;

/* make_mutants -- every mutant of the regions of the unit of tokens.h. */
void make_mutants(void);
