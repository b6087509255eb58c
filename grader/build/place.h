/* place.h -- which file of a submission is which unit, wherever it lies. */
#pragma once

#include "labinfo.h"

/* mg_place -- the unit that a path inside a submission stands for, or -1. Folders may be separated by / or \, and a
 * name may differ in upper and lower case. Of several copies the one with the smallest *rank counts: the place in the
 * repository (labs/NN-name/), then the fewest folders, then the exact name. */
int mg_place(const mg_labinfo *info, const char *path, int *rank);

/* mg_place_is_litter -- what systems and editors leave behind: hidden files, __MACOSX, Thumbs.db, desktop.ini. */
bool mg_place_is_litter(const char *path);

/* mg_place_is_archive -- by the ending of its name, tar or zip. */
bool mg_place_is_archive(const char *name);

/* mg_place_no_text -- why the text of a unit cannot be compiled whatever it says, or NULL. */
const char *mg_place_no_text(const char *text, int64_t bytes);

enum { MG_NOT_FOUND = 1 << 20, MG_ENTRIES = 10000 /* files that are looked at */ };

/* The units of a submission as they are found. */
typedef struct mg_found {
    const mg_labinfo *info;
    char *ignored; /* what was left out and why: "Makefile, evil.h (not a unit)" */
    size_t size;
    int rank[MG_UNITS]; /* of the copy taken; MG_NOT_FOUND: none */
    char *from[MG_UNITS];
    int files;
} mg_found;

void mg_found_begin(mg_found *f, const mg_labinfo *info, char *ignored, size_t size);
void mg_found_end(mg_found *f);
void mg_found_ignore(mg_found *f, const char *name, const char *why);

/* mg_found_take -- a copy of the unit has been taken, which counts more than the one before. */
void mg_found_take(mg_found *f, int unit, int rank, const char *path);

/* mg_found_is_other -- whether it is a unit of another lab that is graded along with this one. */
bool mg_found_is_other(const mg_found *f, const char *name);

/* mg_unarchive -- unarchive.c: mg_submission_collect from an archive that is open. */
mt_status mg_unarchive(const char *to, int archive, const mg_labinfo *info, char *ignored, size_t size);
