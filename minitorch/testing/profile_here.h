/* profile_here.h -- the profile of a few lines of a test or a measurement (prof/profile.h). */
#pragma once

#include "prof/profile.h"

/* mt_profile_begin, mt_profile_end -- record in memory between the two calls, and read that, with the latest `events`
 * spans of each thread as mt_profile_read. Any thread may call them. Abort as mt_record_begin and mt_record_end do;
 * events < 0. */
void mt_profile_begin(int64_t events);
mt_profile *mt_profile_end(void);
