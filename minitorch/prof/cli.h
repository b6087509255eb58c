/* cli.h -- what every program of minitorch/apps does alike: numbers of the command line, output folders, Ctrl-C. */
#ifndef MT_PROF_CLI_H
#define MT_PROF_CLI_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mt_cli_i64, mt_cli_f64 -- the whole of text as a number from low to high. MT_ERR_ARGUMENT with a message that quotes
 * text and the bounds otherwise (NaN included); *out is then unchanged. */
mt_status mt_cli_i64(int64_t *out, const char *text, int64_t low, int64_t high);
mt_status mt_cli_f64(double *out, const char *text, double low, double high);

/* mt_cli_folder -- make path and the folders above it; fine when it is there already. */
mt_status mt_cli_folder(const char *path);

/* mt_cli_catch_stop -- from now on the first Ctrl-C (or SIGTERM) only sets a mark, so that the program can end at a
 * place of its choosing; the second one kills as usual. */
void mt_cli_catch_stop(void);

/* mt_cli_stopped -- the signal that asked to stop, 0 while none did. Exit with 128 + it, as shells expect. */
int mt_cli_stopped(void);

#ifdef __cplusplus
}
#endif
#endif
