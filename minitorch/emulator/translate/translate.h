/* translate.h -- declarations shared by the parts of the translator: a unit's tokens, edits and declarations.
 *
 *   lexer.c       text -> tokens, brackets paired            edits.c      reading, edits, writing
 *   declare.c     which functions and variables there are    launches.c   kernel<<<...>>>(...)
 *   host_device.c misuse that g++ would accept               variables.c  __shared__, __device__, __constant__
 *   ptx.c         asm("...")                                 explain.c    messages about what is not supported
 *   members.c     accesses of v.x, in the compiled unit
 *
 * The input is the output of `g++ -E`: macros are expanded, conditionals evaluated, headers included.
 * The tool runs once per unit and ends: it frees nothing. */
#ifndef MT_EMULATOR_TRANSLATE_H
#define MT_EMULATOR_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>

/* ---- tokens --------------------------------------------------------------------------------- */

typedef enum token_kind {
    TOKEN_END, /* before the first and after the last token, so that every token has neighbours */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHAR,
    TOKEN_PUNCT,     /* one character, or one of <<< :: -> */
    TOKEN_DIRECTIVE, /* #pragma: a whole line */
} token_kind;

typedef struct token {
    const char *at; /* in the text of its source */
    int length;
    const char *file; /* of the user, as a string literal has it; the same pointer for the same file */
    int line;
    int partner; /* index of the bracket that belongs to this one, or -1 */
    token_kind kind;
} token;

typedef struct edit {
    long begin, end; /* the bytes of the text that are replaced; equal for an insertion */
    char *text;
    const token *last; /* that is replaced: the text after the edit is on its line */
} edit;

typedef struct source {
    char *text; /* ends with a newline and a zero byte */
    token *token;
    int tokens; /* with both TOKEN_END */
    edit *edit;
    int edits;
} source;

/* source_lex -- fill token[] from text. */
void source_lex(source *s);

/* is -- is the token's text exactly this word? */
bool is(const token *t, const char *word);
bool is_any(const token *t, const char *const *words); /* words ends with NULL */
bool starts_with(const token *t, const char *prefix);

/* angle_end, angle_begin -- the index of the '>' that closes the '<' at i, and vice versa; -1: it is not a bracket. */
int angle_end(const source *s, int i);
int angle_begin(const source *s, int i);

/* statement_end -- the index of the ';' that ends the statement token i is in. */
int statement_end(const source *s, int i);

/* ---- sources and edits ---------------------------------------------------------------------- */

/* read_text -- the file's text, ending with a newline and a zero byte; NULL: it cannot be read. */
char *read_text(const char *path);

/* source_read -- the whole text, in tokens; false: it cannot be read. */
bool source_read(source *s, const char *path);

/* source_write -- apply the edits and write the text to the file. Every line keeps its number. */
bool source_write(source *s, const char *path);

/* replace -- the bytes from the start of token `from` up to the start of token `to` become the text. */
void replace(source *s, int from, int to, const char *text);

/* insert_after -- insert text after token i. */
void insert_after(source *s, int i, const char *text);

/* span -- the tokens [from, to) as text on one line, with what they are renamed to; quoted: as a string literal. */
char *span(const source *s, int from, int to);
char *quoted(const source *s, int from, int to);

char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* complain -- `file:line: error: words`; the tool then ends with status 1. warn: it goes on. */
void complain(const token *at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void warn(const token *at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
extern int complaints;

/* grow -- room for one more element of an array of `count`. */
void *grow(void *array, int count, size_t size);

/* ---- what the unit declares ----------------------------------------------------------------- */

enum { HOST = 1, DEVICE = 2, GLOBAL = 4, CONSTANT = 8, MANAGED = 16 }; /* 0: unmarked, which means host */

typedef struct function {
    const token *name;
    const token *space; /* the name of the enclosing class or namespace, or NULL */
    unsigned marks;
    bool is_template;
    bool is_member;
    bool has_defaults; /* for parameters */
    int begin;         /* token index of the declaration's start */
    int parameters;    /* of the '(' */
    int body;          /* of the '{', or -1 for a declaration */
} function;

typedef struct variable {
    const token *name;
    unsigned marks;
    bool is_member;           /* of a class: nothing else of it is known */
    bool constant_expression; /* const scalar or constexpr: its value is known to device code */
    int end;                  /* token index of the ';' */
} variable;

extern function *the_function;
extern int functions;
extern variable *the_variable;
extern int variables;

/* declare -- add what the source declares at namespace and class scope. */
void declare(const source *s);

/* marks_of_function -- the marks of all functions of that name joined (an unmarked one counts as HOST); 0: none
 * known. */
unsigned marks_of_function(const token *name, const function **first);
const variable *find_variable(const token *name); /* of a namespace */
bool is_member_name(const token *name);           /* has some class a variable of that name? */
bool needs_arguments(const token *name);          /* a kernel that is a template, overloaded, or has defaults */

/* ---- passes over one source ----------------------------------------------------------------- */

void check(const source *s); /* host/device misuse */
void rewrite_launches(source *s);
void rewrite_variables(source *s);
void rewrite_asm(source *s);
void rewrite_words(source *s); /* the marks, and names that no macro can stand for */

/* What the token is renamed to; NULL: it stays. */
const char *new_name(const source *s, int i);

/* learn_names, is_learnt -- names of the emulator's cooperative groups and wmma, which the unit may call. */
void learn_names(const char *from, const char *end);
bool is_learnt(const token *name);

/* members -- rename hooks in the assembly of the translated unit: see members.c. Returns the exit status. */
int members(const char *unit, const char *assembly);

/* missing, explain -- of a file with g++'s messages: see translate.c. They return the exit status. */
int missing(const char *path);
int explain(const char *path);

/* in_device_code -- is token i inside a __global__ or __device__ function or a __device__ lambda? */
bool in_device_code(const source *s, int i);

#endif
