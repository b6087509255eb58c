/* capture.h -- keeps the calls of a row in a file, to be made again under a debugger (worker/replay.c).
 *
 * The file holds the calls of the first row that failed, or of all rows if none did. A call is an mg_wire_request, then
 * the contents of its arrays, in their order. */
#pragma once

#include "report/results.h"
#include "sandbox/session.h"

typedef struct mg_capture {
    FILE *file;  /* NULL: nothing is kept */
    long begin;  /* of the current row's calls */
    bool failed; /* it has the calls of the row that failed */
} mg_capture;

/* mg_capture_call -- before the call is made. */
void mg_capture_call(mg_capture *capture, const mg_invocation *in);

/* mg_capture_row -- the row has its verdict. */
void mg_capture_row(mg_capture *capture, const mg_row *row);
