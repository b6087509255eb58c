/* sharing.h -- the search for data races in a counting worker; see sharing.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void mg_share_begin(void);
/* mg_share_touch -- an access of this thread, by the code at that address. */
void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code);
/* mg_share_order -- an atomic operation that orders other accesses, before it and behind it. */
void mg_share_order(bool behind);
/* mg_share_end -- the code of the first access that raced; 0: none did. */
uintptr_t mg_share_end(void);
