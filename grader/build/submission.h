/* submission.h -- copies the units that lab.json names from a submission, and nothing else. */
#pragma once

#include "labinfo.h"

enum { MG_UNIT_BYTES = 1 << 20 }; /* the largest unit taken */

/* mg_submission_collect -- copy the lab's units from a folder or an archive (tar, compressed or not, or zip) into the
 * folder `to`. A unit may lie anywhere (place.h). ignored gets one line with what was left out and why ("Makefile,
 * evil.h (not a unit)"); empty when nothing was. Only regular files of at most MG_UNIT_BYTES are taken; a symbolic
 * link, a device, a path with "..", or a hard link is never taken. Fails when there is no unit at all, or when the
 * archive cannot be read. */
mt_status mg_submission_collect(const char *to, const char *from, const mg_labinfo *info, char *ignored, size_t size);
