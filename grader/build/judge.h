/* judge.h -- what the compiler was given and what it made of it, read before the object is linked.
 *
 * A unit consists of C that the compiler has translated: its instructions are the compiler's, and nothing in it
 * replaces or switches off the calls with which memory accesses are counted (worker/traffic.c). Beside the object X.o
 * the compiler leaves X.i, the preprocessed text from which it was made, and X.s, its assembly text (build/build.c);
 * both are judged here; of a .cu unit, which may have inline PTX, also what
 * the emulator's translator makes of the former. The object itself is examined by build/symbols.c. */
#pragma once

#include "build/build.h"

/* What was found in a unit: lines for the student, which replace the compiler's warnings. */
typedef struct mg_findings {
    const char *id, *unit; /* "02-backprop", "linear.c" */
    char *log;
    size_t size;
    int count;
} mg_findings;

/* mg_find -- add a finding "labs/ID/UNIT:LINE: ..."; with line 0 it has no line. Only the first few are kept. */
void mg_find(mg_findings *f, long line, const char *fmt, ...) MT_PRINTF(3, 4);

/* mg_judge_unit -- read and judge the texts of f->unit, beside its object. Where the object was not made, they are
 * judged if the assembler alone has failed. */
void mg_judge_unit(mg_findings *f, const mg_build *b, const char *object, bool compiled);

/* mg_judge_tokens -- of preprocessed text, names and attributes, or asm. Tokens of headers are not judged: `own` is the
 * folder of units, "src/" in the scratch folder, and paths that are not absolute are relative to it. */
enum { MG_WORDS = 1, MG_ASM = 2 };
void mg_judge_tokens(mg_findings *f, const char *text, const char *own, int what);

/* mg_judge_lines -- of a unit's source: it does not give its lines to another file, whose tokens are not judged. */
void mg_judge_lines(mg_findings *f, const char *text);

/* mg_judge_assembly -- of assembly text. */
void mg_judge_assembly(mg_findings *f, const char *text);
