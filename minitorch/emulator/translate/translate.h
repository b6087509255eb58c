/* translate.h -- what the parts of the translator share: a source cut into tokens, its edits, what the unit declares.
 *
 *   lexer.c    text -> tokens, brackets paired            source.c    reading, local includes, edits, writing
 *   declare.c  which functions and variables there are    check.c     host/device misuse that g++ would accept
 *   launch.c   kernel<<<...>>>(...)                       shared.c    __shared__, __device__, __constant__ variables
 *   ptx.c      asm("...")                                 unsupported.c  what the emulator refuses, and what to do
 *
 * The tool runs once per unit and ends: it frees nothing. */
#ifndef MT_EMULATOR_TRANSLATE_H
#define MT_EMULATOR_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>

/* ---- tokens --------------------------------------------------------------------------------- */

typedef enum token_kind {
    TOKEN_END, /* stands before the first and behind the last token, so that neighbours always exist */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHAR,
    TOKEN_PUNCT,     /* one character, or one of <<< :: -> */
    TOKEN_DIRECTIVE, /* a whole preprocessor line; of a #define only the part before its body */
} token_kind;

typedef struct token {
    const char *at; /* in the text of its source */
    int length;
    int line;
    int partner; /* index of the bracket that belongs to this one, or -1 */
    token_kind kind;
    bool macro; /* in the body of a #define */
} token;

typedef struct edit {
    long begin, end; /* the bytes of the text that are replaced; equal for an insertion */
    char *text;
    bool macro; /* in a #define: newlines must be continued */
} edit;

typedef struct source {
    const char *path; /* for messages and #line: as the user wrote it, or as it was found */
    const char *real; /* absolute, without links: one file is translated once */
    char *copy;       /* where its translation goes */
    char *text;       /* ends with a newline and a zero byte */
    token *token;
    int tokens; /* with both TOKEN_END */
    edit *edit;
    int edits;
} source;

/* source_lex -- fill token[] from text. */
void source_lex(source *s);

/* is -- does the token read exactly like this word? */
bool is(const token *t, const char *word);
bool is_any(const token *t, const char *const *words); /* words ends with NULL */
bool starts_with(const token *t, const char *prefix);

/* angle_end, angle_begin -- the index of the '>' that closes the '<' at i, and the other way round; -1: it is no
 * bracket. */
int angle_end(const source *s, int i);
int angle_begin(const source *s, int i);

/* statement_end -- the index of the ';' that ends the statement token i is in. */
int statement_end(const source *s, int i);

/* ---- sources and edits ---------------------------------------------------------------------- */

typedef struct unit {
    source **source; /* [0] is the .cu file, the others its local headers */
    int sources;
    const char **include; /* the -I folders */
    int includes;
    const char *shim; /* the folder of the emulator's headers */
    const char *out;  /* the folder of the translations */
    int errors;
} unit;

extern unit the_unit;

/* unit_load -- read a file and, recursively, its local headers; lex them and point their #include lines at the
 * copies. */
source *unit_load(const char *path);

/* The file that `name` means: beside the including file when it is quoted, else in the -I folders; NULL: not local. */
char *find_local(const source *from, const char *name, bool quoted);

/* source_write -- apply the edits and write the copy. Every line keeps its number. */
void source_write(source *s);

/* replace -- the bytes from the start of token `from` up to the start of token `to` become the text. */
void replace(source *s, int from, int to, const char *text);

/* insert_after -- text behind token i. */
void insert_after(source *s, int i, const char *text);

/* span -- a copy of the source's text of tokens [from, to), without the blanks behind. */
char *span(const source *s, int from, int to);

char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* read_file -- the whole text, a newline and a zero byte; NULL when it cannot be read. */
char *read_file(const char *path);

/* complain -- `path:line: error: words`; the tool then ends with status 1. */
void complain(const source *s, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* grow -- room for one more element of an array of `count`. */
void *grow(void *array, int count, size_t size);

/* ---- what the unit declares ----------------------------------------------------------------- */

enum { HOST = 1, DEVICE = 2, GLOBAL = 4, CONSTANT = 8, MANAGED = 16 }; /* 0: unmarked, which is the host's */

typedef struct function {
    const source *source;
    const token *name;
    unsigned marks;
    bool is_template;
    bool is_member;
    int begin;      /* token index of the declaration's start */
    int parameters; /* of the '(' */
    int body;       /* of the '{', or -1 for a declaration */
} function;

typedef struct variable {
    const source *source;
    const token *name;
    unsigned marks;
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
const variable *find_variable(const token *name);
bool needs_arguments(const token *name); /* a kernel that is a template or overloaded: no address by name alone */

/* ---- passes over one source ----------------------------------------------------------------- */

void check(const source *s);              /* host/device misuse */
void refuse_unsupported(const source *s); /* names the emulator does not know */
void learn_shim(void);                    /* reads the emulator's own headers: the names it does know */
void rewrite_launches(source *s);
void rewrite_variables(source *s);
void rewrite_asm(source *s);
void rewrite_words(source *s); /* names that no macro can stand for */

/* in_device_code -- is token i inside a __global__ or __device__ function or a __device__ lambda? */
bool in_device_code(const source *s, int i);

#endif
