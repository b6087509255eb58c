/* config.h -- files of options: a line is one option of a program, NAME = VALUE, or NAME for one without a value.
 *
 *     # what --help calls --lr
 *     lr = 6e-4
 *     tensorboard
 *
 * Blank lines and those that begin with '#' say nothing. A value lasts to the end of its line. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_config_read -- for MT_PARSED of a const char *field, which becomes path: sets the options of the file
 * (mt_cli_set), but for those that the command line names. Fails as mt_file_read does; MT_ERR_ARGUMENT, with the file
 * and the line: no such option, a value that is wrong, missing or one too many, an option that may stand on a command
 * line only. */
mt_status mt_config_read(const char *path, void *field);

/* mt_config_write -- all options that this program was given, in such a file, so that it does the same with the file
 * alone. Those that say how a run begins in its folder (config, resume, overwrite) are left out. MT_ERR_IO. */
mt_status mt_config_write(const char *path);

MT_C_END
