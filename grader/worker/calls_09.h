/* calls_09.h -- calls of lab 09 that are defined in calls_09_training.c. */
#ifndef MG_WORKER_CALLS_09_H
#define MG_WORKER_CALLS_09_H

#include "worker/call.h"

#endif
