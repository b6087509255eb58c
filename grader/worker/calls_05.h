/* calls_05.h -- what calls_05.c takes from calls_05_ring.c; see there. */
#pragma once

#include "worker/call.h"

void mg_call_ring_script(const mg_value *v);
void mg_call_ring_stop(const mg_value *v);
void mg_call_ring_stop_before_wait(const mg_value *v);
