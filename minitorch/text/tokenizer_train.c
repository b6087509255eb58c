/* tokenizer_train.c -- learning merges. Most pieces of a text occur often, so equal pieces are counted once; then each
 * merge visits only the pieces that contain its pair. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "text/heap.h"
#include "text/tokenizer.h"

/* Two neighbouring symbols, as a string of the set `pair`. */
typedef struct both {
    int32_t left, right;
} both;

/* Where a pair occurs. Its count only falls after the merge that made it, so the heap may hold an older, larger
 * count. */
typedef struct use {
    int64_t times;
    int32_t *in; /* [places] pieces that contain it, or did */
    int64_t places, room;
} use;

typedef struct trainer {
    mt_strings piece; /* the different pieces of the text */
    int64_t *times;   /* [piece.count] how often each occurs */
    int64_t *n;       /* [piece.count] its symbols now: */
    int32_t *symbol;  /* symbol[piece.start[i]] up to, not including, symbol[piece.start[i] + n[i]] */
    mt_strings pair;  /* the different pairs of neighbours */
    use *use;         /* [pair.count] */
    int64_t use_room;
    mt_heap heap; /* -times, then left and right */
} trainer;

/* ---- counting --------------------------------------------------------------------------------------- */

/* Room for `times` grows with the pieces. */
static mt_status count_pieces(trainer *t, const mt_file_map *file, int64_t *room, int64_t before, mt_progress *progress)
{
    enum { SHOWN = 1 << 16 }; /* bytes between two calls for the progress */
    int64_t shown = 0;
    for (int64_t at = 0, end; at < file->size; at = end) {
        end = mt_piece_end(file->bytes, file->size, at);
        int64_t i = mt_strings_add(&t->piece, file->bytes + at, end - at);
        t->times = mt_grown(t->times, room, i + 1, sizeof *t->times);
        t->times[i]++;
        if (end < shown)
            continue;
        shown = end + SHOWN;
        mt_progress_show(progress, mt_min((before + end) / 1000, progress->total), "%.1f M different pieces",
                         (double)t->piece.count * 1e-6);
        if (mt_cli_stopped())
            return mt_fail(MT_ERR_STOPPED, "stopped");
    }
    return MT_OK;
}

static mt_status count_all(trainer *t, const mt_file_map *files, int64_t count, bool quiet)
{
    int64_t room = 0, total = 0, before = 0;
    mt_status status = MT_OK;
    for (int64_t i = 0; i < count; i++)
        total += files[i].size;
    mt_progress progress = mt_progress_begin("kB", mt_max(total / 1000, 1));
    progress.mode = quiet ? MT_PROGRESS_OFF : progress.mode;
    for (int64_t i = 0; i < count && status == MT_OK; before += files[i++].size)
        status = count_pieces(t, &files[i], &room, before, &progress);
    mt_progress_clear(&progress);
    return status;
}

/* Two neighbours of a piece have come (sign 1) or gone (-1). */
static void count_pair(trainer *t, int32_t piece, int32_t left, int32_t right, int64_t sign)
{
    int64_t number = mt_strings_add(&t->pair, &(both){ left, right }, sizeof(both));
    t->use = mt_grown(t->use, &t->use_room, number + 1, sizeof *t->use);
    use *u = &t->use[number];
    u->times += sign * t->times[piece];
    if (sign < 0 || (u->places > 0 && u->in[u->places - 1] == piece))
        return;
    u->in = mt_grown(u->in, &u->room, u->places + 1, sizeof *u->in);
    u->in[u->places++] = piece;
}

static both pair_of(const trainer *t, int64_t number)
{
    both pair;
    memcpy(&pair, t->pair.bytes + t->pair.start[number], sizeof pair);
    return pair;
}

static void push(trainer *t, int64_t number)
{
    both pair = pair_of(t, number);
    mt_heap_push(&t->heap, -t->use[number].times, (int64_t)pair.left << 32 | pair.right);
}

/* The pieces as symbols, and the pairs of neighbours in them. */
static void count_pairs(trainer *t)
{
    int64_t count = t->piece.count, total = count ? t->piece.start[count] : 0;
    t->n = mt_calloc(count, sizeof *t->n);
    t->symbol = mt_calloc(total, sizeof *t->symbol);
    for (int64_t i = 0; i < count; i++)
        t->n[i] = t->piece.start[i + 1] - t->piece.start[i];
    for (int64_t i = 0; i < total; i++)
        t->symbol[i] = t->piece.bytes[i];
    for (int32_t p = 0; p < count; p++)
        for (int64_t i = t->piece.start[p]; i + 1 < t->piece.start[p + 1]; i++)
            count_pair(t, p, t->symbol[i], t->symbol[i + 1], 1);
    for (int64_t i = 0; i < t->pair.count; i++)
        push(t, i);
}

/* The pair that occurs most often, -1 when none occurs twice. */
static int64_t most_frequent(trainer *t)
{
    while (t->heap.count > 0) {
        mt_heap_item best = mt_heap_pop(&t->heap);
        both pair = { (int32_t)(best.second >> 32), (int32_t)best.second };
        int64_t number = mt_strings_find(&t->pair, &pair, sizeof pair);
        if (-best.first == t->use[number].times)
            return t->use[number].times >= 2 ? number : -1;
        push(t, number);
    }
    return -1;
}

/* ---- merging ------------------------------------------------------------------------------------------ */

/* At each step the piece is symbol[0 .. n-1], already merged, and symbol[i .. end-1]. */
static void merge_in_piece(trainer *t, int32_t piece, both pair, int32_t made)
{
    int32_t *symbol = t->symbol + t->piece.start[piece];
    int64_t n = 0, end = t->n[piece];
    for (int64_t i = 0; i < end; i++) {
        if (i + 1 == end || symbol[i] != pair.left || symbol[i + 1] != pair.right) {
            symbol[n++] = symbol[i];
            continue;
        }
        if (n > 0) {
            count_pair(t, piece, symbol[n - 1], pair.left, -1);
            count_pair(t, piece, symbol[n - 1], made, 1);
        }
        count_pair(t, piece, pair.left, pair.right, -1);
        if (++i + 1 < end) {
            count_pair(t, piece, pair.right, symbol[i + 1], -1);
            count_pair(t, piece, made, symbol[i + 1], 1);
        }
        symbol[n++] = made;
    }
    t->n[piece] = n;
}

/* Merge a pair wherever it occurs. The pairs that this makes are new; they enter the heap when all of them are
 * counted. */
static void merge(trainer *t, int64_t number, int32_t made)
{
    int64_t first_new = t->pair.count;
    use old = t->use[number]; /* the array may move */
    for (int64_t i = 0; i < old.places; i++)
        merge_in_piece(t, old.in[i], pair_of(t, number), made);
    for (int64_t i = first_new; i < t->pair.count; i++)
        push(t, i);
}

static void trainer_free(trainer *t)
{
    for (int64_t i = 0; i < t->pair.count; i++)
        free(t->use[i].in);
    mt_strings_free(&t->piece);
    mt_strings_free(&t->pair);
    free(t->times);
    free(t->n);
    free(t->symbol);
    free(t->use);
    free(t->heap.item);
}

/* Merges until the vocabulary has `ids`, its end of text included. */
static mt_status merge_all(trainer *t, mt_vocabulary *v, int64_t ids, bool quiet)
{
    mt_progress progress = mt_progress_begin("merges", mt_max(ids - 1 - MT_BYTES, 1));
    progress.mode = quiet ? MT_PROGRESS_OFF : progress.mode;
    for (int64_t number; v->token.count < ids - 1 && (number = most_frequent(t)) >= 0;) {
        both pair = pair_of(t, number);
        int32_t made = mt_vocabulary_merge(v, mt_symbol_id(v, pair.left), mt_symbol_id(v, pair.right));
        if (made >= 0) /* otherwise another token has the same bytes: leave this pair unmerged */
            merge(t, number, made);
        mt_progress_show(&progress, v->token.count - MT_BYTES, "%d tokens", (int)v->token.count);
        if (mt_cli_stopped())
            return mt_fail(MT_ERR_STOPPED, "stopped");
    }
    mt_progress_clear(&progress);
    return MT_OK;
}

mt_status mt_vocabulary_learn(mt_vocabulary **out, const mt_file_map *files, int64_t count, int64_t ids, bool quiet)
{
    trainer t = { 0 };
    mt_vocabulary *v = mt_vocabulary_new();
    MT_CHECK(ids > MT_BYTES && ids <= MT_MOST_IDS, "a vocabulary of %" PRId64 " ids", ids);
    mt_status status = count_all(&t, files, count, quiet);
    if (status == MT_OK) {
        count_pairs(&t);
        status = merge_all(&t, v, ids, quiet);
    }
    trainer_free(&t);
    mt_vocabulary_add_end(v);
    if (status == MT_OK)
        *out = v;
    else
        mt_vocabulary_free(v);
    return status;
}

mt_vocabulary *mt_vocabulary_train(const uint8_t *text, int64_t size, int64_t ids)
{
    mt_vocabulary *v = NULL;
    mt_must(mt_vocabulary_learn(&v, &(mt_file_map){ .bytes = text, .size = size }, 1, ids, true));
    return v;
}
