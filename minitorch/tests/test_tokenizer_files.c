/* test_tokenizer_files.c -- vocab.bpe, valid and malicious; the token file that `tokenize` writes. */
#include "text/vocabulary.h"
#include "tests/temp_dir.h"
#include "tests/tokens_file.h"

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
    mt_vocabulary *v = NULL;
    cr_assert_eq(mt_vocabulary_open(&v, dir), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_vocabulary_save(v, temp_dir), MT_OK, "%s", mt_last_error());
    same_files(dir, temp_dir, "vocab.bpe");
    mt_vocabulary_free(v);
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

/* Bytes come first, in the order of their characters, merges next, <|endoftext|> last; encoder.json says the same. */
Test(tokenizer_files, ids_follow_from_the_order_of_merges)
{
    mt_vocabulary *v = NULL;
    write_text("vocab.bpe", "#version: 0.2\na b\nĠ ab\n");
    write_text("encoder.json", "not read");
    cr_assert_eq(mt_vocabulary_open(&v, temp_dir), MT_OK, "%s", mt_last_error());
    static const struct {
        int32_t id;
        const char *bytes;
    } want[] = { { 0, "!" },   { 64, "a" },     { 65, "b" },   { 94, "\xa1" }, { 187, "\xff" },        { 189, "\x01" },
                 { 220, " " }, { 255, "\xad" }, { 256, "ab" }, { 257, " ab" }, { 258, MT_END_OF_TEXT } };
    for (int i = 0; i < MT_COUNT(want); i++) {
        int64_t start = v->token.start[want[i].id], size = v->token.start[want[i].id + 1] - start;
        cr_assert(size == (int64_t)strlen(want[i].bytes) &&
                      memcmp(v->token.bytes + start, want[i].bytes, (size_t)size) == 0,
                  "id %d", want[i].id);
    }
    cr_assert(v->token.count == 259 && v->end_of_text == 258);
    mt_vocabulary_free(v);
}

/* The same merges as editors, Windows and Hugging Face write them; its name for the file, too. */
Test(tokenizer_files, other_usual_forms_of_the_same_file)
{
    static const char *const form[] = {
        "#version: 0.2\na b\nĠ ab\n",
        "#version: 0.2 - Trained by `huggingface/tokenizers`\na b\nĠ ab\n",
        "#version: 0.2\r\na b\r\nĠ ab\r\n",
        "\xEF\xBB\xBF#version: 0.2\na b\nĠ ab\n",
        "\xEF\xBB\xBF#version: 0.2\r\na b\r\nĠ ab\r\n\r\n",
        "#version: 0.2\na b\nĠ ab\n\n",
    };
    for (int i = 0; i < 2 * MT_COUNT(form); i++) {
        mt_vocabulary *v = NULL;
        const char *name = i < MT_COUNT(form) ? "merges.txt" : "vocab.bpe";
        write_text(name, form[i % MT_COUNT(form)]);
        cr_assert_eq(mt_vocabulary_open(&v, temp_dir), MT_OK, "form %d: %s", i, mt_last_error());
        cr_assert(v->token.count == 259 && memcmp(v->token.bytes + v->token.start[257], " ab", 3) == 0, "form %d", i);
        mt_vocabulary_free(v);
    }
}

Test(tokenizer_files, characters_come_back_too)
{
    static const char text[] = "\"quoted\"\\ é 中 😀\n\x7f";
    mt_vocabulary *saved, *read = NULL;
    int32_t a[64], b[64];
    int64_t n, m;
    cr_assert_eq(mt_vocabulary_characters(&saved, (const uint8_t *)text, sizeof text - 1), MT_OK);
    cr_assert_eq(mt_vocabulary_save(saved, temp_dir), MT_OK);
    cr_assert_eq(mt_vocabulary_open(&read, temp_dir), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mt_encode_characters(a, &n, saved, (const uint8_t *)text, sizeof text - 1), MT_OK);
    cr_assert_eq(mt_encode_characters(b, &m, read, (const uint8_t *)text, sizeof text - 1), MT_OK, "%s",
                 mt_last_error());
    cr_assert(read->characters && read->end_of_text == -1 && n == m && memcmp(a, b, (size_t)n * sizeof *a) == 0);
    mt_vocabulary_free(saved);
    mt_vocabulary_free(read);
}

/* ---- hostile files ------------------------------------------------------------------------------------- */

static void refused(const char *contents, const char *words)
{
    mt_vocabulary *v = NULL;
    write_text("vocab.bpe", contents);
    cr_assert_eq(mt_vocabulary_open(&v, temp_dir), MT_ERR_FORMAT, "%s: accepted", words);
    cr_assert_null(v);
    SAYS(words);
    SAYS(temp_dir);
}

#define FIRST "#version: 0.2\n"

Test(tokenizer_files, merges_that_make_no_sense_are_refused)
{
    refused("", "vocab.bpe: line 1, offset 0: the first line does not begin with");
    refused("a b\n", "the first line does not begin with");
    refused("  <!DOCTYPE html><html>", "vocab.bpe: offset 2: this is an HTML page");
    refused(FIRST "a b", "line 2, offset 17: the file ends in the middle of a line");
    refused(FIRST "a", "the file ends in the middle of a line");
    refused(FIRST "ab c\n", "line 2, offset 16: merges what no line before it makes");
    refused(FIRST "a  b\n", "a character that stands for no byte");
    refused(FIRST "a b c\n", "a character that stands for no byte");
    refused(FIRST "\n", "stands for no byte");
    refused(FIRST "a b\na b\n", "line 3, offset 22: makes what an earlier line makes already");
    refused(FIRST "a b\nb c\nab c\na bc\n", "line 5");
    refused(FIRST "a \xff\n", "a character that stands for no byte");
    refused(FIRST "a 中\n", "a character that stands for no byte");
}

Test(tokenizer_files, characters_that_make_no_sense_are_refused)
{
    refused("#characters\n", "line 1, offset 12: no characters (older versions wrote them to encoder.json)");
    refused("#characters\na b\n", "line 2, offset 13: a character that stands for no byte");
    refused("#characters\na\nbc\n", "line 3, offset 16: not one character");
    refused("#characters\n\n", "not one character");
    refused("#characters\nÃ\n", "not one character"); /* the first byte of two */
    refused("#characters\na\nb\na\n", "line 4, offset 17: a character that an earlier line has");
    refused("#characters\na", "the file ends in the middle of a line");
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
    refused(text, "too long a token");
    free(text);
}

Test(tokenizer_files, a_missing_file_is_named)
{
    mt_vocabulary *v;
    cr_assert_eq(mt_vocabulary_open(&v, temp_dir), MT_ERR_IO);
    SAYS("vocab.bpe: No such file");
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
    cr_assert_eq(write_tokens(in_dir("tokens"), ids, MANY, 4), MT_ERR_IO);
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
