/* tools.h -- functions of tools.c, build.c, units.c and link.c: sandboxed runs of the compiler. */
#pragma once

#include "build/build.h"

extern const char mg_compiler[];

/* mg_tool_box -- a sandbox for argv with the toolchain in it, working in `folder` (NULL: anywhere). */
mg_sandbox mg_tool_box(const mg_build *b, const char *const *argv, const char *folder);

/* mg_run_tool -- run it; `log` receives the start of what it prints. Its processor time is added to `work`, and it is
 * ended when that is more than allowed; NULL: it is not counted. MT_ERR_FORMAT: it failed, "WHAT failed". */
mt_status mg_run_tool(const mg_sandbox *box, const char *what, mg_work *work, char *log, size_t size);

/* mg_is_spent -- whether no processor time is left for a submission's texts; `log` says then that `what` was left
 * out. */
bool mg_is_spent(const mg_work *work, const char *what, char *log, size_t size);

/* mg_stub -- the unit does not build: put a stub in its place, which exports what the reference's object does; a call
 * of any function in it ends the worker with the unit's name. Fails if there is no reference object. */
mt_status mg_stub(mg_build *b, const mg_labinfo *info, const char *unit);

/* Where debug information has the folder src/ of the scratch folder. */
#define MG_UNITS_PLACE "/units"

/* mg_stub_unasked -- one stub for all units that were left out (mg_build_more), beside the objects of the others. */
mt_status mg_stub_unasked(const mg_build *b, const char *id);

/* mg_compile_c -- gcc with a unit's flags, in the folder src/ of the scratch folder, of `source` (a path from there)
 * into `object`; judge.h says what is beside it then. In src/ it sees `readable` only, the source or its folder. `work`
 * as for mg_run_tool. */
mt_status mg_compile_c(const mg_build *b, const char *source, const char *readable, const char *object, bool counted,
                       mg_work *work, char *log, size_t size);

/* mg_compile_cuda -- the same with the emulator's compiler, for a .cu unit. */
mt_status mg_compile_cuda(mg_build *b, const char *source, const char *readable, const char *object, char *log,
                          size_t size);

/* mg_seen_options -- "@FILE", with gcc's options for a counted unit. mg_seen_check -- after its compilation:
 * MT_ERR_FORMAT, with the reason in `log`, if the unit accesses memory in a way that is not counted. */
mt_status mg_seen_options(const char *object, char option[PATH_MAX]);
mt_status mg_seen_check(const char *source, const char *object, char *log, size_t size);

/* mg_object -- "FOLDER/softmax.o" for "softmax.c". */
void mg_object(char path[PATH_MAX], const char *folder, const char *unit);

bool mg_is_cuda(const char *unit);

/* mg_has -- whether a line of the file contains the text. */
bool mg_has(const char *path, const char *text);

/* mg_is_plain -- output of a sandboxed tool must be a plain file before we use it. */
mt_status mg_is_plain(const char *path);

/* mg_find_emulator -- the emulator's folder in the scratch folder, copied there when it is first needed. */
mt_status mg_find_emulator(const mg_build *b, char folder[PATH_MAX]);

/* mg_compile_counted -- compile the graded lab's C units for MG_COUNTED, and those of labs whose reference comes later.
 */
mt_status mg_compile_counted(mg_build *b, char *log, size_t size);
