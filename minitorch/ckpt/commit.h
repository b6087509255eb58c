/* commit.h -- a checkpoint on the disk, so that a crash or a power cut at any moment leaves the checkpoints that were
 * complete before, and this one either complete or recognisably incomplete.
 *
 *     DIR/step-500/model-00001-of-00002.safetensors ...   its files (ckpt/shards.h)
 *     DIR/step-500/manifest.json                          written last: the step, and bytes and CRC-32C of each file
 *
 * A program that ends has lost nothing that it wrote: the operating system has it. A power cut loses what was not
 * synced, in any order: a name may be on the disk before the bytes of its file. Unit:
 * solutions/12-checkpoints/commit.c. Source: Pillai et al., "All File Systems Are Not Created
 * Equal", OSDI 2014. */
#pragma once

#include "core/state.h"

#include <stdio.h>

MT_C_BEGIN

enum { MT_PART_NAME = 64, MT_PATH_SIZE = 4096 };
#define MT_MANIFEST "manifest.json"

/* A file of a checkpoint. */
typedef struct mt_part {
    char name[MT_PART_NAME];
    void (*put)(struct mt_part *part, const void *user); /* writes all of it by mt_part_put */
    const void *user;
    int64_t bytes; /* of what was put so far, and then of the whole file */
    uint32_t crc32c;
    FILE *out; /* while it is written */
} mt_part;

/* mt_part_put -- append bytes, counted and summed. A failed write is found when the file is committed. */
void mt_part_put(mt_part *part, const void *data, int64_t bytes);

/* mt_commit_file -- FOLDER/NAME holds what part->put writes, durably: after MT_OK a power cut leaves all of it, and at
 * any moment before it, the file that had this name, or none. MT_ERR_IO: the same. Cost: the bytes written once, two
 * fsyncs.   Lab 12.3 */
mt_status mt_commit_file(const char *folder, mt_part *part);

/* mt_commit -- a new folder with `count` files, the last of which (the manifest) says that the others are complete and
 * exists only if they do. An older folder of this name is removed. MT_ERR_IO: what can be removed of it is removed;
 * there is no valid manifest.   Lab 12.3 */
mt_status mt_commit(const char *folder, mt_part *parts, int64_t count);

/* mt_checkpoint_path -- DIR/step-N.   out [MT_PATH_SIZE] */
void mt_checkpoint_path(char *out, const char *dir, int64_t step);

/* mt_checkpoint_remove -- all of a checkpoint, its manifest first and durably so: what a crash leaves of it is not
 * taken for one. Of a symbolic link only the link is removed. MT_OK when there is none.   Lab 12.3 */
mt_status mt_checkpoint_remove(const char *folder);

MT_C_END
