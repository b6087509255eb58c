/* layout.h -- who handed in what: the submissions in a folder, as learning management systems export them. */
#pragma once

#include "labinfo.h"

#include <limits.h>
#include <time.h>

typedef enum mg_system { MG_NONE, MG_GRADESCOPE, MG_CANVAS, MG_MOODLE, MG_AUTOLAB, MG_CLASSROOM50 } mg_system;

typedef struct mg_student {
    char name[128], id[64], email[128]; /* UTF-8, without control characters; "" where the export does not say */
} mg_student;

enum { MG_TEAM = 8 }; /* the largest team */

/* One file or folder of a submission. */
typedef struct mg_piece {
    char *path; /* its name in the folder of submissions, in whatever encoding */
    char *name; /* the same without what the system put before it: "units.zip" of "lovelaceada_12_34_units.zip" */
    long order; /* the later one has the higher number */
} mg_piece;

typedef struct mg_handin {
    char key[512]; /* one of its kind in the folder, and in any later export of it */
    mg_system system;
    mg_student student[MG_TEAM];
    int students;
    time_t when; /* handed in, as the export says; 0: it does not */
    bool late;   /* the export says so */
    mg_piece *piece;
    int64_t pieces; /* 0: the export's list has it, the folder has not */
} mg_handin;

typedef struct mg_class {
    char folder[PATH_MAX]; /* without symbolic links */
    mg_handin *handin;     /* in the order of their keys */
    int64_t count;
} mg_class;

const char *mg_system_name(mg_system system); /* "canvas"; "folder" for MG_NONE */

/* mg_class_read -- list the submissions in a folder; no submission is opened. Each entry of the folder is one, or a
 * part of one: Gradescope's submission_NNN with its submission_metadata.yml, Canvas' name_NNN_NNN_file, Moodle's
 * Name_NNN_assignsubmission_file_, Autolab's address_NNN_file, or any other name, which is the student's then, such as
 * that of a repository; scores.csv of Classroom 50 says whose it is. The caller frees with mg_class_free. */
mt_status mg_class_read(mg_class *class, const char *folder);
void mg_class_free(mg_class *class);

/* mg_handin_unpack -- copy the lab's units of a submission into the empty folder `to` (mg_submission_collect), from
 * where they are: loose files, a folder, folders in it, or an archive in those. `ignored` gets what was left out.
 * *digest depends on the units, or on the reason why there are none. Fails when there is no unit: the message is the
 * student's. */
mt_status mg_handin_unpack(const char *to, const mg_class *class, const mg_handin *handin, const mg_labinfo *info,
                           char *ignored, size_t size, uint64_t *digest);
