/* submission.c -- untrusted folders. Archives: unarchive.c. */
#include "build/submission.h"
#include "build/place.h"
#include "sandbox/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS = 8 }; /* in folders, that are searched */

/* ---- folders -------------------------------------------------------------------------------- */

/* Whether it belongs in the folder of a lab without being a unit. */
static bool is_given(const char *name)
{
    static const char *const given[] = { "README.md", "ANSWERS.md", "lab.json", "images" };
    for (int i = 0; i < MT_COUNT(given); i++)
        if (strcmp(name, given[i]) == 0)
            return true;
    return false;
}

/* Why a file is not taken as a unit, or NULL. It is opened before it is examined, so that it cannot change between. */
static const char *take_file(const char *to, const char *unit, int folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    const char *why = NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP ? "a symbolic link" : strerror(errno);
    char *text = malloc(MG_UNIT_BYTES);
    MT_CHECK(text, "out of memory");
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        why = "not a regular file";
    } else if (st.st_size > MG_UNIT_BYTES) {
        why = "too large";
    } else {
        ssize_t n = read(fd, text, MG_UNIT_BYTES);
        mg_path(path, "%s/%s", to, unit);
        why = mg_place_no_text(text, n);
        if (!why && (n < 0 || mg_write_file(path, text, (size_t)n) != MT_OK))
            why = "could not be copied";
    }
    free(text);
    close(fd);
    return why;
}

/* Everything below a folder; no symbolic link is followed. */
static void walk(mg_found *f, const char *to, int folder, const char *above, int depth)
{
    struct dirent **list = NULL;
    int count = scandirat(folder, ".", &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        const char *name = list[i]->d_name, *why = NULL;
        int rank, unit, inner;
        snprintf(path, sizeof path, "%s%s", above, name);
        unit = mg_place(f->info, path, &rank);
        if (mg_place_is_litter(name) || (!depth && is_given(name)) || ++f->files > MG_ENTRIES)
            ;
        else if (unit >= 0 && rank >= f->rank[unit])
            why = "a second copy";
        else if (unit >= 0 && !(why = take_file(to, f->info->unit[unit], folder, name)))
            mg_found_take(f, unit, rank, path);
        else if (unit < 0 && (inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
            strncat(path, "/", sizeof path - strlen(path) - 1);
            if (depth < FOLDERS)
                walk(f, to, inner, path, depth + 1);
            else
                why = "folders in folders";
            close(inner);
        } else if (unit < 0 && !mg_found_is_other(f, name))
            why = mg_place_is_archive(name) ? "an archive in a folder" : "not a unit";
        if (why)
            mg_found_ignore(f, path, why);
        free(list[i]);
    }
    free(list);
}

/* Only labs/NN-name where there is such a folder; else everything. */
static mt_status collect_folder(const char *to, int top, const mg_labinfo *info, char *ignored, size_t size)
{
    mg_found f;
    int labs = openat(top, "labs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int home = labs < 0 ? -1 : openat(labs, info->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    mg_found_begin(&f, info, ignored, size);
    walk(&f, to, home >= 0 ? home : top, "", 0);
    if (f.files > MG_ENTRIES)
        mg_found_ignore(&f, "the rest", "more than 10000 files");
    mg_found_end(&f);
    if (home >= 0)
        close(home);
    if (labs >= 0)
        close(labs);
    return MT_OK;
}

mt_status mg_submission_collect(const char *to, const char *from, const mg_labinfo *info, char *ignored, size_t size)
{
    char path[PATH_MAX];
    struct stat st;
    bool found = false;
    ignored[0] = 0;
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st)) {
        mt_status status = mt_fail(MT_ERR_ARGUMENT, "%s: %s", from, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    mt_status status = S_ISDIR(st.st_mode)   ? collect_folder(to, fd, info, ignored, size)
                       : S_ISREG(st.st_mode) ? mg_unarchive(to, fd, info, ignored, size)
                                             : mt_fail(MT_ERR_ARGUMENT, "%s: neither a folder nor an archive", from);
    close(fd);
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        mg_path(path, "%s/%s", to, info->unit[i]);
        found = found || access(path, R_OK) == 0;
    }
    return status != MT_OK || found ? status
                                    : mt_fail(MT_ERR_ARGUMENT, "%s: no usable %s%s%s", from, info->unit[0],
                                              ignored[0] ? "; ignored: " : "", ignored);
}
