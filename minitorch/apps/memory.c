/* memory.c -- what the memory of a program was used for: reads memory.bin, which `train_gpt2 --memory-report` and
 * `train_mnist --memory-report` write, prints a table, and writes beside it memory.csv, memory.svg, memory.json (for
 * ui.perfetto.dev) and memory.pickle (for pytorch.org/memory_viz).
 *
 *     build/release/bin/memory build/run/gpt2 */
#include <stdio.h>

#include "memory/report.h"
#include "cli/cli.h"

typedef struct options {
    const char *out;
} options;

static const mt_option flags[] = {
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for what is written; default: that of memory.bin" },
    { 0 },
};

int main(int argc, char **argv)
{
    options o = { 0 };
    char path[4096];
    mt_profile *profile = NULL;
    mt_words words =
        mt_cli_parse_words(argc, argv, "What the memory of a recorded run was used for.", flags, &o, "[DIR]", 1);
    const char *folder = words.count ? words.item[0] : "build/run/gpt2";
    snprintf(path, sizeof path, "%s/memory.bin", folder);
    mt_status status = mt_profile_read(&profile, path, 0);
    if (status != MT_OK)
        return mt_cli_exit(status);
    o.out = o.out ? o.out : folder;
    mt_account account = mt_memory_account(profile);
    mt_memory_print(stdout, profile, &account);
    status = mt_cli_folder(o.out);
    if (status == MT_OK)
        status = mt_memory_save(o.out, profile, &account);
    if (status == MT_OK)
        printf(
            "memory.csv, memory.svg, memory.json (for ui.perfetto.dev) and memory.pickle (for pytorch.org/memory_viz) "
            "are in %s\n",
            o.out);
    mt_account_free(&account);
    mt_profile_free(profile);
    return mt_cli_exit(status);
}
