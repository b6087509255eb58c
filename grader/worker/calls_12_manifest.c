/* calls_12_manifest.c -- manifests as lines of text in place of JSON, whose library cannot be linked statically:
 *
 *     step 500
 *     file 4096 00c0ffee model-00001-of-00001.safetensors
 *     end
 *
 * These functions take the place of those of ckpt/manifest.c. */
#include "ckpt/manifest.h"
#include "core/io.h"
#include "worker/calls_12.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

int64_t mg_manifests;

void mt_manifest_free(mt_manifest *manifest)
{
    mg_manifests--;
    free(manifest->file);
    *manifest = (mt_manifest){ 0 };
}

static bool take_line(mt_manifest *m, const char *line)
{
    mt_part part = { 0 };
    m->file = realloc(m->file, (size_t)(m->files + 1) * sizeof *m->file);
    MT_CHECK(m->file, "out of memory");
    if (sscanf(line, "file %" SCNd64 " %" SCNx32 " %63s", &part.bytes, &part.crc32c, part.name) != 3)
        return false;
    m->file[m->files++] = part;
    return true;
}

static bool parse(mt_manifest *m, const uint8_t *bytes, int64_t size)
{
    char line[LINE];
    bool good = true, end = false;
    for (int64_t at = 0, n, number = 0; at < size && good && !end; at += n + 1, number++) {
        const uint8_t *stop = memchr(bytes + at, '\n', (size_t)(size - at));
        n = stop ? stop - (bytes + at) : size - at;
        snprintf(line, sizeof line, "%.*s", (int)n, bytes + at);
        end = strcmp(line, "end") == 0 && at + n + 1 == size;
        good = end || (number == 0 ? sscanf(line, "step %" SCNd64, &m->step) == 1 : take_line(m, line));
    }
    return good && end;
}

mt_status mt_manifest_read(mt_manifest *out, const char *folder)
{
    char path[MT_PATH_SIZE + MT_PART_NAME];
    mt_file_map file;
    snprintf(path, sizeof path, "%s/" MT_MANIFEST, folder);
    mt_status status = mt_file_map_open(&file, path);
    *out = (mt_manifest){ 0 };
    if (status != MT_OK)
        return status;
    mg_manifests++;
    if (!parse(out, file.bytes, file.size)) {
        mt_manifest_free(out);
        status = mt_fail(MT_ERR_FORMAT, "%s: damaged", path);
    }
    mt_file_map_close(&file);
    return status;
}
