/* test_recover.c -- damaged and hostile checkpoints: every flipped byte and every prefix is refused, the one before is
 * taken, and the reason is said. */
#include "ckpt/crc32c.h"
#include "ckpt/checkpoint.h"
#include "ckpt/shards.h"
#include "small_run.h"
#include "temp_dir.h"

#include <unistd.h>

TestSuite(recover, .init = small_run_disk_begin, .fini = small_run_disk_end);

static char reason[1024];
static int skips;

static void note(void *user, int64_t step, const char *why)
{
    (void)user;
    snprintf(reason, sizeof reason, "%s", why);
    cr_assert_eq(step, 2);
    skips++;
}

/* Step 2 is skipped, with these words as the reason ("" for any), and step 1 is taken. */
static void goes_back(const char *words)
{
    int64_t step;
    skips = 0;
    cr_assert_eq(mt_recover(&step, RUNS, note, NULL), MT_OK, "%s", mt_last_error());
    cr_assert(step == 1 && skips == 1, "step %d", (int)step);
    cr_assert(strstr(reason, words), "\"%s\" does not say \"%s\"", reason, words);
}

static const char *in_step(int64_t step, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, RUNS "/step-%d/%s", (int)step, name);
    return path;
}

static void save_two(void)
{
    cr_assert(small_run_save(1) == MT_OK && small_run_save(2) == MT_OK, "%s", mt_last_error());
}

Test(recover, every_flipped_byte_and_every_prefix)
{
    mt_names names;
    int64_t size, flips = 0, step;
    save_two();
    cr_assert_eq(mt_names_of(&names, RUNS "/step-2"), MT_OK);
    cr_assert_eq(names.count, 6, "two shards, their index, one shard, its index, the manifest");
    for (int64_t f = 0; f < names.count; f++) {
        const char *path = in_step(2, names.name[f]);
        uint8_t *bytes = mt_disk_sim_file(small_run_disk, path, &size), copy[4096];
        memcpy(copy, bytes, (size_t)size);
        for (int64_t at = 0; at < size; at++, flips += 2) {
            bytes[at] ^= (uint8_t)(1 << at % 8);
            goes_back("");
            bytes[at] ^= 0x20 ^ (uint8_t)(1 << at % 8); /* the bit between a and A */
            goes_back("");
            bytes[at] = copy[at];
        }
        for (int64_t n = 0; n < size; n++) {
            mt_disk_sim_put(small_run_disk, path, copy, n);
            goes_back(n == 0 || strcmp(names.name[f], MT_MANIFEST) == 0 ? "" : "bytes, not");
        }
        small_run_disk->remove(small_run_disk, path);
        goes_back("No such file");
        mt_disk_sim_put(small_run_disk, path, copy, size);
    }
    cr_assert(mt_recover(&step, RUNS, note, NULL) == MT_OK && step == 2);
    cr_assert_gt(flips, 2000);
    mt_names_free(&names);
}

Test(recover, nothing_to_recover)
{
    int64_t step = 77;
    cr_assert_eq(mt_recover(&step, "/none", NULL, NULL), MT_ERR_IO);
    SAYS("No such file");
    cr_assert_eq(mt_recover(&step, RUNS, NULL, NULL), MT_ERR_IO);
    SAYS("there is no checkpoint");
    small_run_disk->mkdir(small_run_disk, RUNS "/step-2");
    cr_assert_eq(mt_recover(&step, RUNS, note, NULL), MT_ERR_FORMAT);
    SAYS("none of its checkpoints is valid");
    cr_assert_eq(step, 77);
}

/* Only plain step numbers are checkpoints. */
Test(recover, other_names_are_passed_over)
{
    static const char *const others[] = { "step-",     "step-1x", "step-01", "step--1", "step-1234567890123456789",
                                          "step-99.t", "Step-99", "run.ckpt" };
    int64_t step, *steps, count;
    save_two();
    for (int64_t i = 0; i < MT_COUNT(others); i++) {
        char path[64];
        snprintf(path, sizeof path, RUNS "/%s", others[i]);
        small_run_disk->mkdir(small_run_disk, path);
    }
    cr_assert(mt_checkpoint_steps(&steps, &count, RUNS) == MT_OK && count == 2 && steps[0] == 2 && steps[1] == 1);
    free(steps);
    cr_assert(mt_recover(&step, RUNS, NULL, NULL) == MT_OK && step == 2);
}

/* ---- manifests that lie ------------------------------------------------------------------------------------- */

/* The manifest of step 2 becomes this text, with the checksum that belongs to it. */
static void put_manifest(const char *rest)
{
    char text[8192], digits[9];
    int size = snprintf(text, sizeof text, "{\"crc32c\":\"00000000\"%s", rest);
    snprintf(digits, sizeof digits, "%08x", mt_crc32c(0, text, size));
    memcpy(text + strlen("{\"crc32c\":\""), digits, 8);
    mt_disk_sim_put(small_run_disk, in_step(2, MT_MANIFEST), text, size);
}

#define HEAD ",\"format\":\"minitorch checkpoint 1\",\"step\":2,\"values\":{}"

static void lies(const char *rest, const char *words)
{
    put_manifest(rest);
    goes_back(words);
}

Test(recover, manifests_that_lie)
{
    static const char *const names[] = { "../step-1/manifest.json",
                                         "..",
                                         "/etc/passwd",
                                         "",
                                         ".hidden",
                                         "a/b",
                                         "a\\u0000b",
                                         "a b",
                                         "manifest.json",
                                         "\\u002e\\u002e/x",
                                         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
    static const char *const numbers[] = { "-1", "1.5", "1e300", "9007199254740994", "\"7\"", "null", "true", "[1]" };
    char text[1024];
    save_two();
    lies("", "not JSON");
    lies("} ", "not JSON");
    lies("}{}", "not JSON");
    lies("}", "not the manifest");
    lies(",\"format\":\"minitorch checkpoint 2\"}", "not the manifest");
    lies(HEAD "}", "it needs");
    lies(HEAD ",\"files\":{}}", "it needs");
    lies(",\"format\":\"minitorch checkpoint 1\",\"step\":1,\"values\":{},\"files\":[]}", "that of step 1");
    lies(",\"format\":\"minitorch checkpoint 1\",\"step\":2,\"values\":{\"a\":1},\"files\":[]}", "is not text");
    lies(HEAD ",\"files\":[7]}", "file 0 needs");
    lies(HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":0,\"crc32c\":\"0000000G\"}]}", "file 0 needs");
    lies(HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":0,\"crc32c\":\"000\"}]}", "file 0 needs");
    lies(HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":0}]}", "file 0 needs");
    lies(HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":0,\"crc32c\":\"00000000\"}]}", "No such file");
    lies(HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":0,\"crc32c\":\"00000000\"},"
              "{\"name\":\"f\",\"bytes\":0,\"crc32c\":\"00000000\"}]}",
         "there twice");
    for (int64_t i = 0; i < MT_COUNT(names); i++) {
        snprintf(text, sizeof text, HEAD ",\"files\":[{\"name\":\"%s\",\"bytes\":0,\"crc32c\":\"00000000\"}]}",
                 names[i]);
        lies(text, strstr(names[i], "u0000") ? "not JSON" : "file 0 needs");
    }
    for (int64_t i = 0; i < MT_COUNT(numbers); i++) {
        snprintf(text, sizeof text, HEAD ",\"files\":[{\"name\":\"f\",\"bytes\":%s,\"crc32c\":\"00000000\"}]}",
                 numbers[i]);
        lies(text, "file 0 needs");
        snprintf(text, sizeof text, ",\"format\":\"minitorch checkpoint 1\",\"step\":%s,\"values\":{},\"files\":[]}",
                 numbers[i]);
        lies(text, "it needs a step");
    }
    char deep[4000] = ",\"x\":";
    memset(deep + 5, '[', 3000);
    lies(deep, "not JSON");
}

TestSuite(real_disk, .init = temp_dir_make, .fini = temp_dir_remove);

Test(real_disk, ten_thousand_folders)
{
    int64_t step;
    char path[256];
    small_run r;
    small_run_begin(&r, 9999);
    for (int i = 0; i < 10000; i++) {
        snprintf(path, sizeof path, "%s/step-%d", temp_dir, i);
        cr_assert_eq(mkdir(path, 0777), 0);
    }
    cr_assert_eq(mt_checkpoint_save(temp_dir, 9999, &r.model, &r.rest, 40), MT_OK, "%s", mt_last_error());
    cr_assert(mt_recover(&step, temp_dir, NULL, NULL) == MT_OK && step == 9999);
    cr_assert_eq(small_run_load(temp_dir, step), MT_OK, "%s", mt_last_error());
    small_run_end(&r);
}

/* ---- loading ------------------------------------------------------------------------------------------------ */

static void index_says(const char *text, const char *words)
{
    mt_disk_sim_put(small_run_disk, in_step(2, "model.safetensors.index.json"), text, (int64_t)strlen(text));
    cr_assert_eq(small_run_load(RUNS, 2), MT_ERR_FORMAT, "%s", text);
    SAYS(words);
}

#define FILE1 "\"model-00001-of-00002.safetensors\""
#define FILE2 "\"model-00002-of-00002.safetensors\""

Test(recover, indices_that_lie)
{
    save_two();
    index_says("", "not JSON");
    index_says("{}", "not JSON with a weight_map");
    index_says("{\"weight_map\":{}} x", "not JSON");
    index_says("{\"weight_map\":{}}", "there is no h.0.weight");
    index_says("{\"weight_map\":{\"h.0.weight\":7}}", "has no file");
    index_says("{\"weight_map\":{\"h.0.weight\":\"../step-1/model-00001-of-00002.safetensors\"}}", "not a plain");
    index_says("{\"weight_map\":{\"h.0.weight\":" FILE2 "}}", "h.0.weight is not in model-00002");
    index_says("{\"weight_map\":{\"h.0.weight\":" FILE1 "}}", "has 2 tensors, the index 1");
    index_says("{\"weight_map\":{\"h.0.weight\":" FILE1 ",\"h.0.bias\":" FILE1 "}}", "there is no h.1.weight");
    index_says("{\"weight_map\":{\"h.0.weight\":" FILE1 ",\"h.0.bias\":" FILE1 ",\"h.1.weight\":" FILE2
               ",\"h.0.weight\":" FILE1 "}}",
               "has 2 tensors, the index 3");
    const char *good =
        "{\"metadata\":{},\"weight_map\":{\"h.1.weight\":" FILE2 ",\"h.0.weight\":" FILE1 ",\"h.0.bias\":" FILE1 "}}\n";
    mt_disk_sim_put(small_run_disk, in_step(2, "model.safetensors.index.json"), good, (int64_t)strlen(good));
    cr_assert_eq(small_run_load(RUNS, 2), MT_OK, "%s", mt_last_error());
}

Test(recover, another_run_is_refused)
{
    small_run r;
    save_two();
    small_run_begin(&r, -1);
    mt_state_setting(&r.model, "layers", "%d", 3);
    cr_assert_eq(mt_checkpoint_load(RUNS, 2, &r.model, &r.rest), MT_ERR_FORMAT);
    SAYS("there is no layers");
    small_run_end(&r);
    small_run_begin(&r, -1);
    free(r.rest.item[1].setting);
    r.rest.item[1].setting = strdup("8");
    cr_assert_eq(mt_checkpoint_load(RUNS, 2, &r.model, &r.rest), MT_ERR_ARGUMENT);
    SAYS("was written with seed 7, not 8");
    small_run_tensor(&r.model, 1, "new");
    cr_assert_eq(r.rows, -10);
    small_run_end(&r);
}

/* ---- the plan of the files ------------------------------------------------------------------------------------ */

Test(recover, shards_are_as_full_as_the_order_allows)
{
    static const int64_t numbers[] = { 1, 2, 3, 10, 0, 4, 4, 1 };
    static const int64_t want20[] = { 0, 2, 3, 5, 6, 8 }, want400[] = { 0, 8 };
    mt_state state = { 0 };
    int64_t begin[16];
    char name[MT_PART_NAME];
    for (int64_t i = 0; i < MT_COUNT(numbers); i++)
        small_run_tensor(&state, numbers[i], "t");
    cr_assert_eq(mt_shards_plan(begin, &state, 20), 5);
    cr_assert_arr_eq(begin, want20, sizeof want20);
    cr_assert_eq(mt_shards_plan(begin, &state, 400), 1);
    cr_assert_arr_eq(begin, want400, sizeof want400);
    mt_state_free(&state);
    cr_assert(mt_shards_plan(begin, &state, 1) == 1 && begin[0] == 0 && begin[1] == 0);
    mt_shards_name(name, "model", 0, 2);
    cr_assert_str_eq(name, "model-00001-of-00002.safetensors");
    mt_shards_name(name, "model", 123455, 123456);
    cr_assert_str_eq(name, "model-123456-of-123456.safetensors");
}

/* ---- many, and other clocks ----------------------------------------------------------------------------------- */

enum { MANY = 10000 };
static int lists, maps;
static mt_status (*disk_map)(mt_io *io, mt_file_map *out, const char *path);

/* Besides steps 1 and 2, which are there, the names of so many others in no order. */
static int list_many(mt_io *io, const char *path, void (*each)(void *user, const char *name), void *user)
{
    char name[32];
    (void)io, (void)path;
    lists++;
    for (int64_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "step-%d", (int)(i * 7919 % MANY + 1)); /* 1 .. MANY: 7919 is a prime */
        each(user, name);
    }
    return 0;
}

static mt_status count_maps(mt_io *io, mt_file_map *out, const char *path)
{
    maps++;
    return disk_map(io, out, path);
}

/* Finding the newest of 10,000 reads their names once, and the files of that one. */
Test(recover, among_ten_thousand)
{
    int64_t step;
    cr_assert(small_run_save(MANY) == MT_OK, "%s", mt_last_error());
    disk_map = small_run_disk->map;
    small_run_disk->map = count_maps;
    small_run_disk->list = list_many;
    cr_assert_eq(mt_recover(&step, RUNS, note, NULL), MT_OK, "%s", mt_last_error());
    cr_assert(step == MANY && lists == 1 && maps == 6, "step %d, %d lists, %d files read", (int)step, lists, maps);
}

/* Which one is the newest is a matter of steps: the clock may have been set back meanwhile. */
Test(recover, a_clock_that_was_set_back)
{
    small_run r;
    int64_t step, *steps, count;
    char command[256];
    mt_io_use(NULL);
    temp_dir_make();
    for (step = 1; step <= 3; step++) {
        small_run_begin(&r, step);
        cr_assert_eq(mt_checkpoint_save(temp_dir, step, &r.model, &r.rest, 40), MT_OK, "%s", mt_last_error());
        small_run_end(&r);
        snprintf(command, sizeof command, "find %s/step-%d -exec touch -d %d-01-01 {} +", temp_dir, (int)step,
                 (int)(2040 - 20 * step));
        cr_assert_eq(system(command), 0);
    }
    cr_assert_eq(mt_recover(&step, temp_dir, note, NULL), MT_OK);
    cr_assert_eq(step, 3);
    cr_assert_eq(mt_checkpoint_prune(temp_dir, &(mt_keep){ 2, 0, -1 }), MT_OK);
    cr_assert_eq(mt_checkpoint_steps(&steps, &count, temp_dir), MT_OK);
    cr_assert(count == 2 && steps[0] == 3 && steps[1] == 2);
    free(steps);
    temp_dir_remove();
}
