/* report.h -- the end of a profiled program, as every program ends it. */
#ifndef MT_PROF_REPORT_H
#define MT_PROF_REPORT_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mt_profile_report -- end the profile that runs, print its summary beside what `threads` threads of this machine can do
 * (measured now) and, unless 0, the FLOPs that the model needed for what was done (MFU, see mt_profile_roof); write summary.txt, trace.json and timeline.svg into the folder, and say so. Files that cannot be
 * written are no reason to fail a run that is over: it says so too. */
void mt_profile_report(const char *folder, int threads, double model_flops);

#ifdef __cplusplus
}
#endif
#endif
