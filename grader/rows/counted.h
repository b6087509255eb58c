/* counted.h -- the emulator's counts behind a bar, line by line: from the worker's report into the row, and between the
 * row and results.json, so that a later grade of one step keeps those of the others. */
#pragma once

#include "report/results.h"

#include <cjson/cJSON.h>

/* mg_counted_keep -- what the call just made on the device accessed, with the lines of the units. */
void mg_counted_keep(mg_run *run);

/* mg_counted_json, mg_counted_take -- write to, and read from, "extra_data" of a row: "lines", "drawn", "flops",
 * "bytes". Nothing is written when nothing was counted; what does not fit is left out when it is read. */
void mg_counted_json(cJSON *extra, const mg_row *row);
void mg_counted_take(mg_row *row, const cJSON *extra);
