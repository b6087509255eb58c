/* tokens.h -- a unit as tokens, with as much grammar as the operators of mutate need. It is not a parser: where it
 * guesses wrong, a mutant does not compile and does not count. */
#pragma once

#include "core/base.h"

typedef enum token_kind { WORD, NUMBER, TEXT, SIGN, DIRECTIVE } token_kind;

typedef struct token {
    token_kind kind;
    int begin, end, line; /* offsets in the unit */
    int match;            /* of a bracket: the other one */
    int inside;           /* the bracket around it; -1: none */
    int function;         /* the token that names the function around it */
    const char *step;     /* of the region, "01.2"; NULL outside */
} token;

extern char *unit;       /* its text */
extern const char *name; /* its name, without folders */
extern token *tok;       /* tokens */
extern int tokens;

/* tokenize -- divide `unit`, called `name`, into tok[0 .. tokens-1]. */
void tokenize(void);

bool is(int i, const char *text);
/* among -- whether token i is one of the words in a list such as " if for ". */
bool among(int i, const char *list);
/* find -- the first token from i on, outside nested brackets, that is in the list. */
int find(int i, const char *list);

bool is_keyword(int i);
/* ends_operand -- whether an operand ends with token i, so that a sign after it has two operands. */
bool ends_operand(int i);
/* operand_before, operand_after -- the first token of the operand that ends at i; the last of the one that starts
 * at i. */
int operand_before(int i);
int operand_after(int i);

bool starts_statement(int i);
bool is_declaration(int i);
/* after -- the first token after the statement that starts at i. */
int after(int i);
