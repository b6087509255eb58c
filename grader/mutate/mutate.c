/* mutate.c -- systematic mutants of the marked regions of a solution unit. mutate.sh grades them.
 *
 *   mutate list UNIT.c         one line for each mutant: number, line, step and its identity, separated by tabs
 *   mutate make UNIT.c NUMBER  the unit with that mutant, on standard output
 *
 * An identity has no line number, so that it survives edits elsewhere:
 *     view.c mt_view_numel: comparison: for (int d = 0; d < view->rank; d++) -> for (int d = 0; d <= view->rank; d++)
 * The second mutant with the same words ends in "#2". */
#include "operators.h"
#include "text.h"
#include "tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 110 }; /* characters of a changed line that an identity has */

static char *read_unit(const char *path)
{
    char *text = mg_read_text(path);
    if (!text || !text[0]) {
        fprintf(stderr, "mutate: %s: %s\n", path, text ? "empty" : strerror(errno));
        exit(2);
    }
    return text;
}

/* The beginning of a text, with one blank for each stretch of white space, and none before it. */
static void put_words(FILE *out, const char *text, int length)
{
    bool gap = false;
    int put = 0;
    for (int i = 0; i < length && put < MOST; i++) {
        bool space = isspace((unsigned char)text[i]);
        if (!space)
            put += fprintf(out, "%s%c", gap && put > 0 ? " " : "", text[i]);
        gap = space;
    }
    if (put >= MOST)
        fprintf(out, "...");
}

/* The lines that the mutant changes, before and after. */
static char *identity(const mutant *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    int begin = m->begin, end = m->end;
    const token *function = &tok[tok[m->token].function];
    while (begin > 0 && unit[begin - 1] != '\n')
        begin--;
    end += (int)strcspn(unit + end, "\n");
    fprintf(out, "%s %.*s: %s: ", name, function->end - function->begin, unit + function->begin, m->what);
    put_words(out, unit + begin, end - begin);
    fprintf(out, " -> ");
    char *changed;
    int n = asprintf(&changed, "%.*s%s%.*s", m->begin - begin, unit + begin, m->text, end - m->end, unit + m->end);
    MT_CHECK(n >= 0, "out of memory");
    put_words(out, changed, n);
    free(changed);
    fclose(out);
    return text;
}

static void list(void)
{
    char **all = calloc((size_t)mutants + 1, sizeof *all);
    MT_CHECK(all, "out of memory");
    for (int k = 0; k < mutants; k++) {
        int same = 1;
        all[k] = identity(&made[k]);
        for (int j = 0; j < k; j++)
            same += strcmp(all[j], all[k]) == 0;
        printf("%d\t%d\t%s\t%s", k + 1, tok[made[k].token].line, tok[made[k].token].step, all[k]);
        printf(same > 1 ? " #%d\n" : "\n", same);
    }
    free(all);
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "list") != 0 && (strcmp(argv[1], "make") != 0 || argc < 4))) {
        fprintf(stderr, "usage: mutate list UNIT | mutate make UNIT NUMBER\n");
        return 2;
    }
    unit = read_unit(argv[2]);
    name = strrchr(argv[2], '/') ? strrchr(argv[2], '/') + 1 : argv[2];
    tokenize();
    make_mutants();
    if (strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    int k = atoi(argv[3]) - 1;
    if (k < 0 || k >= mutants) {
        fprintf(stderr, "mutate: %s has %d mutants, and no number %s\n", name, mutants, argv[3]);
        return 2;
    }
    printf("%.*s%s%s", made[k].begin, unit, made[k].text, unit + made[k].end);
    return 0;
}
