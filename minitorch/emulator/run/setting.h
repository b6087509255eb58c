/* setting.h -- numbers in the environment (setting.c). */
#ifndef EMU_SETTING_H
#define EMU_SETTING_H

/* The number in the environment variable, or the other one when it is not set. Anything else ends the program. */
long emu_setting(const char *name, long otherwise);

#endif
