/* metadata.h -- Gradescope's submission_metadata.yml, as its export of submissions has it:
 *
 *     submission_1234:
 *       :submitters:
 *       - :name: Ada Lovelace
 *         :sid: '42'
 *         :email: ada@example.org
 *       :created_at: 2026-11-20 18:30:00.123456000 Z
 *       :score: 10.0
 *
 * Only these keys are read; YAML in general is not. */
#pragma once

#include "layout.h"

#include <stdio.h>

typedef struct mg_listed {
    char key[128]; /* "submission_1234" */
    mg_student student[MG_TEAM];
    int students; /* 0: nobody is named */
    time_t when;  /* 0: not said */
} mg_listed;

/* mg_metadata_next -- the next submission of the file; false at its end. */
bool mg_metadata_next(FILE *file, mg_listed *one);
