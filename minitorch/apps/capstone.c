/* capstone.c -- the last task of lab 15: plays a plan in the simulator, or trains GPT-2 within a budget of FLOPs, says
 * how far the entry's predictions were off, and keeps the results on a leaderboard. labs/15-scale/README.md has the
 * formats.
 *
 *     build/release/bin/capstone --entry labs/15-scale/entry.json
 *     build/release/bin/capstone --entry labs/15-scale/entry.json --train toy
 *     build/release/bin/capstone                                   # the leaderboard
 *     build/release/bin/capstone --verify 1a2b3c4d5e6f7081         # makes a result again from its file alone */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capstone/capstone.h"
#include "core/io.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "capstone/board.h"
#include "capstone/budgeted.h"
#include "train/corpus.h"

typedef struct options {
    const char *entry, *cluster, *train, *board, *out, *verify, *data, *vocabulary;
    int64_t seed;
    bool forget, quiet;
} options;

static const mt_option flags[] = {
    { "entry", 'e', "FILE", MT_TEXT(options, entry),
      "Entry to play or train; default: none: the leaderboard is shown" },
    { "cluster", 'c', "FILE", MT_TEXT(options, cluster), "Cluster and budget" },
    { "train", 0, "SIZE", MT_TEXT(options, train),
      "Train toy or gpt2 by the entry's \"train\", not play its \"plan\"" },
    { "seed", 's', "N", MT_I64(options, seed, 1, INT32_MAX), "Seed; default: that of the cluster" },
    { "board", 'b', "DIR", MT_TEXT(options, board), "Folder of the results" },
    { "forget", 0, NULL, MT_FLAG(options, forget), "Keep no result" },
    { "verify", 'v', "ID", MT_TEXT(options, verify), "Make a result again: its id, or the path of its file" },
    { "data", 'd', "FILE", MT_TEXT(options, data),
      "Text or token file to train on; default: tiny Shakespeare, for gpt2 its tokens" },
    { "vocab", 0, "DIR", MT_TEXT(options, vocabulary), "Folder of a token file's vocabulary" },
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder of training" },
    { "quiet", 'q', NULL, MT_FLAG(options, quiet), "What train_gpt2 says goes to a file" },
    { 0 },
};

/* What a result is made of: an entry and a cluster as JSON. */
typedef struct entry {
    const options *opt;
    const char *where, *cluster_where; /* names of the files */
    cJSON *json, *cluster_json;
    const cJSON *plan, *train, *predict;
    mt_capstone capstone;
    mt_board_row row;
    cJSON *result;
} entry;

/* What an entry may predict: of its plan, and of training. NAN: nothing. */
typedef struct prediction {
    double days, dollars, gb; /* gb: the most that a device has */
    double val_loss, steps;
} prediction;

enum { OF_PLAN = 3 }; /* the first ones */

static const mt_key prediction_keys[] = {
    MT_KEY_POSITIVE(prediction, "days", days, 1, 1e9),    MT_KEY_POSITIVE(prediction, "dollars", dollars, 1, 1e12),
    MT_KEY_POSITIVE(prediction, "gb", gb, 1, 1e9),        MT_KEY_POSITIVE(prediction, "val_loss", val_loss, 1, 1000),
    MT_KEY_POSITIVE(prediction, "steps", steps, 1, 1e12), { 0 },
};

static const mt_key entry_keys[] = {
    MT_KEY_TEXT(entry, "name", row.name, true),
    MT_KEY_ANY(entry, "plan", plan, false),
    MT_KEY_ANY(entry, "train", train, false),
    MT_KEY_ANY(entry, "predict", predict, false),
    { 0 },
};

/* ---- results ------------------------------------------------------------------------------------------- */

/* To the last bit. */
static void add_number(entry *e, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    cJSON_AddRawToObject(e->result, name, text);
}

static bool is_of(const entry *e, int64_t key)
{
    return (key < OF_PLAN) == (e->row.kind == MT_BOARD_PLAN);
}

/* Reads what the entry predicts of this run, and prints it, before anything of the run is known. */
static mt_status predict(prediction *p, const entry *e)
{
    char where[4200];
    double *value = &p->days;
    int64_t count = 0;
    *p = (prediction){ NAN, NAN, NAN, NAN, NAN };
    snprintf(where, sizeof where, "%s: \"predict\"", e->where);
    MT_TRY(e->predict ? mt_keys_read(p, prediction_keys, e->predict, where) : MT_OK);
    for (int64_t i = 0; prediction_keys[i].name; i++)
        if (is_of(e, i) && !isnan(value[i]))
            printf("%s%s %.6g", count++ ? ", " : "Predicted: ", prediction_keys[i].name, value[i]);
    if (count == 0)
        printf("Nothing is predicted: \"predict\": { %s } in the entry says what you expect, before you see it",
               e->row.kind == MT_BOARD_PLAN ? "\"days\": 2, \"dollars\": 3000, \"gb\": 30"
                                            : "\"val_loss\": 2, \"steps\": 1000");
    printf("\n");
    return MT_OK;
}

/* How far each prediction was off, and in the result the largest of these, in percent of what came. */
static void compare(entry *e, const prediction *p, const prediction *came)
{
    const double *value = &p->days, *real = &came->days;
    double most = -1;
    for (int64_t i = 0; prediction_keys[i].name; i++) {
        if (!is_of(e, i) || isnan(value[i]))
            continue;
        double off = 100 * (value[i] / real[i] - 1);
        printf("  predicted %-8s %12.6g, came %12.6g: %.1f %% too %s\n", prediction_keys[i].name, value[i], real[i],
               fabs(off), off < 0 ? "low" : "high");
        most = fmax(most, fabs(off));
    }
    if (most >= 0)
        add_number(e, "off_percent", most);
}

static void print_plan(const entry *e, const mt_capstone_plan *plan, const mt_capstone_score *s)
{
    const mt_capstone *c = &e->capstone;
    const mt_plan_device *d = &c->pool[plan->at].problem.device;
    printf("%s on \"%s\", pool %s: %" PRId64 " of %" PRId64 " %s are rented, %.2f of %.2f GB; mean of %" PRId64
           " futures, seed %" PRId64 "\n",
           e->row.name, c->name, plan->pool, s->rented, c->pool[plan->at].problem.devices, d->name,
           (double)s->peak / 1e9, (double)d->memory / 1e9, c->runs, e->row.seed);
    printf("  %-10s %10s %12s\n", "", "days", "dollars");
    printf("  %-10s %10.3f %12.2f   a step of %.4g s; no failures, no saves\n", "planned", s->planned_days,
           s->planned_dollars, s->planned_step);
    printf("  %-10s %10.3f %12.2f   a step of %.4g s; %.1f failures\n", "simulated", s->days, s->dollars, s->step,
           s->failures);
    printf("  %-10s %10.3f %12.2f   %s\n", "budget", c->days / 86400, c->dollars,
           s->within ? "the simulated run is within it" : "the simulated run is OVER it");
    printf("  goodput %.3f: %.2f hours of work, %.2f waiting, %.2f saving, %.2f lost, %.2f restarting\n", s->share,
           s->work, s->waiting, s->saving, s->lost, s->restarting);
}

/* Where a part of the entry is, for messages; it must be there. */
static mt_status find_part(char where[4200], const entry *e, const cJSON *part, const char *name)
{
    snprintf(where, 4200, "%s: \"%s\"", e->where, name);
    return part ? MT_OK : mt_fail(MT_ERR_ARGUMENT, "%s is missing: an example is in labs/15-scale/entry.json", where);
}

static mt_status play(entry *e)
{
    char where[4200];
    mt_capstone_plan plan;
    mt_capstone_score s;
    prediction p;
    MT_TRY(find_part(where, e, e->plan, "plan"));
    MT_TRY(mt_capstone_plan_read(&plan, &e->capstone, e->plan, where));
    MT_TRY(predict(&p, e));
    MT_TRY(mt_capstone_run(&s, &e->capstone, &plan, e->row.seed));
    print_plan(e, &plan, &s);
    const struct {
        const char *name;
        double value;
    } numbers[] = { { "dollars", s.dollars }, { "days", s.days },           { "goodput", s.share },
                    { "step", s.step },       { "failures", s.failures },   { "work_hours", s.work },
                    { "lost_hours", s.lost }, { "saving_hours", s.saving }, { "waiting_hours", s.waiting } };
    for (int i = 0; i < MT_COUNT(numbers); i++)
        add_number(e, numbers[i].name, numbers[i].value);
    compare(e, &p, &(prediction){ .days = s.days, .dollars = s.dollars, .gb = (double)s.peak / 1e9 });
    e->row.score = s.dollars, e->row.within = s.within;
    return MT_OK;
}

static mt_status train(entry *e)
{
    char where[4200], out[4096], weights[16];
    const char *size = mt_board_kinds[e->row.kind];
    const options *o = e->opt;
    mt_budgeted_result r;
    prediction p;
    mt_budgeted b = {
        .size = size, .data = o->data, .vocabulary = o->vocabulary, .out = out, .seed = e->row.seed, .quiet = o->quiet
    };
    if (!b.data && e->row.kind == MT_BOARD_GPT2) /* make capstone-train SIZE=gpt2 makes it */
        b.data = "build/capstone/shakespeare.tokens", b.vocabulary = "datasets/cache/gpt2";
    b.data = b.data ? b.data : mt_corpus_text();
    snprintf(out, sizeof out, "%s/%s", o->out, e->row.id);
    MT_TRY(find_part(where, e, e->train, "train"));
    MT_TRY(mt_budgeted_recipe_read(&b, e->train, where));
    MT_TRY(mt_capstone_train(&b.flops, &b.windows, &e->capstone, size, e->cluster_where));
    if (e->row.kind == MT_BOARD_GPT2 && !o->data && access(b.data, R_OK) != 0)
        return mt_fail(MT_ERR_IO, "there is no %s: make capstone-train SIZE=gpt2 ENTRY=file makes it", b.data);
    MT_TRY(predict(&p, e));
    MT_TRY(mt_budgeted_run(&r, &b));
    printf("%s: validation loss %.6f after %" PRId64 " steps, %.4g of %.4g FLOPs, %" PRId64 " tokens, seed %" PRId64
           "\n",
           e->row.name, r.loss, r.steps, (double)r.steps * (double)r.step_flops, b.flops, r.tokens, b.seed);
    add_number(e, "val_loss", r.loss);
    add_number(e, "steps", (double)r.steps);
    add_number(e, "flops", (double)r.steps * (double)r.step_flops);
    add_number(e, "tokens", (double)r.tokens);
    snprintf(weights, sizeof weights, "%08" PRIx32, r.weights);
    cJSON_AddStringToObject(e->result, "weights_crc32c", weights);
    cJSON_AddStringToObject(e->result, "data_crc32c", r.data);
    compare(e, &p, &(prediction){ .val_loss = r.loss, .steps = (double)r.steps });
    e->row.score = r.loss, e->row.within = true;
    return MT_OK;
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* The result of row.entry and row.cluster, with row.kind and row.seed (0: the cluster's). */
static mt_status make(entry *e)
{
    e->row.begin = mt_now();
    MT_TRY(mt_keys_parse(&e->cluster_json, e->row.cluster, e->cluster_where));
    MT_TRY(mt_keys_parse(&e->json, e->row.entry, e->where));
    MT_TRY(mt_capstone_read(&e->capstone, e->cluster_json, e->cluster_where));
    MT_TRY(mt_keys_read(e, entry_keys, e->json, e->where));
    e->row.seed = e->row.seed ? e->row.seed : e->capstone.seed;
    mt_board_id(&e->row);
    e->result = cJSON_CreateObject();
    e->row.result = e->result;
    return e->row.kind == MT_BOARD_PLAN ? play(e) : train(e);
}

static void end(entry *e)
{
    mt_capstone_free(&e->capstone);
    cJSON_Delete(e->json);
    cJSON_Delete(e->cluster_json);
    cJSON_Delete(e->result);
}

static mt_status read_text(char **text, const char *path)
{
    cJSON *json = NULL;
    mt_status status = mt_keys_open(&json, text, path);
    cJSON_Delete(json);
    if (status == MT_OK && strlen(*text) > MT_BOARD_MOST)
        status = mt_fail(MT_ERR_ARGUMENT, "%s: it has %zu bytes, and at most %d are kept", path, strlen(*text),
                         MT_BOARD_MOST);
    return status;
}

/* Known before hours of training, not after. */
static mt_status can_keep(const char *board)
{
    mt_file_writer file;
    char path[4096];
    MT_TRY(mt_cli_folder(board));
    snprintf(path, sizeof path, "%s/room", board);
    MT_TRY(mt_file_writer_open(&file, path));
    mt_file_writer_abandon(&file);
    return MT_OK;
}

static mt_status run_entry(const options *o)
{
    char *text = NULL, *cluster = NULL;
    entry e = { .opt = o, .where = o->entry, .cluster_where = o->cluster, .row.seed = o->seed };
    while (o->train && mt_board_kinds[e.row.kind] && strcmp(mt_board_kinds[e.row.kind], o->train) != 0)
        e.row.kind++;
    if (o->train && (e.row.kind == MT_BOARD_PLAN || !mt_board_kinds[e.row.kind]))
        return mt_fail(MT_ERR_ARGUMENT, "--train %.40s: use toy or gpt2", o->train);
    mt_status status = read_text(&cluster, o->cluster);
    if (status == MT_OK)
        status = read_text(&text, o->entry);
    e.row.entry = text, e.row.cluster = cluster;
    if (status == MT_OK && !o->forget)
        status = can_keep(o->board);
    if (status == MT_OK)
        status = make(&e);
    if (status == MT_OK && !o->forget)
        status = mt_board_keep(o->board, &e.row);
    if (status == MT_OK && !o->forget)
        printf("kept as %s/%s.json\n", o->board, e.row.id);
    end(&e);
    free(text);
    free(cluster);
    return status;
}

static mt_status verify(const options *o)
{
    char path[4200];
    mt_board_row kept;
    bool is_id = strlen(o->verify) == 16 && strspn(o->verify, "0123456789abcdef") == 16;
    snprintf(path, sizeof path, is_id ? "%s/%s.json" : "%s%s", is_id ? o->board : "", o->verify);
    if (is_id && access(path, F_OK) != 0)
        return mt_fail(MT_ERR_IO, "%s: %s: make leaderboard shows the ids there; BOARD=dir is another folder", path,
                       strerror(errno));
    if (mt_board_read(&kept, path) != MT_OK)
        return mt_fail(MT_ERR_ARGUMENT, "%s; make capstone ENTRY=file makes a result again", strdupa(mt_last_error()));
    entry e = { .opt = o, .where = "the entry", .cluster_where = "the cluster" };
    e.row.entry = kept.entry, e.row.cluster = kept.cluster, e.row.kind = kept.kind, e.row.seed = kept.seed;
    mt_status status = make(&e);
    if (status == MT_OK) {
        bool same = mt_board_same(kept.result, e.result) & (kept.within == e.row.within) & (kept.score == e.row.score) &
                    (strcmp(kept.name, e.row.name) == 0);
        printf("%s %s: %s (kept by commit %s, compiler %s)\n", kept.id, kept.name, same ? "equal" : "different",
               kept.commit, kept.compiler);
        if (!same)
            status = mt_fail(MT_ERR_UNAVAILABLE, "%s is not what this program makes of its entry", path);
    }
    end(&e);
    mt_board_free(&kept);
    return status;
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    options o = { .cluster = "labs/15-scale/cluster.json", .board = "build/leaderboard", .out = "build/run/capstone" };
    mt_cli_parse(argc, argv, "A plan in the simulator, or GPT-2 within a budget of FLOPs, and the leaderboard.", flags,
                 &o);
    return mt_cli_exit(o.verify ? verify(&o) : o.entry ? run_entry(&o) : mt_board_print(o.board));
}
