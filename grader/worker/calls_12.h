/* calls_12.h -- calls of lab 12; steps with a disk or a thread have files of their own. */
#pragma once

#include "worker/call.h"

extern int64_t mg_manifests; /* that were read and not freed */

void mg_call_commit(const mg_value *v);
void mg_call_remove(const mg_value *v);
void mg_call_check(const mg_value *v);
void mg_call_damage(const mg_value *v);
void mg_call_recover(const mg_value *v);
void mg_call_keeps(const mg_value *v);
void mg_call_prune(const mg_value *v);
void mg_call_saver(const mg_value *v);
