/* report.h -- output of counts and findings at the program's end: text, JSON, drawings.
 *
 *   CUEMU_REPORT=1   a line per access in the source; 2: only each kernel's sums
 *   CUEMU_JSON=file  counts and findings, for programs: schema in report_json.c
 *   CUEMU_SVG=file   a request of an access, drawn; CUEMU_SVG_LINE=n picks the line, else the costliest access is taken
 */
#ifndef EMU_REPORT_H
#define EMU_REPORT_H

#include <stdbool.h>
#include "emulator/count/counters.h"

const char *emu_space_name(int space);
const char *emu_access_name(int kind);
void emu_report_json(const char *path);
/* The addresses of the costliest request of a site are kept for drawing when CUEMU_SVG is set. */
extern bool emu_keep_requests;
void emu_keep_request(const emu_counter *site, const uint64_t *addresses, int count, uint32_t lanes, int passes);
/* The kept request to shared memory with the most wavefronts over its ideal: its site (passes and ideal are those of
 * the request), addresses and lanes. Returns how many lanes; 0: none is kept. */
int emu_kept_shared(emu_counter *site, uint64_t *address, int *lane);
void emu_forget_requests(void);
void emu_report_svg(const char *path);

#endif
