/* values.h -- numbers and settings of a run's state (core/state.h) as texts, which is how a checkpoint has them. */
#pragma once

#include "core/state.h"

MT_C_BEGIN

/* mt_state_real, mt_state_setting -- append a number or a setting; the format is that of the setting's text.
 * mt_state_fix -- turn all integers so far into settings of their present values. */
void mt_state_real(mt_state *state, double *real, const char *name);
void mt_state_setting(mt_state *state, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
void mt_state_fix(mt_state *state);

/* mt_state_texts -- all numbers and settings as settings of their present values, without the tensors.
 * mt_state_read -- a number becomes what the text says, a setting is compared with it; `dry` only checks. path: the
 * file, for messages. MT_ERR_FORMAT: no text (NULL), or not a number. MT_ERR_ARGUMENT: a setting differs. */
mt_state mt_state_texts(const mt_state *state);
mt_status mt_state_read(const mt_state_item *item, const char *text, const char *path, bool dry);

MT_C_END
