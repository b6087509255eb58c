/* run_json.c -- see run_json.h. */
#include "train/run_json.h"

#include <cjson/cJSON.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/denormals.h"
#include "core/io.h"
#include "ckpt/manifest.h"
#include "cli/cli.h"
#include "cli/programs.h"
#include "train/saving.h"

/* The first line of a stream that begins with `prefix`, without it and what is up to a ": " behind it. */
static void line_of(char text[256], FILE *in, const char *prefix)
{
    char line[256];
    *text = 0;
    while (in && !*text && fgets(line, sizeof line, in))
        if (strncmp(line, prefix, strlen(prefix)) == 0) {
            const char *colon = *prefix ? strstr(line, ": ") : NULL;
            snprintf(text, 256, "%.*s", (int)strcspn(colon ? colon + 2 : line, "\n"), colon ? colon + 2 : line);
        }
}

static void add_commit(cJSON *json)
{
    char command[4200], text[256] = "";
    const char *folder = mt_cli_sibling(".");
    FILE *git = NULL;
    snprintf(command, sizeof command, "git -C '%s' describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null",
             folder);
    if (!strchr(folder, '\''))
        git = popen(command, "re");
    line_of(text, git, "");
    if (git)
        pclose(git);
    cJSON_AddStringToObject(json, "commit", text);
}

static void add_machine(cJSON *json)
{
    char text[256];
    struct utsname name;
    cJSON *machine = cJSON_AddObjectToObject(json, "machine");
    FILE *cpus = fopen("/proc/cpuinfo", "re");
    line_of(text, cpus, "model name");
    if (cpus)
        fclose(cpus);
    cJSON_AddStringToObject(machine, "host", uname(&name) == 0 ? name.nodename : "");
    cJSON_AddStringToObject(machine, "cpu", text);
    cJSON_AddNumberToObject(machine, "threads", omp_get_max_threads());
    cJSON_AddBoolToObject(machine, "denormals_flushed", mt_denormals_flushed());
}

void mt_run_made(cJSON *json, double start)
{
    char when[32];
    double seconds = mt_now() - start;
    time_t began = time(NULL) - (time_t)seconds;
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&began, &utc));
    cJSON_AddStringToObject(json, "started", when);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    add_commit(json);
    cJSON_AddStringToObject(json, "compiler", __VERSION__);
    add_machine(json);
}

mt_status mt_run_write(const char *path, cJSON *json)
{
    mt_file_writer file;
    char *text = cJSON_Print(json);
    MT_CHECK(text, "out of memory");
    mt_status status = mt_file_writer_open(&file, path);
    if (status == MT_OK) {
        fprintf(file.out, "%s\n", text);
        status = mt_file_writer_close(&file);
    }
    cJSON_free(text);
    cJSON_Delete(json);
    return status;
}

static void add_ranks(cJSON *json, const mt_run_note *note)
{
    cJSON *ranks = note->took ? cJSON_AddArrayToObject(json, "ranks") : NULL;
    for (const mt_rank_took *t = note->took; ranks && t < note->took + note->ranks; t++) {
        const int64_t value[] = { t->planned_peak, t->peak, t->planned_sent, t->sent };
        static const char *const name[] = { "planned_peak", "peak", "planned_sent", "sent" };
        cJSON *rank = cJSON_CreateObject();
        for (int i = 0; i < MT_COUNT(value); i++)
            if (value[i] >= 0)
                cJSON_AddNumberToObject(rank, name[i], (double)value[i]);
        cJSON_AddItemToArray(ranks, rank);
    }
}

/* An object with a path, which is complete where it leads somewhere, and the checksum of a file; path or file NULL: it
 * is left out. */
static void add_source(cJSON *json, const char *name, const char *path, const char *file)
{
    char whole[MT_PATH];
    cJSON *source = path || file ? cJSON_AddObjectToObject(json, name) : NULL;
    if (path)
        cJSON_AddStringToObject(source, "path", realpath(path, whole) ? whole : path);
    if (file)
        cJSON_AddStringToObject(source, "checksum", mt_saving_sum(file));
}

static void add_sources(cJSON *json, const mt_run_note *note)
{
    char vocabulary[4096];
    snprintf(vocabulary, sizeof vocabulary, "%s/vocab.bpe", note->dir);
    add_source(json, "data", note->data, note->summed);
    add_source(json, "valid", note->valid, note->valid);
    add_source(json, "vocabulary", note->vocabulary, access(vocabulary, R_OK) == 0 ? vocabulary : NULL);
}

static mt_status write_json(const mt_run_note *note, const mt_state *rest)
{
    const char *ended = note->status == MT_OK ? "done" : note->status == MT_ERR_STOPPED ? "stopped" : "failed";
    char path[4096];
    snprintf(path, sizeof path, "%s/run.json", note->dir);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "status", note->running ? "running" : ended);
    mt_run_made(json, note->start);
    if (note->strategy)
        cJSON_AddStringToObject(json, "strategy", note->strategy);
    add_sources(json, note);
    add_ranks(json, note);
    cJSON *settings = cJSON_AddObjectToObject(json, "settings"), *values = cJSON_AddObjectToObject(json, "values");
    mt_state texts = mt_state_texts(rest);
    for (const mt_state_item *i = texts.item; i < texts.item + texts.count; i++)
        if (!strchr(i->name, '/'))
            cJSON_AddStringToObject(mt_state_find(rest, i->name)->setting ? settings : values, i->name, i->setting);
    mt_state_free(&texts);
    if (!note->running && note->status == MT_OK)
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(json, "result"), note->name, note->value);
    return mt_run_write(path, json);
}

mt_status mt_run_json(const mt_run_note *note, const mt_state *rest)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", mt_last_error());
    mt_status written = write_json(note, rest);
    return note->status == MT_OK ? written : mt_fail(note->status, "%s", why);
}

/* ---- read again ------------------------------------------------------------------------------------------ */

static void text_of(char *out, size_t size, const cJSON *json, const char *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, object), name);
    snprintf(out, size, "%s", cJSON_IsString(item) ? item->valuestring : "");
}

mt_status mt_run_data_read(mt_run_data *out, const char *dir)
{
    char path[4096];
    mt_file_map file;
    snprintf(path, sizeof path, "%s/run.json", dir);
    *out = (mt_run_data){ 0 };
    if (access(path, F_OK) != 0)
        return MT_OK;
    MT_TRY(mt_file_map_open(&file, path));
    cJSON *json = mt_json_parse((const char *)file.bytes, file.size);
    mt_file_map_close(&file);
    if (!json)
        return mt_fail(MT_ERR_FORMAT, "%s: no JSON; move it away, and name the data with --data", path);
    text_of(out->path, sizeof out->path, json, "data", "path");
    text_of(out->valid, sizeof out->valid, json, "valid", "path");
    text_of(out->checksum, sizeof out->checksum, json, "data", "checksum");
    text_of(out->vocabulary_checksum, sizeof out->vocabulary_checksum, json, "vocabulary", "checksum");
    cJSON_Delete(json);
    return MT_OK;
}
