/* build.h -- from units to a worker: compile them inside the sandbox, link a static binary inside the sandbox. */
#ifndef MG_BUILD_H
#define MG_BUILD_H

#include "labinfo.h"
#include "scratch.h"

typedef struct mg_build {
    const char *root;  /* the repository: minitorch/ for the headers */
    const char *build; /* build/release: worker/, units/, libgiven.a */
    const char *scratch;
    bool confined;
    char mine[MG_UNITS][32]; /* labs whose units were compiled here and replace the reference ones */
    int mines;
    bool cuda; /* the lab has .cu units: they run in the emulator */
} mg_build;

/* Whose units a worker has, one bit for each of mg_build.mine: set for the student's. All other labs' are prebuilt. */
enum { MG_REFERENCE = 0, MG_MINE = (1 << MG_UNITS) - 1 };

/* Besides: the graded lab's units are compiled anew, so that worker/traffic.c sees every access to memory. */
enum { MG_COUNTED = 1 << MG_UNITS };

/* mg_build_open -- copy headers and prebuilt objects to where the sandbox can see them, link the launcher. The three
 * pointers are borrowed. */
mt_status mg_build_open(mg_build *b, const char *root, const char *build, const char *scratch, bool confined);

/* mg_build_source -- the folder, below the scratch folder, where a lab's units belong before mg_build_units. */
void mg_build_source(const mg_build *b, const char *id, char path[PATH_MAX]);

/* mg_build_units -- compile the units in that folder; from now on they stand for this lab when a worker is linked.
 * The first lab is the one that is graded; of the others .cu units are left out, for its worker does not run them.
 *   log  the compiler's words. MT_ERR_FORMAT: the units do not compile, other codes: we could not try. */
mt_status mg_build_units(mg_build *b, const mg_labinfo *info, char *log, size_t size);

/* mg_build_worker -- link the worker of lab `id` into `path`, with the units that `whose` says. The linker sees the objects it is to link, so not the ones that others replace.
 * Status and log as above. */
mt_status mg_build_worker(const mg_build *b, const char *id, unsigned whose, char path[PATH_MAX], char *log,
                          size_t size);

/* mg_build_line -- "softmax.cu:41", the line of a unit that this address of the worker comes from. False: unknown. */
bool mg_build_line(const mg_build *b, const char *worker, uint64_t pc, char *text, size_t size);

/* mg_build_launcher -- the path of the launcher (worker/launch.c). */
void mg_build_launcher(const mg_build *b, char path[PATH_MAX]);

#endif
