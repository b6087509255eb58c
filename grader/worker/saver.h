/* saver.h -- how the checks of step 12.7 tell the worker what happens to an mt_saver: one row of numbers per event.
 *
 *     { MG_SAVER_SAVE, 500, 1, MT_OK }, { MG_SAVER_WAIT, 0, 0, 0 }
 *
 * Writing is a function of the worker, which takes the values that it is given when training has changed its own. */
#pragma once

enum {
    MG_SAVER_COLUMNS = 4,
    MG_SAVER_MODEL = 5, /* values of the model, in two tensors; then those of the rest */
    MG_SAVER_VALUES = 8,
    MG_SAVER_WORDS = 512,
};

enum {
    MG_SAVER_SAVE, /* the step; how often training changes its values before the writer takes them, counted from this
                      save on (2: not before the next save has returned, or could have); the status of the write */
    MG_SAVER_WAIT,
    MG_SAVER_OTHER, /* added to these: by a second mt_saver, with another folder and other tensors */
};

/* The i-th value in a run's tensors at a step. */
static inline float mg_saver_value(long long step, int i)
{
    return (float)(step * 16 + i);
}
