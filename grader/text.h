/* text.h -- text files, hashes, and safe printing of untrusted text: a submission's output is shown in terminals, JSON
 * and HTML pages. */
#pragma once

#include "core/base.h"

#include <stdio.h>

typedef enum mg_escape { MG_PLAIN, MG_HTML } mg_escape;

/* mg_put -- print text as valid UTF-8. Invalid bytes, and characters that control a terminal or change the direction of
 * writing, become U+FFFD; newline and tab stay. MG_HTML also escapes < > & " '. MG_PLAIN may reach the log of a CI
 * service, whose runner obeys commands in it ("::error::", "##[", "##vso[", "##teamcity["): their first character
 * becomes U+FFFD too. */
void mg_put(FILE *out, const char *text, mg_escape escape);

/* mg_plain -- what mg_put prints, as a string the caller frees. */
char *mg_plain(const char *text);

/* mg_width -- how many characters mg_put prints. */
int mg_width(const char *text);

/* mg_points -- "7.5", "12": at most two decimals, never rounded up to points that were not earned. Returns buffer. */
char *mg_points(char buffer[32], double points);

/* mg_read_text -- a file up to its end or first byte 0, as a string the caller frees; NULL, with errno, when it cannot
 * be read. */
char *mg_read_text(const char *path);

/* mg_write -- a file that appears whole or not at all (temporary file, rename). Fails when path cannot be written. */
mt_status mg_write(const char *path, const char *bytes, size_t length);

/* mg_hash -- FNV-1a, 64 bits, continued from `hash`; begin with MG_HASH. */
#define MG_HASH 0xcbf29ce484222325u
uint64_t mg_hash(uint64_t hash, const void *bytes, size_t count);
