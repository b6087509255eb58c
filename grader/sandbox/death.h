/* death.h -- describes how a worker ended: the last lines it printed, its signal, the array it overran. */
#pragma once

#include "sandbox/session.h"

enum { MG_TAIL = 2048 };

/* mg_tail_add -- keep the last MG_TAIL bytes of a stream. */
void mg_tail_add(char tail[MG_TAIL], int64_t *tail_bytes, const char *chunk, int64_t bytes);

/* mg_tail_lines -- the last few lines of a tail, printable characters only. */
void mg_tail_lines(char *text, size_t size, const char *tail, int64_t bytes);

/* mg_describe_death -- MG_TODO or MG_CRASH for a wait status, and its description. `words` come first when not
 * empty. */
mg_verdict mg_describe_death(char *text, size_t size, int wait_status, const char *words, const char *tail,
                             int64_t tail_bytes);

/* mg_describe_fault -- the description of an MG_FAULT reply: "touched out [7,33] 4 bytes past its end". */
void mg_describe_fault(char *text, size_t size, const mg_wire_reply *fault, const mg_invocation *invocation);
