/* calls_15.h -- the calls of lab 15 that are in files of their own. */
#ifndef MG_WORKER_CALLS_15_H
#define MG_WORKER_CALLS_15_H

#include "worker/call.h"

#endif
