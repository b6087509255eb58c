/* status.h -- the lock of the API, the last error and the one that ended a kernel (status.c). */
#ifndef EMU_STATUS_H
#define EMU_STATUS_H

#include <stdbool.h>
#include "emulator/include/driver_types.h"

cudaError_t emu_fail(cudaError_t error); /* stores it for cudaGetLastError and returns it */
cudaError_t emu_last_error(void);
cudaError_t emu_take_error(void); /* the last error, which is forgotten unless it is the sticky one */
cudaError_t emu_sticky(void);     /* the error that ended a kernel: every later call returns it */
void emu_set_sticky(cudaError_t error);

void emu_api_lock(void); /* one host thread at a time; recursive */
bool emu_api_trylock(void);
void emu_api_unlock(void);

#endif
