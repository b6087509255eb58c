/* test_tokenizer_files.c -- the two files of a vocabulary, good and hostile; the token file that `tokenize` writes. */
#include "text/tokenizer.h"
#include "data/token_writer.h"
#include "tests/temp_dir.h"

#include <sys/resource.h>
#include <signal.h>

TestSuite(tokenizer_files, .init = temp_dir_make, .fini = temp_dir_remove, .timeout = 120);

static char *contents(const char *path, int64_t *size)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    char *text = calloc(1, 2 << 20);
    *size = (int64_t)fread(text, 1, 2 << 20, file);
    fclose(file);
    return text;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(in_dir(name), "wb");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void same_files(const char *a_dir, const char *b_dir, const char *name)
{
    char a_path[4096], b_path[4096];
    int64_t a_size, b_size;
    snprintf(a_path, sizeof a_path, "%s/%s", a_dir, name);
    snprintf(b_path, sizeof b_path, "%s/%s", b_dir, name);
    char *a = contents(a_path, &a_size), *b = contents(b_path, &b_size);
    cr_assert(a_size == b_size && memcmp(a, b, (size_t)a_size) == 0, "%s differs", name);
    free(a);
    free(b);
}

static void opens_and_saves_alike(const char *dir)
{
    mt_tokenizer *t = NULL;
    cr_assert_eq(mt_tokenizer_open(&t, dir), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_tokenizer_save(t, temp_dir), MT_OK, "%s", mt_last_error());
    same_files(dir, temp_dir, "vocab.bpe");
    same_files(dir, temp_dir, "encoder.json");
    mt_tokenizer_free(t);
}

Test(tokenizer_files, what_is_saved_is_what_was_read_byte_for_byte)
{
    char dir[4096];
    const char *data = getenv("MT_DATA");
    snprintf(dir, sizeof dir, "%s/gpt2", data ? data : "datasets/cache");
    opens_and_saves_alike("datasets/reference/tiny");
    if (access(dir, R_OK) == 0)
        opens_and_saves_alike(dir);
    else
        printf("skipped: GPT-2's own files: %s is not there (datasets/fetch gpt2)\n", dir);
}

Test(tokenizer_files, characters_come_back_too)
{
    static const char text[] = "\"quoted\"\\ é 中 😀\n\x7f";
    mt_tokenizer *saved, *read = NULL;
    int32_t a[64], b[64];
    int64_t n, m;
    cr_assert_eq(mt_tokenizer_characters(&saved, (const uint8_t *)text, sizeof text - 1), MT_OK);
    cr_assert_eq(mt_tokenizer_save(saved, temp_dir), MT_OK);
    cr_assert_eq(mt_tokenizer_open(&read, temp_dir), MT_OK, "%s", mt_last_error());
    mt_encoder *e = mt_encoder_new(saved), *f = mt_encoder_new(read);
    cr_assert_eq(mt_encode(e, a, &n, (const uint8_t *)text, sizeof text - 1), MT_OK);
    cr_assert_eq(mt_encode(f, b, &m, (const uint8_t *)text, sizeof text - 1), MT_OK, "%s", mt_last_error());
    cr_assert(n == m && memcmp(a, b, (size_t)n * sizeof *a) == 0);
    mt_encoder_free(e);
    mt_encoder_free(f);
    mt_tokenizer_free(saved);
    mt_tokenizer_free(read);
}

/* ---- hostile files ------------------------------------------------------------------------------------- */

/* The 256 bytes with their ids, then `more`: how every encoder.json here begins. */
static void write_ids(const char *more)
{
    char *text = calloc(1, 1 << 20), *p = text;
    p += sprintf(p, "{");
    for (int b = 0; b < 256; b++) {
        uint32_t c = mt_byte_char(b);
        p += sprintf(p, c == '"' || c == '\\' ? "%s\"\\u%04x\": %d" : "%s\"\\u%04X\":%d", b ? ", " : "", c, b);
    }
    strcpy(p, more);
    write_text("encoder.json", text);
    free(text);
}

static void refused(const char *merges, const char *more, const char *words)
{
    mt_tokenizer *t = NULL;
    write_text("vocab.bpe", merges);
    write_ids(more);
    cr_assert_eq(mt_tokenizer_open(&t, temp_dir), MT_ERR_FORMAT, "%s: accepted", words);
    cr_assert_null(t);
    SAYS(words);
    SAYS(temp_dir);
}

#define FIRST "#version: 0.2\n"

Test(tokenizer_files, merges_that_make_no_sense_are_refused)
{
    refused("", "}", "vocab.bpe: line 1, offset 0: the first line is not");
    refused("a b\n", "}", "the first line is not");
    refused(FIRST "a b", "}", "line 2, offset 17: the file ends in the middle of a merge");
    refused(FIRST "a", "}", "the file ends in the middle of a merge");
    refused(FIRST "ab c\n", "}", "line 2, offset 16: merges what no line before it makes");
    refused(FIRST "a  b\n", "}", "a character that stands for no byte");
    refused(FIRST "a b c\n", "}", "a character that stands for no byte");
    refused(FIRST "\n", "}", "stands for no byte");
    refused(FIRST "a b\na b\n", ", \"ab\": 256}", "line 3, offset 22: makes what an earlier line makes already");
    refused(FIRST "a b\nb c\nab c\na bc\n", ", \"ab\": 256}", "line 5");
    refused(FIRST "a \xff\n", "}", "a character that stands for no byte");
    refused(FIRST "a 中\n", "}", "a character that stands for no byte");
    refused("#characters\na b\n", "}", "characters have no merges");
}

Test(tokenizer_files, ids_that_make_no_sense_are_refused)
{
    static const char merges[] = FIRST "a b\n";
    refused(merges, "", "encoder.json: line 1, offset");
    refused(merges, "", "the file ends where '}' is expected");
    refused(merges, ", \"a", "the file ends where '\"' is expected");
    refused(merges, "}", "no id for the token of merge 1");
    refused(merges, ", \"ab\": 256, \"ab\": 257}", "a token that was there before");
    refused(merges, ", \"ab\": 255}", "id 255 belongs to two tokens");
    refused(merges, ", \"ab\": 257}", "id 257, but there are 257 tokens");
    refused(merges, ", \"ab\": 2000000}", "id 2000000, but there are 257 tokens");
    refused(merges, ", \"ab\": 99999999999999999999}", "an id is a whole number");
    refused(merges, ", \"ab\": -1}", "an id is a whole number");
    refused(merges, ", \"ab\": 256.0}", "'}' is expected");
    refused(merges, ", \"abc\": 256}", "a token that no merge makes");
    refused(merges, ", \"\": 256}", "a token that no merge makes");
    refused(merges, ", \"a\\x\": 256}", "stands for no byte");
    refused(merges, ", \"\\u00\": 256}", "stands for no byte");
    refused(merges, ", \"ab\" 256}", "':' is expected");
    refused(merges, ", \"ab\": 256,}", "'\"' is expected");
    refused(merges, ", \"ab\": 256} x", "more behind the end");
    refused(merges, ", \"<|endoftext|>\": 256}", "no id for the token of merge 1");
    refused("#characters\n", ", \"ab\": 256}", "a token that is not one character");
}

/* Each line makes a token twice as long: 20 lines would be a megabyte of a's. */
Test(tokenizer_files, tokens_cannot_grow_without_end)
{
    char *text = calloc(1, 1 << 20), *p = text + sprintf(text, FIRST);
    for (int i = 0; i <= 16; i++) {
        int64_t n = 1ll << i;
        memset(p, 'a', (size_t)(2 * n + 1));
        p[n] = ' ';
        p += 2 * n + 1;
        *p++ = '\n';
    }
    refused(text, "}", "too long a token");
    free(text);
}

Test(tokenizer_files, missing_files_are_named)
{
    mt_tokenizer *t;
    cr_assert_eq(mt_tokenizer_open(&t, temp_dir), MT_ERR_IO);
    SAYS("vocab.bpe: No such file");
    write_text("vocab.bpe", FIRST);
    cr_assert_eq(mt_tokenizer_open(&t, temp_dir), MT_ERR_IO);
    SAYS("encoder.json: No such file");
}

/* ---- the writer of token files, the program ------------------------------------------------------------------ */

Test(tokenizer_files, a_full_disk_leaves_what_was_there)
{
    enum { MANY = 100000 };
    int32_t *ids = calloc(MANY, sizeof *ids);
    struct rlimit limit = { 4096, 4096 };
    int64_t size;
    write_text("tokens", "old");
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(mt_tokens_write(in_dir("tokens"), ids, MANY, 4), MT_ERR_IO);
    SAYS("File too large");
    mt_token_writer *w;
    cr_assert_eq(mt_token_writer_open(&w, in_dir("tokens"), 2), MT_OK);
    mt_token_writer_abandon(w);
    char *text = contents(in_dir("tokens"), &size);
    cr_assert_str_eq(text, "old");
    cr_assert_neq(rmdir(temp_dir), 0);
    remove(in_dir("tokens"));
    cr_assert_eq(rmdir(temp_dir), 0, "something was left beside it");
    cr_assert_eq(mkdir(temp_dir, 0777), 0);
    free(text);
    free(ids);
}
