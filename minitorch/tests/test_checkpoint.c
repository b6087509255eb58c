/* test_checkpoint.c -- a run that is saved and read back goes on with the same bits; damaged files change nothing. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/checkpoint.h"
#include "must.h"
#include "temp_dir.h"
#include "testing/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(checkpoint, .init = temp_dir_make, .fini = temp_dir_remove);

static const mt_gpt2_config tiny = { 13, 0, 5, 2, 3, 9 };

typedef struct trained {
    mt_module *model;
    mt_optim *optim;
} trained;

static trained begin(uint64_t seed, const mt_gpt2_config *config)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_INIT);
    trained t = { mt_gpt2_new(config, &rng), mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW)) };
    mt_state params = mt_module_params(t.model);
    for (int64_t i = 0; i < params.count; i++)
        mt_optim_add(t.optim, params.item[i].name, params.item[i].tensor);
    mt_state_free(&params);
    return t;
}

static void end(trained *t)
{
    mt_optim_free(t->optim);
    mt_module_free(t->model);
}

static void steps(trained *t, int count)
{
    static const int32_t text[] = { 1, 5, 12, 0, 7, 5, 12, 0, 7, 3 };
    for (int i = 0; i < count; i++) {
        mt_scope_begin();
        mt_tensor *x = mt_from(MT_SHAPE(2, 5), MT_I32, text), *y = mt_from(MT_SHAPE(2, 5), MT_I32, text);
        mt_backward(mt_gpt2_loss(t->model, x, y));
        mt_optim_step(t->optim);
        mt_optim_zero_grad(t->optim);
        mt_scope_end();
    }
}

static void same(const trained *a, const trained *b)
{
    mt_state left = mt_module_params(a->model), right = mt_module_params(b->model);
    for (int64_t i = 0; i < left.count; i++)
        must(mt_compare_bits(left.item[i].name, mt_f32(left.item[i].tensor), mt_f32(right.item[i].tensor),
                             mt_numel(left.item[i].tensor)));
    mt_state_free(&left);
    mt_state_free(&right);
}

Test(checkpoint, goes_on_bit_for_bit)
{
    const char *path = in_dir("run.ckpt");
    trained straight = begin(1, &tiny), broken = begin(2, &tiny);
    steps(&straight, 3);
    cr_assert_eq(mt_checkpoint_write(path, &(mt_place){ 3, 7, 2 }, straight.model, straight.optim), MT_OK);
    steps(&straight, 4);
    mt_checkpoint c;
    cr_assert_eq(mt_checkpoint_open(&c, path), MT_OK, "%s", mt_last_error());
    cr_assert(c.place.step == 3 && c.place.steps == 7 && c.place.rows == 2);
    cr_assert(c.config.vocabulary == 13 && c.config.rows == 64 && c.config.heads == 3);
    cr_assert_eq(mt_checkpoint_load(&c, broken.model, broken.optim), MT_OK, "%s", mt_last_error());
    mt_checkpoint_close(&c);
    steps(&broken, 4);
    same(&straight, &broken);
    end(&straight);
    end(&broken);
}

static void rewrite(const char *path, const uint8_t *bytes, int64_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, (size_t)size, file) == (size_t)size && fclose(file) == 0);
}

Test(checkpoint, a_damaged_file_is_refused)
{
    const char *path = in_dir("run.ckpt");
    uint8_t *bytes;
    int64_t size;
    mt_checkpoint c;
    trained t = begin(1, &tiny);
    cr_assert_eq(mt_checkpoint_write(path, &(mt_place){ 0 }, t.model, t.optim), MT_OK);
    cr_assert_eq(mt_file_read(&bytes, &size, path), MT_OK);
    for (int64_t cut = 0; cut < size; cut += 997) {
        rewrite(path, bytes, cut);
        cr_assert_eq(mt_checkpoint_open(&c, path), MT_ERR_FORMAT, "cut at %d", (int)cut);
    }
    for (int64_t at = 0; at < size; at += 991) {
        bytes[at] ^= 4;
        rewrite(path, bytes, size);
        cr_assert_eq(mt_checkpoint_open(&c, path), MT_ERR_FORMAT, "a bit of byte %d", (int)at);
        bytes[at] ^= 4;
    }
    free(bytes);
    end(&t);
}

Test(checkpoint, another_model_stays_as_it_is)
{
    const char *path = in_dir("run.ckpt");
    mt_checkpoint c;
    mt_gpt2_config deeper = tiny;
    deeper.layers++;
    trained t = begin(1, &tiny), other = begin(2, &deeper), untouched = begin(2, &deeper);
    cr_assert_eq(mt_checkpoint_write(path, &(mt_place){ 0 }, t.model, t.optim), MT_OK);
    cr_assert_eq(mt_checkpoint_open(&c, path), MT_OK);
    cr_assert_eq(mt_checkpoint_load(&c, other.model, other.optim), MT_ERR_FORMAT);
    cr_assert(strstr(mt_last_error(), "h.2.ln_1.weight should stand here"), "%s", mt_last_error());
    same(&other, &untouched);
    mt_checkpoint_close(&c);
    cr_assert_eq(mt_checkpoint_write("/nowhere/x", &(mt_place){ 0 }, t.model, t.optim), MT_ERR_IO);
    end(&t);
    end(&other);
    end(&untouched);
}
