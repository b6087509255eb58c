/* board.c -- see board.h. */
#include "capstone/board.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/crc32c.h"
#include "core/io.h"
#include "plan/keys.h"
#include "cli/cli.h"
#include "train/run_json.h"

#define FORMAT "minitorch leaderboard 1"

const char *const mt_board_kinds[] = { "plan", "toy", "gpt2", NULL };

/* CRC-32C of texts and the zeros behind them. It finds accidents; what an id stands for is compared as text. */
static uint32_t hash(const char *const *text, int count)
{
    uint32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = mt_crc32c(sum, text[i], (int64_t)strlen(text[i]) + 1);
    return sum;
}

/* 8 digits of kind, seed and cluster, and 8 of the entry. */
void mt_board_id(mt_board_row *row)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRId64, row->seed);
    snprintf(row->id, sizeof row->id, "%08" PRIx32 "%08" PRIx32,
             hash((const char *const[]){ mt_board_kinds[row->kind], seed, row->cluster }, 3), hash(&row->entry, 1));
}

/* ---- one result ---------------------------------------------------------------------------------------- */

static cJSON *json_of(const mt_board_row *row)
{
    char text[40];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", FORMAT);
    cJSON_AddStringToObject(json, "id", row->id);
    cJSON_AddStringToObject(json, "kind", mt_board_kinds[row->kind]);
    cJSON_AddStringToObject(json, "name", row->name);
    cJSON_AddNumberToObject(json, "seed", (double)row->seed);
    snprintf(text, sizeof text, "%.17g", row->score);
    cJSON_AddRawToObject(json, "score", text);
    cJSON_AddBoolToObject(json, "within", row->within);
    cJSON_AddItemToObject(json, "result", cJSON_Duplicate(row->result, true));
    mt_run_made(json, row->begin);
    snprintf(text, sizeof text, "%08" PRIx32, hash(&row->entry, 1));
    cJSON_AddStringToObject(json, "entry_hash", text);
    cJSON_AddStringToObject(json, "entry", row->entry);
    snprintf(text, sizeof text, "%08" PRIx32, hash(&row->cluster, 1));
    cJSON_AddStringToObject(json, "cluster_hash", text);
    cJSON_AddStringToObject(json, "cluster", row->cluster);
    return json;
}

/* Whether the file that has the row's id, if there is one, has its entry too. */
static mt_status check_older(const char *path, const mt_board_row *row)
{
    mt_board_row old;
    if (mt_board_read(&old, path) != MT_OK)
        return MT_OK;
    bool same = strcmp(old.entry, row->entry) == 0 && strcmp(old.cluster, row->cluster) == 0 && old.seed == row->seed;
    mt_board_free(&old);
    return same ? MT_OK
                : mt_fail(MT_ERR_ARGUMENT, "%s has another entry with the same hash: add a space to yours", path);
}

mt_status mt_board_keep(const char *folder, mt_board_row *row)
{
    char path[4096];
    mt_board_id(row);
    MT_TRY(mt_cli_folder(folder));
    snprintf(path, sizeof path, "%s/%s.json", folder, row->id);
    MT_TRY(check_older(path, row));
    return mt_run_write(path, json_of(row));
}

/* What a file says, as texts that are not checked yet. */
typedef struct record {
    mt_board_row row;
    const char *format, *id;
    const cJSON *within, *seconds, *commit, *machine, *entry, *cluster, *entry_hash, *cluster_hash;
} record;

static const mt_key keys[] = {
    MT_KEY_TEXT(record, "format", format, true),
    MT_KEY_TEXT(record, "id", id, true),
    { "kind", offsetof(record, row.kind), MT_KEY_IS_CHOICE, true, false, 0, 0, 0, mt_board_kinds },
    MT_KEY_TEXT(record, "name", row.name, true),
    MT_KEY_WHOLE(record, "seed", row.seed, 1, 9007199254740992.0, true),
    { "score", offsetof(record, row.score), MT_KEY_IS_NUMBER, true, false, 0, 1e300, 1, NULL },
    MT_KEY_ANY(record, "within", within, true),
    MT_KEY_ANY(record, "result", row.result, true),
    MT_KEY_TEXT(record, "started", row.started, true),
    MT_KEY_ANY(record, "seconds", seconds, true),
    MT_KEY_ANY(record, "commit", commit, true),
    MT_KEY_TEXT(record, "compiler", row.compiler, true),
    MT_KEY_ANY(record, "machine", machine, true),
    MT_KEY_ANY(record, "entry_hash", entry_hash, true),
    MT_KEY_ANY(record, "entry", entry, true),
    MT_KEY_ANY(record, "cluster_hash", cluster_hash, true),
    MT_KEY_ANY(record, "cluster", cluster, true),
    { 0 },
};

/* Whether a text of the file is the one that was kept. */
static bool is_kept(const char **text, const cJSON *item, const cJSON *hashed)
{
    char h[9] = "";
    const char *want = cJSON_GetStringValue(hashed);
    *text = cJSON_GetStringValue(item);
    if (*text)
        snprintf(h, sizeof h, "%08" PRIx32, hash(text, 1));
    return *text && want && strlen(*text) <= MT_BOARD_MOST && strcmp(h, want) == 0;
}

/* A commit as it is shown: "1a2b...", perhaps with "-dirty" behind it; "-" for any other text, or if git gave none. */
static const char *shown_commit(const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    size_t length = text ? strspn(text, "0123456789abcdef-dirty") : 0;
    return length && length < 64 && !text[length] ? text : "-";
}

static mt_status check(record *r, const char *path)
{
    mt_board_row *row = &r->row;
    if (strcmp(r->format, FORMAT) != 0)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"format\" is not \"" FORMAT "\"", path);
    if (!is_kept(&row->entry, r->entry, r->entry_hash) || !is_kept(&row->cluster, r->cluster, r->cluster_hash))
        return mt_fail(MT_ERR_ARGUMENT, "%s: the entry or the cluster was changed after the result was kept", path);
    if (!cJSON_IsBool(r->within) || !cJSON_IsObject(row->result))
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"within\" is not true or false, or \"result\" is not an object", path);
    row->within = cJSON_IsTrue(r->within);
    row->commit = shown_commit(r->commit);
    mt_board_id(row);
    if (strcmp(row->id, r->id) != 0)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"id\" is not that of kind, seed, entry and cluster", path);
    return MT_OK;
}

mt_status mt_board_read(mt_board_row *out, const char *path)
{
    record r = { 0 };
    char *text = NULL;
    cJSON *json = NULL;
    mt_status status = mt_keys_open(&json, &text, path);
    if (status == MT_OK)
        status = mt_keys_read(&r, keys, json, path);
    if (status == MT_OK)
        status = check(&r, path);
    free(text);
    r.row.json = json;
    if (status == MT_OK)
        *out = r.row;
    else
        cJSON_Delete(json);
    return status;
}

void mt_board_free(mt_board_row *row)
{
    cJSON_Delete(row->json);
    *row = (mt_board_row){ 0 };
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static int compare_contest(const mt_board_row *a, const mt_board_row *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->cluster, b->cluster);
}

static int compare(const void *x, const void *y)
{
    const mt_board_row *a = x, *b = y;
    int contest = compare_contest(a, b);
    if (contest || a->within != b->within)
        return contest ? contest : (b->within ? 1 : -1);
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    return strcmp(a->id, b->id);
}

static void print_head(const mt_board_row *row)
{
    static const char *const title[] = { "Plans in the simulator: dollars", "GPT-2 trained, toy: validation loss",
                                         "GPT-2 trained, 124M: validation loss" };
    printf("%s, cluster file %08" PRIx32 "\n", title[row->kind], hash(&row->cluster, 1));
    printf("  %17s %7s  %-24s %6s  %-16s  %-12s %s\n", "score", "off %", "name", "seed", "id", "commit", "begun");
}

static void print_rows(const mt_board_row *rows, int64_t count)
{
    int64_t place = 0;
    for (int64_t i = 0; i < count; i++) {
        const mt_board_row *r = &rows[i];
        const cJSON *off = cJSON_GetObjectItemCaseSensitive(r->result, "off_percent"); /* left out: nothing predicted */
        char text[24] = "over", most[24] = "-";
        if (i == 0 || compare_contest(r - 1, r) != 0)
            print_head(r), place = 0;
        if (r->within)
            snprintf(text, sizeof text, "%" PRId64, ++place);
        if (cJSON_IsNumber(off))
            snprintf(most, sizeof most, "%.4g", off->valuedouble);
        printf("  %4s %12.*f %7s  %-24.24s %6" PRId64 "  %-16s  %-12.12s %s\n", text, r->kind == MT_BOARD_PLAN ? 2 : 6,
               r->score, most, r->name, r->seed, r->id, r->commit, r->started);
    }
}

typedef struct rows {
    const char *folder;
    mt_board_row *row;
    int64_t count;
    bool broken; /* something was left out */
} rows;

static void add_file(void *user, const char *name)
{
    rows *all = user;
    char path[4096];
    size_t length = strlen(name);
    mt_board_row row;
    if (name[0] == '.' || length < 6 || strcmp(name + length - 5, ".json") != 0)
        return;
    snprintf(path, sizeof path, "%s/%s", all->folder, name);
    if (mt_board_read(&row, path) != MT_OK) {
        mt_warn("left out: %s", mt_last_error());
        all->broken = true;
        return;
    }
    all->row = mt_realloc(all->row, all->count + 1, sizeof row);
    all->row[all->count++] = row;
}

mt_status mt_board_print(const char *folder)
{
    rows all = { .folder = folder };
    mt_io *io = mt_io_now();
    if (io->list(io, folder, add_file, &all) < 0 && errno != ENOENT)
        return mt_fail(MT_ERR_IO, "%s: %s; choose a folder of results that you may read (BOARD=dir)", folder,
                       strerror(errno));
    if (all.broken)
        mt_warn("remove such files; make capstone ENTRY=file makes a result again");
    if (all.count)
        qsort(all.row, (size_t)all.count, sizeof *all.row, compare);
    else
        printf("%s: no results: make capstone ENTRY=file keeps one\n", folder);
    print_rows(all.row, all.count);
    for (int64_t i = 0; i < all.count; i++)
        mt_board_free(&all.row[i]);
    free(all.row);
    return MT_OK;
}

/* ---- made again ---------------------------------------------------------------------------------------- */

/* For the terminal: a kept text may have been changed. */
static const char *value_text(char out[64], const cJSON *item)
{
    if (cJSON_IsNumber(item))
        snprintf(out, 64, "%.17g", item->valuedouble);
    else if (cJSON_IsRaw(item))
        snprintf(out, 64, "%s", item->valuestring);
    else
        snprintf(out, 64, "%s", cJSON_IsString(item) ? item->valuestring : "nothing");
    for (char *p = out; *p; p++)
        *p = *p < ' ' || *p > '~' ? '?' : *p;
    return out;
}

bool mt_board_same(const cJSON *kept, const cJSON *now)
{
    bool same = true;
    char a[64], b[64];
    for (const cJSON *n = now->child; n; n = n->next) {
        const cJSON *k = cJSON_GetObjectItemCaseSensitive(kept, n->string);
        if (strcmp(value_text(a, k), value_text(b, n)) == 0)
            continue;
        printf("  %s: kept %s, now %s\n", n->string, a, b);
        same = false;
    }
    if (cJSON_GetArraySize(kept) != cJSON_GetArraySize(now)) {
        printf("  kept %d numbers and texts, now %d\n", cJSON_GetArraySize(kept), cJSON_GetArraySize(now));
        same = false;
    }
    return same;
}
