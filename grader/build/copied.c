/* copied.c -- see copied.h. */
#include "build/copied.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *end_of_comment(const char *p)
{
    const char *end = p[1] == '*' ? strstr(p + 2, "*/") : strchr(p, '\n');
    return end ? end + (p[1] == '*' ? 2 : 0) : p + strlen(p);
}

uint64_t mg_copied_digest(const char *text)
{
    uint64_t digest = MG_HASH;
    for (const char *p = text; *p;) {
        unsigned char c = (unsigned char)*p;
        if (isspace(c)) {
            p++;
            continue;
        }
        if (c == '/' && (p[1] == '*' || p[1] == '/')) {
            p = end_of_comment(p);
            continue;
        }
        if (isalpha(c) || c == '_') {
            c = 'n'; /* a name */
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
        } else {
            p++;
        }
        digest = mg_hash(digest, &c, 1);
    }
    return digest;
}

/* Whether the unit at `path` has the digest of ID/UNIT ("01-matmul", "loops.c"). */
static bool is_copy(const char *root, const char *id, const char *unit, const char *path)
{
    char line[200], known[PATH_MAX], want[128];
    mg_path(known, "%s/reference/digests", root);
    FILE *file = fopen(known, "re");
    char *text = file ? mg_read_text(path) : NULL;
    bool found = false;
    snprintf(want, sizeof want, "%s/%s %016llx\n", id, unit, text ? (unsigned long long)mg_copied_digest(text) : 0ULL);
    while (text && !found && fgets(line, sizeof line, file))
        found = strcmp(line, want) == 0;
    if (file)
        fclose(file);
    free(text);
    return found;
}

void mg_copied_name(char *words, size_t size, const char *root, const mg_labinfo *info, const char *folder)
{
    char path[PATH_MAX];
    for (int i = 0; i < info->units; i++) {
        size_t used = strlen(words);
        mg_path(path, "%s/%s", folder, info->unit[i]);
        if (is_copy(root, info->id, info->unit[i], path))
            snprintf(words + used, size - used, "%s%s/%s is a copy of the reference", used ? "; " : "", info->id,
                     info->unit[i]);
    }
}
