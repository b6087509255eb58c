/* build.h -- from units to a worker: compile them inside the sandbox, link a static binary inside the sandbox. */
#pragma once

#include "labinfo.h"
#include "sandbox/sandbox.h"
#include "sandbox/scratch.h"

/* Processor time of the compiler and the linker on a submission's texts: a few times what the reference's need. */
typedef struct mg_work {
    double most, used; /* seconds */
} mg_work;

typedef struct mg_build {
    const char *root;  /* the repository: minitorch/ for the headers */
    const char *build; /* build/release: worker/, units/, libgiven.a, defined */
    const char *scratch;
    mg_confinement confined;
    char mine[MG_UNITS][32]; /* labs whose units were compiled here and replace the reference ones */
    int mines;
    bool any_symbol;           /* for tests of the sandbox: units are not examined (symbols.h) */
    bool cuda;                 /* the lab has .cu units: they run in the emulator */
    char broken[MG_UNITS][64]; /* units that do not build: a stub takes their place (stub.c) */
    int brokens;
    char step[8];               /* "11.5": only this step is graded; "": all are */
    char unasked[MG_UNITS][64]; /* units that no row has called so far: a stub takes their place, too */
    int unaskeds;
    char listed[PATH_MAX]; /* a file for the list of what the worker with the student's units is linked of; "": none */
    mg_work work;
    uint64_t known; /* a hash of what compilers read besides the units (kept.h) */
} mg_build;

/* Whose units a worker has, one bit for each of mg_build.mine: set for the student's. All other labs' are prebuilt. */
enum { MG_REFERENCE = 0, MG_MINE = (1 << MG_UNITS) - 1 };

/* In addition: the graded lab's units are compiled again with calls of worker/traffic.c at every memory access. */
enum { MG_COUNTED = 1 << MG_UNITS };

/* mg_build_open -- copy headers, prebuilt objects and the launcher (worker/launch.c) to the scratch folder. The three
 * pointers are borrowed. */
mt_status mg_build_open(mg_build *b, const char *root, const char *build, const char *scratch, mg_confinement confined);

/* mg_build_source -- the folder in the scratch folder for a lab's units, before mg_build_units. */
void mg_build_source(const mg_build *b, const char *id, char path[PATH_MAX]);

/* mg_build_units -- compile the units in that folder; workers linked later use them for this lab. The first lab is the
 * graded one; .cu units of other labs are left out, because its worker does not run them. A unit that is missing or
 * does not compile is broken: its functions become stubs that name it. What the compilers print, warnings too, is
 * appended to `log`, with paths from the repository, also for a unit that was compiled before (kept.h). Once the lab's
 * processor time for compiling is used up, the units that are left are broken. Fails if the compiler could not be run.
 */
mt_status mg_build_units(mg_build *b, const mg_labinfo *info, char *log, size_t size);

/* mg_build_more -- a row has called this unit of the graded lab, which was left out because b->step is not in its text
 * (NULL: all that were left out): compile it as above. Workers must be linked again. */
mt_status mg_build_more(mg_build *b, const mg_labinfo *info, const char *unit, char *log, size_t size);

/* mg_is_unasked -- whether a unit of this name was left out. */
bool mg_is_unasked(const mg_build *b, const char *unit);

/* mg_build_later -- whether the reference of a lab is handed out later (make release): what was built for it are
 * skeletons. The student's own units take its place beside those of later labs. */
bool mg_build_later(const mg_build *b, const char *id);

/* mg_build_worker -- link the worker of lab `id` into `path`, with the units that `whose` selects. The linker sees only
 * the objects it links, so not those that are replaced. MT_ERR_FORMAT: the objects do not link; log: why. */
mt_status mg_build_worker(mg_build *b, const char *id, unsigned whose, char path[PATH_MAX], char *log, size_t size);

/* mg_build_repair -- after mg_build_worker failed with the student's units: link those of lab `info` one by one, with
 * stubs in place of the others; those that fail are broken from now on. Appends the linker's messages to `log`. */
mt_status mg_build_repair(mg_build *b, const mg_labinfo *info, char *log, size_t size);

/* mg_is_broken -- whether a unit of this name does not build. */
bool mg_is_broken(const mg_build *b, const char *unit);

/* mg_build_unwritten -- whether the lab's units still have an MT_TODO of this step. */
bool mg_build_unwritten(const mg_build *b, const mg_labinfo *info, const char *step);

/* mg_build_code_above -- whether there is code between the comment of a region and its MT_TODO, which is at `where`
 * ("labs/02-backprop/softmax.c:41", from the worker, not trusted): written, and the line not deleted. */
bool mg_build_code_above(const mg_build *b, const char *where);

/* mg_build_code -- the text of the line `where`, "labs/02-backprop/softmax.c:41"; false: it is not known, or empty. */
bool mg_build_code(const mg_build *b, const char *where, char *text, size_t size);

/* mg_build_no_return -- whether the compiler's messages say that the function, one with a region of the step, or a
 * helper beside one can end without returning its value; where: "labs/02-backprop/softmax.c:41". */
bool mg_build_no_return(const mg_build *b, const char *log, const char *step, const char *function, char *where,
                        size_t size);

/* mg_seen_structures -- whether a counted unit of this lab passes a structure in memory to a call, or stores one that a
 * call returns, by value: GCC does not report these accesses. `where`: the unit. */
bool mg_seen_structures(const mg_build *b, const char *id, char *where, size_t size);

/* mg_build_line -- "labs/06-cuda-kernels/softmax.cu:41", the line of a unit that the first of these addresses of the
 * worker comes from that is in a unit. A return address is after its call, so the byte before it is looked up. False:
 * none is. */
bool mg_build_line(const mg_build *b, const char *worker, const uint64_t *pc, int count, char *text, size_t size);

/* mg_build_lines -- the same for each of the addresses by itself; text[i] is empty where it is not in a unit. */
enum { MG_LINE_TEXT = 128, MG_MOST_LINES = 32 };
void mg_build_lines(const mg_build *b, const char *worker, const uint64_t *pc, int count, char (*text)[MG_LINE_TEXT]);
