/* copied.h -- names units that are the reference's, in a course's release, where only digests of the reference are. */
#pragma once

#include "labinfo.h"

/* mg_copied_digest -- of a unit's tokens, each name as the same one: comments, layout and the names of variables and
 * functions make no difference. */
uint64_t mg_copied_digest(const char *text);

/* mg_copied_name -- add to `words` the units in `folder` whose digest ROOT/reference/digests has; without that file,
 * none, and none in which the student writes few lines only (grader/release/kit.c). Batch grading compares more
 * (docs/INSTRUCTORS.md). */
void mg_copied_name(char *words, size_t size, const char *root, const mg_labinfo *info, const char *folder);
