/* manifest.h -- manifest.json: what a checkpoint consists of.
 *
 *   {"crc32c":"1a2b3c4d","format":"minitorch checkpoint 1","step":500,
 *    "values":{"seed":"1","metrics rows":"2"},
 *    "files":[{"name":"model-00001-of-00001.safetensors","bytes":4096,"crc32c":"00c0ffee"}]}
 *
 * The first crc32c is that of the manifest itself with eight zeros in its place. */
#pragma once

#include "ckpt/commit.h"

MT_C_BEGIN

typedef struct mt_manifest {
    int64_t step;
    mt_state values; /* settings: integers and settings of the run as texts */
    mt_part *file;   /* name, bytes and crc32c of each */
    int64_t files;
} mt_manifest;

/* mt_manifest_put -- for mt_part's put: the text of a manifest, whose files are complete. */
void mt_manifest_put(mt_part *part, const void *manifest);

/* mt_manifest_read -- the manifest of a folder. MT_ERR_IO: there is none. MT_ERR_FORMAT, with the reason: damaged, not
 * ours, a name that leads out of the folder or occurs twice, an invalid number. Nothing to free then. */
mt_status mt_manifest_read(mt_manifest *out, const char *folder);
void mt_manifest_free(mt_manifest *manifest);

/* mt_json_parse -- the value that is all of text [size] but for white space behind it; cJSON_Delete frees it. NULL: it
 * is none (RFC 8259, UTF-8, at most 128 deep), or has a zero in a text, which would end there: cJSON's are C strings.
 * mt_json_twice -- a name that an object in it has more than once; NULL: none.
 * mt_json_whole -- an item as a whole number from 0 to 2^53 - 1; -1: it is none. */
struct cJSON *mt_json_parse(const char *text, int64_t size);
const char *mt_json_twice(const struct cJSON *json);
int64_t mt_json_whole(const struct cJSON *item);

/* mt_part_name_ok -- a plain file name: letters, digits, `.`, `-` and `_`, not beginning with a dot, not the
 * manifest's, and less than MT_PART_NAME long. Therefore no path. */
bool mt_part_name_ok(const char *name);

MT_C_END
