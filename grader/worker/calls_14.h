/* calls_14.h -- the calls of lab 14, and the numbers by which worker and checker know what a rank did. */
#ifndef MG_WORKER_CALLS_14_H
#define MG_WORKER_CALLS_14_H

#include "worker/mesh.h"
#include "worker/call.h"

void mg_call_mesh(const mg_value *v);
void mg_call_pipe_schedule(const mg_value *v);
void mg_call_pipe_partition(const mg_value *v);
void mg_call_pipe_step(const mg_value *v);

#endif
