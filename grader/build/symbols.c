/* symbols.c -- readelf, nm and objdump look at the object in a sandbox, and what they print is judged here. A line that
 * is not understood is refused too: names may have any characters. */
#include "build/symbols.h"
#include "build/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LISTING = 1 << 20,
    MOST_STATIC = 64, /* MiB of a unit: the worker's memory is for the arrays of the calls */
    MOST_THREAD = 4,  /* MiB that every thread has again */
};

/* One shell for all of it, because a sandbox takes longer than these programs. $2: options for objcopy. Disassembling
 * is slow, so only an object that has the bytes of a system call somewhere is disassembled. */
static const char look_script[] =
    "export LC_ALL=C; readelf -SW \"$1\" && echo '== symbols' && nm -P \"$1\" && echo '== code' || exit 1\n"
    "if grep -qaP '\\x0f\\x05|\\x0f\\x34|\\xcd\\x80' \"$1\"; then\n"
    "    objdump -d --no-show-raw-insn \"$1\" | grep -m1 -wE 'syscall|sysenter|int +\\$0x80'\n"
    "fi\n"
    "said=$(objcopy --wildcard @\"$2\" \"$1\" 2>&1) || echo '== not copied'";

typedef struct examiner {
    mg_build *build;
    const char *id, *unit;
    bool traced; /* compiled with calls at each memory access: the compiler adds a constructor, which is removed */
    int constructors;
    unsigned long long statics, of_threads; /* bytes */
    char *defined; /* what the rest of the worker may define: lines "units/02-backprop/linear.o: name ..." */
    mg_findings *findings;
} examiner;

#define find(e, ...) mg_find((e)->findings, 0, __VA_ARGS__)

/* ---- what others define ----------------------------------------------------------------------------- */

/* `make` lists what its objects define (Makefile). */
static mt_status read_defined(const mg_build *b, char *text)
{
    char path[PATH_MAX];
    mg_path(path, "%s/defined", b->build);
    FILE *file = fopen(path, "re");
    if (!file)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s: %s (run make first)", path, strerror(errno));
    text[fread(text, 1, LISTING - 1, file)] = 0;
    fclose(file);
    return MT_OK;
}

/* The next line that defines a symbol, or NULL. */
static const char *definer(const char *defined, const char *symbol, const char *after)
{
    char word[512];
    if (snprintf(word, sizeof word, ": %s ", symbol) >= (int)sizeof word)
        return NULL;
    const char *line = strstr(after ? after + strcspn(after, "\n") : defined, word);
    while (line && line > defined && line[-1] != '\n')
        line--;
    return line;
}

static bool begins(const char *line, const char *with)
{
    return line && strncmp(line, with, strlen(with)) == 0;
}

/* The lab whose unit defines a symbol, or -1. */
static int lab_of(const examiner *e, const char *symbol)
{
    const char *line = definer(e->defined, symbol, NULL);
    return begins(line, "units/") ? atoi(line + strlen("units/")) : -1;
}

/* Whether a symbol is of the worker or of the library that every worker has. */
static bool is_given(const examiner *e, const char *symbol)
{
    for (const char *line = definer(e->defined, symbol, NULL); line; line = definer(e->defined, symbol, line))
        if (!begins(line, "units/"))
            return true;
    return false;
}

/* ---- judging ---------------------------------------------------------------------------------------- */

static bool is_cuda(const examiner *e)
{
    return strcmp(strchr(e->unit, '.'), ".cu") == 0;
}

static bool is_section(const examiner *e, const char *name, unsigned long long bytes)
{
    static const char *const known[] = { ".text",  ".data",    ".rodata", ".bss",      ".tbss",
                                         ".tdata", ".comment", ".note",   ".eh_frame", ".gcc_except_table",
                                         ".group", ".symtab",  ".strtab", ".shstrtab", ".debug_" };
    name += strncmp(name, ".rela.", 6) == 0 ? 5 : 0;
    if (strcmp(name, ".init_array.00099") == 0) /* the compiler's own, one pointer with 24 bytes of relocation */
        return e->traced && e->constructors < 2 && (bytes == 8 || bytes == 24);
    if (is_cuda(e) && (strcmp(name, "cuemu_device") == 0 || strcmp(name, "cuemu_constant") == 0 ||
                       strcmp(name, "cuemu_bound") == 0 || strcmp(name, ".relacuemu_bound") == 0))
        return true;
    for (int i = 0; i < MT_COUNT(known); i++) {
        size_t n = strlen(known[i]);
        if (strncmp(name, known[i], n) == 0 && (!name[n] || name[n] == '.' || known[i][n - 1] == '_'))
            return true;
    }
    return strcmp(name, ".note.GNU-stack") == 0;
}

/* The words of a line. */
static int words_of(const char *line)
{
    int words = 0;
    for (line += strspn(line, " "); *line; words++) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return words;
}

/* `rest`: the columns behind the size, "08 WAT  0   0 32": flags, if there are any, and last the alignment. */
static void add_static(examiner *e, unsigned long long bytes, const char *rest)
{
    char flags[32] = "";
    const char *last = strrchr(rest, ' ');
    sscanf(rest, " %*x %31s", flags);
    if (!strchr(flags, 'A')) /* not in memory */
        return;
    bool thread = strchr(flags, 'T');
    unsigned long long *sum = thread ? &e->of_threads : &e->statics, before = *sum >> 20;
    unsigned long long most = thread ? MOST_THREAD : MOST_STATIC;
    *sum += bytes + (last ? strtoull(last, NULL, 10) : 0);
    if (before <= most && *sum >> 20 > most)
        find(e, "has %llu MiB of %s, and units may have %llu: use malloc", *sum >> 20,
             thread ? "variables for each thread" : "static arrays", most);
}

/* "  [ 7] .rela.text  RELA  0000000000000000 000d28 000060 18   I 19   1  8": a name with spaces has more words. */
static void judge_section(examiner *e, const char *line)
{
    char name[256], type[32];
    unsigned long long bytes;
    int number, read = 0;
    if (sscanf(line, " [%d]", &number) != 1 || number == 0)
        return; /* the heading, the key to flags; section 0 is none */
    int values = sscanf(line, " [%*d] %255s %31s %*x %*x %llx%n", name, type, &bytes, &read);
    e->constructors += values == 3 && strcmp(name, ".init_array.00099") == 0;
    if (values == 3)
        add_static(e, bytes, line + read);
    if (values != 3 || words_of(line + read) > 5)
        find(e, "a section with a strange name");
    else if (!is_section(e, name, bytes) ||
             !strstr(" PROGBITS NOBITS RELA SYMTAB STRTAB GROUP NOTE X86_64_UNWIND INIT_ARRAY ", type) ||
             (strcmp(type, "INIT_ARRAY") == 0 && !strstr(name, ".init_array.00099")))
        find(e, "has a section `%s`, which units may not have%s", name,
             strstr(name, "init") || strstr(name, "ctors") || strstr(type, "INIT")
                 ? ": a constructor, or an object that must be initialised before main"
                 : "");
}

static void judge_defined(examiner *e, const char *name, char type)
{
    if (type == 'C' && begins(name, ".gomp_critical_user_")) /* the lock of a critical section with a name */
        return;
    if (!strchr(is_cuda(e) ? "TtDdBbRrVvWwnNu" : "TtDdBbRrVvWwnN", type))
        find(e, "defines `%s` as an indirect, common or absolute symbol, which units may not", name);
    else if (mg_is_reserved(name))
        find(e, "defines `%s`, which units may not: the name belongs to the compiler, the emulator or the grader",
             name);
    else if (strchr("TDBRVWu", type) && begins(name, "mt_") && is_given(e, name))
        find(e, "defines `%s`, which the framework has already: choose another name", name);
}

/* "mt_linear_bwd_cpu T da0 20a", "memcpy U" */
static void judge_symbol(examiner *e, const char *line)
{
    char name[1024], type[3], rest[64] = "";
    int words = sscanf(line, "%1023s %2s %63s", name, type, rest);
    if (words < 2 || type[1] || (words == 2) != (strchr("Uwv", type[0]) != NULL) || strchr(name, '@'))
        find(e, "a symbol with a strange name");
    else if (words == 3)
        judge_defined(e, name, type[0]);
    else if (!mg_may_use(e->id, e->unit, name) && (is_cuda(e) || lab_of(e, name) < 0))
        find(e, "uses `%s`, which units may not use", name);
    else if (lab_of(e, name) > atoi(e->id) && !mg_is_reserved_for(e->id, e->unit, name))
        find(e, "uses `%s`, which a later lab asks for: units may use those of earlier labs", name);
}

static void judge(examiner *e, char *listing)
{
    enum { SECTIONS, SYMBOLS, CODE } part = SECTIONS;
    for (char *line = strsep(&listing, "\n"); line; line = strsep(&listing, "\n")) {
        if (part == SECTIONS && strcmp(line, "== symbols") == 0)
            part = SYMBOLS;
        else if (part == SYMBOLS && strcmp(line, "== code") == 0)
            part = CODE;
        else if (part == SECTIONS)
            judge_section(e, line);
        else if (part == SYMBOLS)
            judge_symbol(e, line);
        else if (strcmp(line, "== not copied") == 0 && !e->findings->count)
            find(e, "something refers to a section that units may not have");
        else if (line[0] && line[0] != '=')
            find(e, "has a system call as an instruction, which units may not have");
    }
    if (part != CODE)
        find(e, "its symbols could not be read");
}

/* ---- the examination ---------------------------------------------------------------------------------- */

/* Options for objcopy: what stays visible to others are names of the framework, and those of the reference unit. Weak
 * C++ functions stay too, because the linker keeps one copy of each for all units. Nothing of a unit runs before the
 * first call: the compiler's constructor only says that there is traced code, and the worker does so itself. Whatever
 * the name by which a kernel calls them, memcpy and memset are the emulator's, which counts what they access there. */
static mt_status write_options(const examiner *e, char path[PATH_MAX])
{
    char member[PATH_MAX], text[8192] = "-R .init_array*\n-G mt_*\n";
    size_t used = strlen(text);
    int n = snprintf(member, sizeof member, "units/%s/%.*s.o: ", e->id, (int)strcspn(e->unit, "."), e->unit);
    if (is_cuda(e))
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "-G _Z*\n--redefine-sym memcpy=cuemu_memcpy\n--redefine-sym memset=cuemu_memset\n");
    for (const char *line = e->defined; (line = strstr(line, member)) && used < sizeof text - 600; line += n)
        used += (size_t)snprintf(text + used, sizeof text - used, "-G %.*s\n", (int)strcspn(line + n, " "), line + n);
    mg_path(path, "%s/in/%s.%.*s.globals", e->build->scratch, e->id, (int)strcspn(e->unit, "."), e->unit);
    return mg_write_file(path, text, strlen(text));
}

static mt_status look(const examiner *e, const char *object, char *listing)
{
    char options[PATH_MAX], folder[PATH_MAX];
    mt_status status = write_options(e, options);
    if (status != MT_OK)
        return status;
    mg_path(folder, "%.*s", (int)(strrchr(object, '/') - object), object);
    const char *const argv[] = { "/bin/sh", "-c", look_script, "look", object, options, NULL };
    mg_sandbox box = mg_tool_box(e->build, argv, NULL);
    box.readable[0] = options;
    box.writable[0] = folder;
    status = mg_run_tool(&box, "looking at the object", &e->build->work, listing, LISTING);
    return status == MT_OK ? mg_is_plain(object) : status;
}

mt_status mg_symbols_check(mg_build *b, mg_findings *findings, const char *object)
{
    char *defined = malloc(LISTING), *listing = malloc(LISTING);
    MT_CHECK(defined && listing, "out of memory");
    examiner e = { .build = b,
                   .id = findings->id,
                   .unit = findings->unit,
                   .traced = strstr(object, "/counted/") || strstr(findings->unit, ".cu"),
                   .defined = defined,
                   .findings = findings };
    defined[0] = listing[0] = 0;
    mt_status status = read_defined(b, defined);
    if (status == MT_OK) {
        status = look(&e, object, listing);
        if (status == MT_OK)
            judge(&e, listing);
        else if (!findings->count)
            snprintf(findings->log, findings->size, "%s: its object cannot be read: %.200s", e.unit, listing);
    }
    free(defined);
    free(listing);
    return findings->count ? mt_fail(MT_ERR_FORMAT, "%s: symbols that units may not use", e.unit) : status;
}
