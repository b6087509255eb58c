/* symbols.h -- what the object of a student's unit may hold and use, checked before it is linked.
 *
 * Beside a unit the linker finds our worker, the reference units of other labs, the emulator and the C library. What a
 * unit may use of them is a list (allowed.c). This keeps units from the wrong functions; it does not confine them,
 * because code in the same program can compute any address. The sandbox confines. */
#pragma once

#include "build/judge.h"

/* mg_symbols_check -- of an object just compiled from findings->unit. Symbols that the rest of the worker does not ask
 * for become local to it, so that helper functions may have any name. MT_ERR_FORMAT: the findings name each symbol,
 * section or instruction that it may not have, or the unit had findings before. */
mt_status mg_symbols_check(mg_build *b, mg_findings *findings, const char *object);

/* mg_may_use -- whether this unit may use a symbol that it does not define. mg_is_reserved: whether a symbol belongs to
 * the compiler, the emulator or the worker, so that no unit may define it, not even a static function. */
bool mg_may_use(const char *id, const char *unit, const char *symbol);

/* mg_is_reserved_for -- whether the symbol is one that this unit alone may use. */
bool mg_is_reserved_for(const char *id, const char *unit, const char *symbol);
bool mg_is_reserved(const char *symbol);
