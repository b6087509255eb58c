/* capture.c -- see capture.h. */
#include "sandbox/capture.h"
#include "rows/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mg_capture_call(mg_capture *capture, const mg_invocation *in)
{
    mg_wire_request request = {
        .count = (uint32_t)in->count, .threads = (uint32_t)in->threads, .at_end = true, .off = in->off
    };
    if (!capture->file || capture->failed)
        return;
    snprintf(request.function, sizeof request.function, "%s", in->function);
    for (int i = 0; i < in->count; i++) {
        const mg_argument *a = &in->argument[i];
        request.value[i] = (mg_wire_value){ .kind = a->kind, .dtype = a->dtype, .i64 = a->i64, .real = a->real };
        memcpy(request.value[i].name, a->name, sizeof a->name);
        request.value[i].bytes = a->data ? (uint64_t)a->bytes : 0;
    }
    fwrite(&request, sizeof request, 1, capture->file);
    for (int i = 0; i < in->count; i++)
        if (request.value[i].bytes)
            fwrite(in->argument[i].data, 1, (size_t)in->argument[i].bytes, capture->file);
}

/* Move what begins at `from` to the start of the file. */
static void keep_from(FILE *file, long from)
{
    long end = ftell(file);
    char *bytes = malloc((size_t)(end - from) + 1);
    MT_CHECK(bytes, "out of memory");
    fseek(file, from, SEEK_SET);
    size_t n = fread(bytes, 1, (size_t)(end - from), file);
    rewind(file);
    fwrite(bytes, 1, n, file);
    fflush(file);
    if (ftruncate(fileno(file), (off_t)n))
        mt_warn("capture: the file has other calls too");
    free(bytes);
}

void mg_capture_row(mg_capture *capture, const mg_row *row)
{
    if (!capture->file || capture->failed)
        return;
    capture->failed = mg_row_failed(row);
    if (capture->failed)
        keep_from(capture->file, capture->begin);
    fflush(capture->file);
    capture->begin = ftell(capture->file);
}
