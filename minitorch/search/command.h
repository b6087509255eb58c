/* command.h -- the command of a sweep, with placeholders: "train_gpt2 --lr {lr} --steps {steps} -o {dir}". */
#pragma once

#include "search/search.h"

MT_C_BEGIN

enum { MT_COMMAND_BYTES = 8192 };

/* mt_command_check -- every placeholder is known, and every hyperparameter has one; {steps} too, where trials have
 * rungs. MT_ERR_ARGUMENT otherwise. */
mt_status mt_command_check(const char *command, const mt_search *search);

/* mt_command_fill -- {steps}, {trial} (its number), {dir} (a folder, quoted for the shell) and the names of the
 * hyperparameters become values. MT_ERR_ARGUMENT: longer than MT_COMMAND_BYTES. Other braces stay. */
mt_status mt_command_fill(char out[MT_COMMAND_BYTES], const char *command, const mt_space *space, const mt_job *job,
                          const char *dir);

MT_C_END
