/* test_hostile.c -- what the fuzzer (fuzz.sh) found to reach different code in
 * the readers of manifests, shards and indices, and every prefix of it: nothing
 * of it crashes, and what is accepted is as the contracts say. And links in a
 * folder. */
#include "ckpt/checkpoint.h"
#include "hostile.h"
#include "must.h"
#include "temp_dir.h"

#include <dirent.h>

#define CORPUS "minitorch/tests/data/hostile"

static void prefixes(const uint8_t *bytes, int64_t size)
{
    for (int64_t n = 0; n <= size; n++)
        hostile(bytes, n);
}

Test(hostile, the_corpus_of_the_fuzzer)
{
    char path[512];
    int64_t size, files = 0;
    uint8_t *bytes;
    setenv("MT_LOG", "error", 1);
    DIR *folder = opendir(CORPUS);
    cr_assert(folder, "run this from the root");
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, CORPUS "/%s", entry->d_name);
        cr_assert_eq(mt_file_read(&bytes, &size, path), MT_OK, "%s", mt_last_error());
        prefixes(bytes, size);
        free(bytes);
        files++;
    }
    closedir(folder);
    cr_assert_gt(files, 30, "only %d files", (int)files);
}

/* The checks of hostile.h see something: a checkpoint and a shard that are
 * right are accepted. */
Test(hostile, what_is_right_is_accepted)
{
    static const char shard[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                                "\"b\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[8,12]},"
                                "\"c\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[12,28]}}";
    static const char index[] =
        "{\"weight_map\":{\"a\":\"" HOSTILE_SHARD "\",\"b\":\"" HOSTILE_SHARD "\",\"c\":\"" HOSTILE_SHARD "\"}}";
    uint64_t n = sizeof shard - 1;
    uint8_t bytes[sizeof n + sizeof shard - 1 + 28];
    memcpy(bytes, &n, sizeof n);
    memcpy(bytes + sizeof n, shard, n);
    memset(bytes + sizeof n + n, 1, 28);
    mt_io *disk = mt_disk_sim_new();
    mt_io_use(disk);
    disk->mkdir(disk, HOSTILE_DIR);
    mt_disk_sim_put(disk, HOSTILE_DIR "/" HOSTILE_SHARD, bytes, sizeof bytes);
    mt_disk_sim_put(disk, HOSTILE_DIR "/model.safetensors.index.json", index, sizeof index - 1);
    mt_state state = hostile_state();
    cr_assert_eq(mt_shards_load(HOSTILE_DIR, "model", &state, false), MT_OK, "%s", mt_last_error());
    cr_assert_eq(((uint8_t *)mt_data(state.item[2].tensor))[15], 1);
    mt_state_free(&state);
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

/* ---- a real folder
 * ------------------------------------------------------------------------------------------
 */

TestSuite(hostile_folder, .init = temp_dir_make, .fini = temp_dir_remove);

static void save_in(const char *dir, int64_t step)
{
    mt_state model = hostile_state(), rest = { 0 };
    cr_assert_eq(mt_checkpoint_save(dir, step, &model, &rest, MT_SHARD_BYTES), MT_OK, "%s", mt_last_error());
    mt_state_free(&model);
}

static int64_t found(void)
{
    int64_t step = -1;
    setenv("MT_LOG", "error", 1);
    mt_recover(&step, temp_dir, NULL, NULL);
    return step;
}

/* A link in place of a step is removed, not what it leads to; one to nowhere,
 * to itself or to a pipe is not a checkpoint. */
Test(hostile_folder, links)
{
    char other[] = "/tmp/mt_data_XXXXXX", path[128], command[256];
    cr_assert_not_null(mkdtemp(other));
    snprintf(path, sizeof path, "%s/precious", other);
    FILE *file = fopen(path, "w");
    cr_assert(file && fclose(file) == 0);
    save_in(temp_dir, 1);
    cr_assert(symlink("nowhere", in_dir("step-2")) == 0 && symlink("step-3", in_dir("step-3")) == 0);
    cr_assert(symlink(other, in_dir("step-4")) == 0);
    cr_assert(mkdir(in_dir("step-5"), 0777) == 0 && mkfifo(in_dir("step-5/manifest.json"), 0666) == 0);
    cr_assert(mkdir(in_dir("step-6"), 0777) == 0 && symlink("/dev/zero", in_dir("step-6/manifest.json")) == 0);
    cr_assert(mkdir(in_dir("step-7"), 0777) == 0 && mkdir(in_dir("step-7/manifest.json"), 0777) == 0);
    cr_assert_eq(found(), 1);
    snprintf(command, sizeof command, "rm -rf '%s'", other);
    cr_assert_eq(access(path, F_OK), 0);
    cr_assert(system(command) == 0);
}

/* Times of files mean nothing: the newest is the one with the highest step,
 * whatever the clock said. */
Test(hostile_folder, a_clock_that_was_set_back)
{
    char command[256];
    for (int64_t step = 1; step <= 3; step++)
        save_in(temp_dir, step);
    snprintf(command, sizeof command, "touch -d '1999-01-01' '%s'/step-3 '%s'/step-3/*", temp_dir, temp_dir);
    cr_assert(system(command) == 0);
    cr_assert_eq(found(), 3);
    snprintf(command, sizeof command, "touch -d '2099-01-01' '%s'/step-1 '%s'/step-1/*", temp_dir, temp_dir);
    cr_assert(system(command) == 0);
    cr_assert_eq(found(), 3);
    save_in(temp_dir, 4);
    cr_assert_eq(found(), 4);
}

static int64_t opened;
static mt_status (*map_before)(mt_io *io, mt_file_map *out, const char *path);

static mt_status counting_map(mt_io *io, mt_file_map *out, const char *path)
{
    opened++;
    return map_before(io, out, path);
}

/* Of many valid checkpoints only the newest is read: its manifest, shards and
 * indices. */
Test(hostile_folder, older_ones_are_not_read)
{
    mt_io *io = mt_io_now();
    for (int64_t step = 1; step <= 50; step++)
        save_in(temp_dir, step);
    map_before = io->map;
    io->map = counting_map;
    cr_assert_eq(found(), 50);
    io->map = map_before;
    cr_assert_eq(opened, 5, "%d files were opened", (int)opened);
}
