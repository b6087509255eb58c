/* report.h -- what the memory of a recorded run was used for: a table, and files that show it over time.
 *
 *     mt_record_memory_begin("build/run/memory.bin");    // prof/recorder.h
 *     ...
 *     mt_record_end(0);
 *     mt_profile *profile;
 *     mt_status status = mt_profile_read(&profile, "build/run/memory.bin", 0);
 *     mt_account account = mt_memory_account(profile);
 *     mt_memory_print(stdout, profile, &account);
 *     status = mt_memory_save("build/run", profile, &account);
 *
 * The program `memory` does this; `train_gpt2 --memory-report` records its first step and runs it. */
#pragma once

#include "memory/account.h"
#include "prof/profile.h"

#include <stdio.h>

MT_C_BEGIN

/* mt_memory_account -- of all blocks in the recording, in order. Op 0 is "no op", op i > 0 is
 * profile->line[i - 1]. Puts the bytes by use after each of them into profile->sample. */
mt_account mt_memory_account(mt_profile *profile);

/* mt_memory_print -- for each device that had any: bytes by use at the peak, and the ops that had allocated most of
 * them. */
void mt_memory_print(FILE *out, const mt_profile *profile, const mt_account *account);

/* mt_memory_save -- into an existing folder, after mt_memory_account:
 *     memory.csv      live MB (1e6 bytes) by use, from the first batch of the recording to its end
 *     memory.json     all samples and spans, for ui.perfetto.dev
 *     memory.pickle   everything that was allocated and freed, for pytorch.org/memory_viz
 *     memory.svg      memory.csv as a picture, by gnuplot
 * Files are replaced only when they are complete. MT_ERR_IO: one could not be written. MT_ERR_UNAVAILABLE: no gnuplot;
 * the others are written. */
mt_status mt_memory_save(const char *folder, const mt_profile *profile, const mt_account *account);

/* mt_memory_snapshot -- memory.pickle alone. The format: a pickle (protocol 2) of dicts and lists, as
 * torch.cuda.memory._snapshot() returns them; its segments are those of
 * the recording (mt_record_room); a block outside of all of them is a segment of its own. */
mt_status mt_memory_snapshot(const char *path, const mt_profile *profile);

MT_C_END
