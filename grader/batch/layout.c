/* layout.c -- names of files to students. Gradescope: one file for all (metadata.c); the others: patterns of names. */
#include "layout.h"
#include "build/place.h"
#include "metadata.h"
#include "sandbox/scratch.h"
#include "text.h"
#include "dates.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mg_system_name(mg_system system)
{
    static const char *const names[] = { "folder", "gradescope", "canvas", "moodle", "autolab", "classroom50" };
    return names[system];
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_utf8(const char *text)
{
    char *plain = mg_plain(text);
    bool same = strcmp(plain, text) == 0;
    free(plain);
    return same;
}

/* A name for people: UTF-8; other bytes are taken for Latin-1, which is what old archives have. */
static void readable(char *to, size_t size, const char *name)
{
    char latin[2 * NAME_MAX + 1];
    size_t n = 0;
    for (const char *p = name; *p && n + 2 < sizeof latin; p++)
        if (*p & 0x80) {
            latin[n++] = (char)(0xc0 | (*p >> 6 & 3));
            latin[n++] = (char)(0x80 | (*p & 0x3f));
        } else {
            latin[n++] = *p;
        }
    latin[n] = 0;
    char *plain = mg_plain(is_utf8(name) ? name : latin);
    for (char *p = plain; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    size_t length = strlen(plain);
    for (length = length < size ? length : size - 1; length && (plain[length] & 0xc0) == 0x80;)
        length--; /* not in the middle of a character */
    snprintf(to, size, "%.*s", (int)length, plain);
    free(plain);
}

/* A name that is text for a database and still one of its kind: what is not UTF-8, as \x.. */
static void unique(char *to, size_t size, const char *name)
{
    bool text = is_utf8(name);
    size_t n = 0;
    for (const char *p = name; *p && n + 5 < size; p++)
        if (*p == '\\' || (unsigned char)*p < ' ' || (!text && *p & 0x80))
            n += (size_t)snprintf(to + n, size - n, "\\x%02x", (unsigned char)*p);
        else
            to[n++] = *p;
    to[n] = 0;
}

/* The digits that `p` begins with, if `after` follows them; else NULL. */
static const char *digits(const char *p, char after)
{
    size_t n = strspn(p, "0123456789");
    return n > 0 && n < 20 && p[n] == after ? p + n + 1 : NULL;
}

/* What a name says. */
typedef struct reading {
    mg_system system;
    char key[2 * NAME_MAX], name[NAME_MAX + 1], id[64];
    const char *rest; /* the file's own name */
    long order;
    bool late;
} reading;

/* "Ada Lovelace_123_assignsubmission_file_", a folder, or "..._file_units.zip"; 0: not so. */
static bool read_moodle(reading *r, const char *name)
{
    static const char mark[] = "_assignsubmission_file";
    const char *at = strstr(name, mark), *number = at;
    while (number && number > name && number[-1] != '_')
        number--;
    if (!at || number <= name + 1 || digits(number, '_') != at + 1)
        return false;
    r->system = MG_MOODLE;
    snprintf(r->name, sizeof r->name, "%.*s", (int)(number - 1 - name), name);
    snprintf(r->id, sizeof r->id, "%.*s", (int)(at - number), number);
    snprintf(r->key, sizeof r->key, "%s_%s", r->name, r->id);
    r->rest = at + sizeof mark - 1;
    r->rest += *r->rest == '_';
    return true;
}

/* "lovelaceada_12_345_units.zip" or "lovelaceada_LATE_12_345_units.zip": student 12, file 345. */
static bool read_canvas(reading *r, const char *name)
{
    const char *p = strchr(name, '_');
    if (!p || p == name)
        return false;
    size_t length = (size_t)(p - name);
    p++;
    r->late = strncmp(p, "LATE_", 5) == 0;
    p += r->late ? 5 : 0;
    const char *file = digits(p, '_'), *rest = file ? digits(file, '_') : NULL;
    if (!rest || !*rest)
        return false;
    r->system = MG_CANVAS;
    snprintf(r->name, sizeof r->name, "%.*s", (int)length, name);
    snprintf(r->id, sizeof r->id, "%.*s", (int)(file - 1 - p), p);
    snprintf(r->key, sizeof r->key, "%s_%s", r->name, r->id);
    r->order = strtol(file, NULL, 10);
    r->rest = rest;
    return true;
}

/* "ada@example.org_3_handin.tar": the third version. A domain has no "_". */
static bool read_autolab(reading *r, const char *name)
{
    const char *at = strchr(name, '@'), *end = at ? strchr(at, '_') : NULL;
    const char *rest = end ? digits(end + 1, '_') : NULL;
    if (!rest || !*rest || at == name)
        return false;
    r->system = MG_AUTOLAB;
    snprintf(r->name, sizeof r->name, "%.*s", (int)(end - name), name);
    snprintf(r->key, sizeof r->key, "%s", r->name);
    r->order = strtol(end + 1, NULL, 10);
    r->rest = rest;
    return true;
}

static void read_plain(reading *r, const char *name)
{
    static const char *const endings[] = { ".zip", ".tgz", ".txz", ".tbz2", ".gz", ".xz", ".bz2", ".tar" };
    r->system = MG_NONE;
    snprintf(r->key, sizeof r->key, "%s", name);
    snprintf(r->name, sizeof r->name, "%s", name);
    r->rest = name;
    for (int i = 0; i < MT_COUNT(endings); i++) { /* ".tar.gz": .gz first, .tar last */
        size_t n = strlen(r->name), end = strlen(endings[i]);
        if (n > end && strcasecmp(r->name + n - end, endings[i]) == 0)
            r->name[n - end] = 0;
    }
}

typedef bool read_fn(reading *r, const char *name);

static bool reads(read_fn *read, reading *r, const char *name)
{
    *r = (reading){ 0 };
    return read(r, name);
}

/* The end of a name is the student's, and can look like a name of the other system, with the number of somebody else:
 * the pattern of the class comes first. */
static void read_name(reading *r, const char *name, bool moodle)
{
    read_fn *first = moodle ? read_moodle : read_canvas, *second = moodle ? read_canvas : read_moodle;
    if (reads(first, r, name) || reads(second, r, name) || reads(read_autolab, r, name))
        return;
    *r = (reading){ 0 };
    read_plain(r, name);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static mg_handin *add_handin(mg_class *class, const char *key)
{
    char text[sizeof class->handin->key];
    unique(text, sizeof text, key);
    for (int64_t i = 0; i < class->count; i++)
        if (strcmp(class->handin[i].key, text) == 0)
            return &class->handin[i];
    class->handin = realloc(class->handin, (size_t)(class->count + 1) * sizeof *class->handin);
    MT_CHECK(class->handin, "out of memory");
    mg_handin *h = &class->handin[class->count++];
    *h = (mg_handin){ 0 };
    memcpy(h->key, text, sizeof text);
    return h;
}

static void add_piece(mg_handin *h, const char *path, const char *name, long order)
{
    h->piece = realloc(h->piece, (size_t)(h->pieces + 1) * sizeof *h->piece);
    MT_CHECK(h->piece, "out of memory");
    h->piece[h->pieces++] = (mg_piece){ strdup(path), strdup(name), order };
}

static void add_entry(mg_class *class, const char *entry, bool listed, bool moodle)
{
    reading r = { 0 };
    if (listed) /* Gradescope's names are numbers, and its list says whose */
        read_plain(&r, entry);
    else
        read_name(&r, entry, moodle);
    mg_handin *h = add_handin(class, r.key);
    bool known = h->students > 0;
    if (!known) {
        h->students = 1;
        h->system = r.system;
        readable(h->student[0].name, sizeof h->student[0].name, r.name);
        readable(h->student[0].id, sizeof h->student[0].id, r.id);
        readable(h->student[0].email, sizeof h->student[0].email, r.system == MG_AUTOLAB ? r.name : "");
    }
    h->late = h->late || r.late;
    add_piece(h, entry, r.rest, r.order);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const mg_handin *)a)->key, ((const mg_handin *)b)->key);
}

static int by_order(const void *a, const void *b)
{
    const mg_piece *x = a, *y = b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(x->path, y->path);
}

static void free_pieces(mg_handin *h, int64_t from, int64_t to)
{
    for (int64_t p = from; p < to; p++) {
        free(h->piece[p].path);
        free(h->piece[p].name);
    }
}

/* Sorts submissions by key, and their pieces by time. Autolab's versions are whole submissions: the last one counts. */
static void sort(mg_class *class)
{
    qsort(class->handin, (size_t)class->count, sizeof *class->handin, by_key);
    for (int64_t i = 0; i < class->count; i++) {
        mg_handin *h = &class->handin[i];
        if (h->pieces)
            qsort(h->piece, (size_t)h->pieces, sizeof *h->piece, by_order);
        if (h->system == MG_AUTOLAB && h->pieces > 1) {
            free_pieces(h, 0, h->pieces - 1);
            h->piece[0] = h->piece[h->pieces - 1];
            h->pieces = 1;
        }
    }
}

/* Gradescope's list: its submissions, also those without a folder. */
static mt_status read_list(mg_class *class, bool *listed)
{
    char path[PATH_MAX];
    mg_path(path, "%s/submission_metadata.yml", class->folder);
    FILE *file = fopen(path, "re");
    *listed = file != NULL;
    if (!file)
        return errno == ENOENT ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    mg_listed one;
    while (mg_metadata_next(file, &one)) {
        mg_handin *h = add_handin(class, one.key);
        h->system = MG_GRADESCOPE;
        h->when = one.when;
        h->students = one.students;
        for (int i = 0; i < one.students; i++) {
            readable(h->student[i].name, sizeof h->student[i].name, one.student[i].name);
            readable(h->student[i].id, sizeof h->student[i].id, one.student[i].id);
            readable(h->student[i].email, sizeof h->student[i].email, one.student[i].email);
        }
    }
    fclose(file);
    return MT_OK;
}

static bool is_entry(const char *name)
{
    return !mg_place_is_litter(name) && strcmp(name, "submission_metadata.yml");
}

/* Whether more of the names are Moodle's than Canvas's. */
static bool is_moodle(DIR *top)
{
    int64_t moodle = 0, canvas = 0;
    reading r;
    for (struct dirent *e; (e = readdir(top));)
        if (is_entry(e->d_name)) {
            moodle += reads(read_moodle, &r, e->d_name);
            canvas += reads(read_canvas, &r, e->d_name);
        }
    rewinddir(top);
    return moodle > canvas;
}

mt_status mg_class_read(mg_class *class, const char *folder)
{
    bool listed = false;
    *class = (mg_class){ 0 };
    DIR *top = realpath(folder, class->folder) ? opendir(class->folder) : NULL;
    if (!top)
        return mt_fail(MT_ERR_ARGUMENT,
                       "DIR=%s: %s; it has to be a folder with a folder or an archive for each student", folder,
                       strerror(errno));
    mt_status status = read_list(class, &listed);
    bool moodle = is_moodle(top);
    for (struct dirent *e; status == MT_OK && (e = readdir(top));)
        if (is_entry(e->d_name) && !mg_dates_is_list(class->folder, e->d_name))
            add_entry(class, e->d_name, listed, moodle);
    rewinddir(top);
    for (struct dirent *e; status == MT_OK && (e = readdir(top));)
        if (mg_dates_is_list(class->folder, e->d_name))
            status = mg_dates_read(class, e->d_name);
    closedir(top);
    if (status == MT_OK && class->count == 0)
        status = mt_fail(MT_ERR_ARGUMENT, "DIR=%s is empty: nothing to grade", folder);
    if (status == MT_OK)
        sort(class);
    else
        mg_class_free(class);
    return status;
}

void mg_class_free(mg_class *class)
{
    for (int64_t i = 0; i < class->count; i++) {
        free_pieces(&class->handin[i], 0, class->handin[i].pieces);
        free(class->handin[i].piece);
    }
    free(class->handin);
    class->handin = NULL;
    class->count = 0;
}
