/* test_safetensors.c -- tensors that we write are read back bit for bit; files of other writers are read as the format
 * says; hostile ones are refused in words and change nothing. */
#include "ckpt/safetensors.h"
#include "models/gpt2.h"
#include "must.h"
#include "temp_dir.h"
#include "testing/compare.h"

#include <math.h>

TestSuite(safetensors, .init = temp_dir_make, .fini = temp_dir_remove);

static mt_status load(const char *path, const mt_state *state, const char *prefix)
{
    mt_safetensors *file;
    mt_status status = mt_safetensors_open(&file, path);
    if (status != MT_OK)
        return status;
    status = mt_safetensors_load(file, state, prefix);
    mt_safetensors_close(file);
    return status;
}

/* ---- what we write ----------------------------------------------------------------------------------------- */

Test(safetensors, a_larger_model_is_refused)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *small = mt_gpt2_new(&(mt_gpt2_config){ 13, 0, 5, 2, 3, 9 }, &rng);
    mt_module *large = mt_gpt2_new(&(mt_gpt2_config){ 13, 0, 5, 3, 3, 9 }, &rng);
    mt_state from = mt_module_params(small), to = mt_module_params(large), before = mt_state_clone(&to);
    cr_assert_eq(mt_safetensors_write("/nowhere/x", &from), MT_ERR_IO);
    cr_assert_eq(mt_safetensors_write(in_dir("f"), &from), MT_OK);
    cr_assert_eq(load(in_dir("f"), &to, ""), MT_ERR_FORMAT);
    SAYS("there is no h.2.ln_1.weight");
    for (int64_t i = 0; i < to.count; i++)
        must(mt_compare_bits(to.item[i].name, mt_f32(to.item[i].tensor), mt_f32(before.item[i].tensor),
                             mt_numel(to.item[i].tensor)));
    mt_state_free(&from), mt_state_free(&to), mt_state_free(&before);
    mt_module_free(small), mt_module_free(large);
}

/* Every type we have, sizes that are not multiples of 8, no elements, rank 0, names that JSON must escape. */
Test(safetensors, any_list_comes_back)
{
    static const char name[] = "a \"b\"\\\n\t{\xc3\xa9}";
    mt_state from = { 0 }, to = { 0 };
    for (int type = 0; type < MT_DTYPE_COUNT; type++) {
        const mt_shape shapes[] = { MT_SCALAR, MT_SHAPE(0), MT_SHAPE(3, 5), MT_SHAPE(1, 1, 1, 1, 1, 1, 1, 7) };
        for (int s = 0; s < MT_COUNT(shapes); s++) {
            mt_tensor *x = mt_zeros(shapes[s], (mt_dtype)type, MT_CPU),
                      *y = mt_zeros(shapes[s], (mt_dtype)type, MT_CPU);
            memset(mt_data(x), type * 16 + s + 1, (size_t)x->storage->bytes);
            mt_state_tensor(&from, x, "%s%d.%d", name, type, s);
            mt_state_tensor(&to, y, "%s%d.%d", name, type, s);
            mt_release(x), mt_release(y);
        }
    }
    cr_assert_eq(mt_safetensors_write(in_dir("f"), &from), MT_OK);
    cr_assert_eq(load(in_dir("f"), &to, ""), MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < from.count; i++)
        if (from.item[i].tensor)
            cr_assert_eq(memcmp(mt_data(from.item[i].tensor), mt_data(to.item[i].tensor),
                                (size_t)from.item[i].tensor->storage->bytes),
                         0, "%s", from.item[i].name);
    mt_state_free(&from), mt_state_free(&to);
}

/* 1, -2.5, the smallest f16, infinity. */
Test(safetensors, sixteen_bits_become_f32_and_are_written)
{
    static const uint16_t bits[][4] = { { 0x3c00, 0xc100, 0x0001, 0x7c00 }, { 0x3f80, 0xc020, 0x3380, 0x7f80 } };
    static const float want[] = { 1, -2.5f, 0x1p-24f, INFINITY };
    for (int type = 0; type < 2; type++) {
        mt_state from = { 0 }, to = { 0 };
        mt_tensor *x = mt_from(MT_SHAPE(2, 2), type ? MT_BF16 : MT_F16, bits[type]);
        mt_tensor *y = mt_zeros(MT_SHAPE(2, 2), MT_F32, MT_CPU), *wrong = mt_zeros(MT_SHAPE(2, 2), MT_I32, MT_CPU);
        mt_state_tensor(&from, x, "w");
        mt_state_tensor(&to, y, "w");
        mt_safetensors_write(in_dir("f"), &from);
        cr_assert_eq(load(in_dir("f"), &to, ""), MT_OK, "%s", mt_last_error());
        cr_assert_arr_eq(mt_f32(y), want, sizeof want);
        mt_state_free(&to);
        mt_state_tensor(&to, wrong, "w");
        cr_assert_eq(load(in_dir("f"), &to, ""), MT_ERR_FORMAT, "integers were made of them");
        mt_state_free(&from), mt_state_free(&to), mt_release(x), mt_release(y), mt_release(wrong);
    }
}

/* ---- what others write --------------------------------------------------------------------------------------- */

/* A file of this header and `bytes` bytes of data, 0, 1, 2, ... */
static void write_file(const char *json, int64_t bytes)
{
    uint64_t n = strlen(json);
    FILE *file = fopen(in_dir("f"), "wb");
    fwrite(&n, 8, 1, file);
    fwrite(json, 1, n, file);
    for (int64_t i = 0; i < bytes; i++)
        fputc((int)i, file);
    fclose(file);
}

static bool longer; /* whether w may have more rows in the file */

/* Load f32 w [2,3] of which the first row is enough; returns whether it came from `first` on. */
static mt_status load_w(uint8_t first, int64_t count)
{
    mt_tensor *w = mt_zeros(MT_SHAPE(2, 3), MT_F32, MT_CPU);
    mt_state state = { 0 };
    mt_state_tensor(&state, w, "w");
    state.item[0].rows = 1, state.item[0].longer = longer;
    mt_status status = load(in_dir("f"), &state, "transformer.");
    const uint8_t *bytes = mt_data(w);
    for (int64_t i = 0; i < 24; i++)
        cr_assert_eq(bytes[i], status == MT_OK && i < count ? first + i : 0, "byte %d", (int)i);
    mt_state_free(&state);
    mt_release(w);
    return status;
}

static void accepted(const char *json, int64_t bytes, uint8_t first, int64_t count)
{
    write_file(json, bytes);
    cr_assert_eq(load_w(first, count), MT_OK, "%s\n%s", json, mt_last_error());
}

#define W "\"dtype\":\"F32\",\"shape\":[2,3]"

Test(safetensors, what_the_format_allows_is_read)
{
    char deep[2048], *at = deep;
    accepted("{\"w\":{" W ",\"data_offsets\":[0,24]}}", 24, 0, 24);
    accepted("{\"w\":{\"dtype\":\"F32\",\"shape\":[1,3],\"data_offsets\":[0,12]}}", 12, 0, 12);
    accepted("{\"transformer.w\":{" W ",\"data_offsets\":[0,24]}}  \t\r\n ", 24, 0, 24);
    accepted("{ \"\\u0077\" :\n{ \"data_offsets\" : [ 8 ,\t32 ] , \"shape\" : [\r\n2 , 3 ] , \"dtype\" : "
             "\"F\\u0033\\u0032\" } ,"
             "\"__metadata__\" : { \"format\" : \"pt\", \"a\\\"\\\\\\/\\n\\ud83d\\ude00\": \"{[\" },"
             "\"foreign\":{\"dtype\":\"F8_E4M3\",\"shape\":[1,2,1,2,1,2,1,1,1,1],\"data_offsets\":[0,8]},"
             "\"scalar\":{\"dtype\":\"U64\",\"shape\":[],\"data_offsets\":[32,40]},"
             "\"empty\":{\"dtype\":\"BOOL\",\"shape\":[0,7],\"data_offsets\":[32,32]}}",
             40, 8, 24);
    at += sprintf(at, "{\"");
    for (int i = 0; i < 1000; i++)
        *at++ = 'x';
    sprintf(at, "\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[0,2]},\"w\":{" W ",\"data_offsets\":[2,26]}}");
    accepted(deep, 26, 2, 24);
}

static void refused(const char *json, int64_t bytes, const char *words)
{
    write_file(json, bytes);
    cr_assert_eq(load_w(0, 0), MT_ERR_FORMAT, "%s", json);
    SAYS(words);
}

Test(safetensors, of_a_longer_table_the_first_rows_are_read)
{
    longer = true;
    accepted("{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
             "\"w\":{\"dtype\":\"F32\",\"shape\":[4,3],\"data_offsets\":[3,51]}}",
             51, 3, 24);
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[0,64]}}", 64, "[4,4]");
}

Test(safetensors, wrong_headers_are_refused)
{
    static const char *const no_json[] = {
        "",    "[]",  "{",   "{\"w\":",           "{\"w\":{}",
        "{}}", "{}x", " {}", "{\"w\\u0000\":{}}", "{\"w\":{" W ",\"data_offsets\":[0,24]}}  {"
    };
    for (int64_t i = 0; i < MT_COUNT(no_json); i++)
        refused(no_json[i], 24, "not the JSON");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]}}", 25, "some belong to no tensor");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]}}", 23, "it was cut off");
    refused("{}", 1, "some belong to no tensor");
    refused("{}", 0, "there is no w");
    refused("{\"w\":{" W ",\"data_offsets\":[4,28]}}", 28, "there is a hole");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]},\"x\":{" W ",\"data_offsets\":[20,44]}}", 44, "they overlap");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]},\"x\":{" W ",\"data_offsets\":[28,52]}}", 52, "there is a hole");
    refused("{\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[8,8]},\"w\":{" W ",\"data_offsets\":[0,24]}}", 24,
            "they overlap");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]},\"w\":{" W ",\"data_offsets\":[24,48]}}", 48, "more than one w");
    refused("{\"w\":{" W ",\"data_offsets\":[0,24]},\"transformer.w\":{" W ",\"data_offsets\":[24,48]}}", 48,
            "more than one w");
    refused("{\"w\":{\"dtype\":\"I16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}", 12, "w is I16 [2,3]");
    refused("{\"w\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", 24, "w is F16 [2,3] in 24 bytes");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}}", 24,
            "[3,2] in 24 bytes, not F32 [2,3]");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]}}", 24, "w is F32 [6]");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0, "w is F32 [0,3]");
    refused("{\"w\":{" W ",\"data_offsets\":[0,20]}}", 20, "in 20 bytes");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,3],\"data_offsets\":[0,24]}}", 24, "w is F32");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[2147483648,2147483648,4],\"data_offsets\":[0,0]}}", 0, "w is F32");
    refused("{\"w\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, "w is F4 [3]");
    refused("{\"w\":{\"dtype\":\"F7\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3, "w is F7 [3]");
    refused("{\"w\":{\"dtype\":\"f32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", 24, "w is f32");
    refused("{\"x\":{\"dtype\":\"I16\",\"shape\":[4],\"data_offsets\":[0,6]},\"w\":{" W ",\"data_offsets\":[6,30]}}",
            30, "x is I16 [4] in 6 bytes");
    refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[2,\"3\"],\"data_offsets\":[0,24]}}", 24, "w is F32");
}

Test(safetensors, entries_need_all_three_members)
{
    static const char *const entries[] = {
        "1",
        "[]",
        "{}",
        "{" W "}",
        "{" W ",\"data_offsets\":[24,0]}",
        "{" W ",\"data_offsets\":[0,24,24]}",
        "{" W ",\"data_offsets\":[0]}",
        "{" W ",\"data_offsets\":[0,99999999999999999999]}",
        "{" W ",\"data_offsets\":\"0,24\"}",
        "{\"dtype\":7,\"shape\":[2,3],\"data_offsets\":[0,24]}",
        "{\"dtype\":\"F32\",\"shape\":6,\"data_offsets\":[0,24]}",
        "{\"shape\":[2,3],\"data_offsets\":[0,24]}",
        "{" W ",\"data_offsets\":{\"from\":0,\"to\":24}}",
        "[\"F32\",[2,3],[0,24]]",
        "{\"Dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}",
        "{\"dtype\":\"F32\",\"data_offsets\":[0,24]}",
    };
    char json[256];
    for (int64_t i = 0; i < MT_COUNT(entries); i++) {
        snprintf(json, sizeof json, "{\"w\":%s}", entries[i]);
        refused(json, 24, "w needs a dtype, a shape and two data_offsets");
    }
}

/* JSON writes a whole number in one way; the format takes no other. */
Test(safetensors, numbers_are_digits)
{
    static const char *const no_number[] = { "02",  "+2",  "0x2", "2.",       ".2",  "2e",
                                             "2e+", "--2", "2 2", "Infinity", "NaN", "2_0" };
    static const char *const not_whole[] = { "2.0", "2e0", "2E0", "20e-1", "-0", "-2", "0.2e1", "2.5" };
    static const char *const places[] = { "{\"w\":{\"dtype\":\"F32\",\"shape\":[%s,3],\"data_offsets\":[0,24]}}",
                                          "{\"w\":{" W
                                          ",\"data_offsets\":[0,24]},\"x\":{\"dtype\":\"U8\",\"shape\":[0],"
                                          "\"data_offsets\":[24,%s]}}",
                                          "{\"w\":{" W ",\"data_offsets\":[0,24],\"more\":{\"a\":[%s]}}}" };
    char json[256];
    for (int64_t p = 0; p < MT_COUNT(places); p++) {
        for (int64_t i = 0; i < MT_COUNT(no_number); i++) {
            snprintf(json, sizeof json, places[p], no_number[i]);
            refused(json, 24, "not the JSON");
        }
        for (int64_t i = 0; i < MT_COUNT(not_whole); i++) {
            snprintf(json, sizeof json, places[p], not_whole[i]);
            refused(json, 24, "a sign, a point or an exponent");
        }
    }
}

/* Each in the name of a tensor behind w, and as a text of __metadata__. */
Test(safetensors, texts_are_those_of_json)
{
    static const char *const bad[] = { "a\nb",
                                       "a\tb",
                                       "a\x01",
                                       "\xff",
                                       "\xc3",
                                       "\xc0\xaf",
                                       "\xed\xa0\x80",
                                       "\\x41",
                                       "\\u12",
                                       "\\u12g4",
                                       "\\ud800",
                                       "\\ud800\\u0041",
                                       "\\udc00\\ud800",
                                       "\\U0041",
                                       "\\u0000",
                                       "\xf4\x90\x80\x80",
                                       "\\",
                                       "\\ud83d\\" };
    static const char *const good[] = { "a\\nb", "\\\\u0000", "\\ud83d\\ude00", "\xf0\x9f\x98\x80",
                                        "\x7f",  "{[-1.5e3",  "\xef\xbb\xbf" };
    static const char *const places[] = {
        "{\"w\":{" W ",\"data_offsets\":[0,24]},\"x%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[24,24]}}",
        "{\"__metadata__\":{\"a\":\"%s\"},\"w\":{" W ",\"data_offsets\":[0,24]}}"
    };
    char json[256];
    for (int64_t p = 0; p < MT_COUNT(places); p++) {
        for (int64_t i = 0; i < MT_COUNT(bad); i++) {
            snprintf(json, sizeof json, places[p], bad[i]);
            refused(json, 24, "not the JSON");
        }
        for (int64_t i = 0; i < MT_COUNT(good); i++) {
            snprintf(json, sizeof json, places[p], good[i]);
            accepted(json, 24, 0, 24);
        }
    }
}

#define ENTRY "{" W ",\"data_offsets\":[0,24]}"

Test(safetensors, the_header_is_json)
{
    static const char *const bad[] = { "\xef\xbb\xbf{\"w\":" ENTRY "}",
                                       "{\"w\":" ENTRY ",}",
                                       "{,\"w\":" ENTRY "}",
                                       "{\"w\":" ENTRY "}\v",
                                       "{\"w\":\f" ENTRY "}",
                                       "{\"w\":\x01" ENTRY "}",
                                       "{\"w\":\xc2\xa0" ENTRY "}",
                                       "{w:" ENTRY "}",
                                       "{'w':" ENTRY "}",
                                       "{\"w\" " ENTRY "}",
                                       "{\"w\"::" ENTRY "}",
                                       "{/**/\"w\":" ENTRY "}",
                                       "{\"w\":" ENTRY "}//",
                                       "{\"w\":" ENTRY "}{}",
                                       "{\"w\":" ENTRY ",\"x\":True}",
                                       "{\"w\":" ENTRY ",\"x\":nul}",
                                       "{\"w\":" ENTRY ",\"x\"}",
                                       "{\"w\":" ENTRY "]" };
    for (int64_t i = 0; i < MT_COUNT(bad); i++)
        refused(bad[i], 24, "not the JSON");
    static char deep[512];
    for (int depth = 124; depth < 130; depth++) { /* two objects are around it */
        snprintf(deep, sizeof deep, "{\"w\":{" W ",\"data_offsets\":[0,24],\"x\":%.*s%.*s}}", depth,
                 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
                 "[[[[[["
                 "[[[[[[[[[[[[[[[[[[[[[[[[[[",
                 depth,
                 "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
                 "]]]]]]"
                 "]]]]]]]]]]]]]]]]]]]]]]]]]]");
        if (depth <= 126)
            accepted(deep, 24, 0, 24);
        else
            refused(deep, 24, "not the JSON");
    }
}

Test(safetensors, names_are_there_once)
{
    refused("{\"w\":" ENTRY ",\"\\u0077\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[24,24]}}", 24,
            "more than one w");
    refused("{\"w\":{\"dtype\":\"F32\"," W ",\"data_offsets\":[0,24]}}", 24, "more than one dtype");
    refused("{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\",\"a\":\"1\"},\"w\":" ENTRY "}", 24, "more than one a");
    refused("{\"__metadata__\":{},\"w\":" ENTRY ",\"__metadata__\":{}}", 24, "more than one __metadata__");
}

Test(safetensors, metadata_are_texts)
{
    static const char *const bad[] = { "1",
                                       "null",
                                       "\"text\"",
                                       "[]",
                                       "{\"a\":1}",
                                       "{\"a\":null}",
                                       "{\"a\":\"1\",\"b\":{}}",
                                       "{\"a\":[\"1\"]}",
                                       "{\"a\":true}" };
    char json[256];
    for (int64_t i = 0; i < MT_COUNT(bad); i++) {
        snprintf(json, sizeof json, "{\"__metadata__\":%s,\"w\":" ENTRY "}", bad[i]);
        refused(json, 24, "__metadata__ has something else than texts");
    }
    accepted("{\"__metadata__\":{},\"w\":" ENTRY "}", 24, 0, 24);
    accepted("{\"w\":{" W
             ",\"data_offsets\":[0,24],\"more\":[true,false,null,{\"a\":{}}]},\"__metadata__\":{\"\":\"\"}}",
             24, 0, 24);
}

/* A file of n bytes that claims a header of `length`. */
static void refused_length(uint64_t length, int64_t n, const char *words)
{
    FILE *file = fopen(in_dir("f"), "wb");
    fwrite(&length, 1, (size_t)mt_min(n, 8), file);
    for (int64_t i = 8; i < n; i++)
        fputc('{', file);
    fclose(file);
    cr_assert_eq(load_w(0, 0), MT_ERR_FORMAT, "%d bytes", (int)n);
    SAYS(words);
}

Test(safetensors, wrong_lengths_are_refused)
{
    const uint64_t lengths[] = { 93, 1u << 31, 1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX - 7, UINT64_MAX };
    for (int64_t i = 0; i < MT_COUNT(lengths); i++)
        refused_length(lengths[i], 100, "bytes in a file of 100");
    refused_length(92, 100, "not the JSON");
    for (int64_t n = 0; n < 8; n++)
        refused_length(0, n, "bytes in a file of");
    refused_length(200000000, 100, "bytes in a file of");
    cr_assert_eq(truncate(in_dir("f"), 300000000), 0); /* the header would fit, but none is that long */
    cr_assert_eq(load_w(0, 0), MT_ERR_FORMAT);
    SAYS("no safetensors file");
}

/* Blanks up to the end of a page, which is the end of the file: the reader stays inside. */
Test(safetensors, padding_ends_at_the_end_of_the_file)
{
    static char json[4096 - 8 + 1];
    memset(json, ' ', sizeof json - 1);
    memcpy(json, "{}", 2);
    refused(json, 0, "there is no w");
}
