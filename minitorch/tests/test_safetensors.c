/* test_safetensors.c -- weights that we write come back; headers that lie change nothing. */
#include "models/gpt2.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "must.h"
#include "temp_dir.h"
#include "testing/compare.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(safetensors, .init = temp_dir_make, .fini = temp_dir_remove);

static mt_module *model_of(uint64_t seed)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_INIT);
    return mt_gpt2_new(&(mt_gpt2_config){ 13, 0, 5, 2, 3, 9 }, &rng);
}

static void same(const mt_module *a, const mt_module *b)
{
    mt_state left = mt_module_params(a), right = mt_module_params(b);
    for (int64_t i = 0; i < left.count; i++)
        must(mt_compare_bits(left.item[i].name, mt_f32(left.item[i].tensor), mt_f32(right.item[i].tensor),
                             mt_numel(left.item[i].tensor)));
    mt_state_free(&left);
    mt_state_free(&right);
}

static void write_model(const mt_module *model)
{
    mt_weights *weights = mt_weights_new(model);
    cr_assert_eq(mt_weights_write(weights, in_dir("w")), MT_OK);
    mt_weights_free(weights);
}

Test(safetensors, what_was_written_comes_back)
{
    mt_module *a = model_of(1), *b = model_of(2);
    write_model(a);
    cr_assert_eq(mt_safetensors_load(b, in_dir("w"), 13), MT_OK, "%s", mt_last_error());
    same(a, b);
    cr_assert_eq(mt_safetensors_load(b, in_dir("w"), 65), MT_ERR_FORMAT);
    mt_module_free(a);
    mt_module_free(b);
}

/* Any cut and any changed byte of the header is refused, or read as what it says; the reader never leaves the file. */
Test(safetensors, cut_or_changed)
{
    mt_module *a = model_of(1), *b = model_of(2), *c = model_of(2);
    write_model(a);
    for (int64_t by = 1; by < 13000; by += 501) {
        write_model(a);
        cut(in_dir("w"), by);
        cr_assert_eq(mt_safetensors_load(b, in_dir("w"), 13), MT_ERR_FORMAT, "cut by %d", (int)by);
    }
    same(b, c);
    write_model(a);
    for (int64_t at = 0; at < 600; at += 7) {
        poke(in_dir("w"), at, 0x5d);
        mt_safetensors_load(b, in_dir("w"), 13);
    }
    mt_module_free(a);
    mt_module_free(b);
    mt_module_free(c);
}

static void refused(const char *json, const char *words)
{
    mt_module *b = model_of(2), *c = model_of(2);
    uint64_t n = strlen(json);
    FILE *file = fopen(in_dir("lie"), "wb");
    fwrite(&n, 8, 1, file);
    fwrite(json, 1, n, file);
    fwrite("12345678", 1, 8, file);
    fclose(file);
    cr_assert_eq(mt_safetensors_load(b, in_dir("lie"), 13), MT_ERR_FORMAT, "%s", json);
    SAYS(words);
    same(b, c);
    mt_module_free(b);
    mt_module_free(c);
}

Test(safetensors, headers_that_lie)
{
    refused("", "not the JSON");
    refused("{\"a\":", "not the JSON");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", "not the JSON");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", "not the JSON");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}", "outside");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "outside");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "outside");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
            "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}",
            "over another");
    refused("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
            "there is no wte.weight");
    refused("{\"wte.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
            "\"transformer.wte.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
            "there is more than one wte.weight");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  {", "not the JSON");
    refused("{\"wte.weight\":{\"dtype\":\"F32\",\"shape\":[4611686018427,9],\"data_offsets\":[0,8]}}",
            "wte.weight is not F32 [64,9]");
    refused("{\"transformer.wte.weight\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
            "wte.weight is not F32 [64,9]");
}

/* A file of n bytes that claims a header of `length`. */
static void refused_length(uint64_t length, int64_t n, const char *words)
{
    mt_module *b = model_of(2);
    FILE *file = fopen(in_dir("lie"), "wb");
    fwrite(&length, 1, (size_t)mt_min(n, 8), file);
    for (int64_t i = 8; i < n; i++)
        fputc('{', file);
    fclose(file);
    cr_assert_eq(mt_safetensors_load(b, in_dir("lie"), 13), MT_ERR_FORMAT, "%d bytes", (int)n);
    SAYS(words);
    mt_module_free(b);
}

Test(safetensors, lengths_that_lie)
{
    const uint64_t lengths[] = { 93, 1u << 31, 1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX - 7, UINT64_MAX };
    for (int64_t i = 0; i < MT_COUNT(lengths); i++)
        refused_length(lengths[i], 100, "bytes in a file of 100");
    refused_length(92, 100, "not the JSON");
    for (int64_t n = 0; n < 8; n++)
        refused_length(0, n, "bytes in a file of");
}
