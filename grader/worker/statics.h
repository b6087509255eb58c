/* statics.h -- the static memory of the graded units: what lies in .data and .bss between statics_begin.o and
 * statics_end.o, because a linker keeps the order of its objects (build/link.c). Thread-local variables are elsewhere.
 */
#pragma once

#include <stdbool.h>

extern char mg_data_begin[], mg_data_end[], mg_bss_begin[], mg_bss_end[];

/* mg_statics_keep -- remember what is in it now. mg_statics_changed -- whether something else is in it since then,
 * whoever wrote it: the unit, or for it a function that is not searched. */
void mg_statics_keep(void);
bool mg_statics_changed(void);
