/* moves.h -- for functions of the C library that access memory (moves.c): an access is counted, or searched. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mg_touch -- `code` is the address of the call. */
void mg_touch(const void *address, size_t bytes, bool write, uintptr_t code);

/* mg_unseen -- the address behind the last call of a function whose accesses are not counted. */
extern uintptr_t mg_unseen;
