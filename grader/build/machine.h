/* machine.h -- whether a unit's machine code is the reference's, in whatever dress: C, assembler or data. */
#pragma once

#include "labinfo.h"

/* One function of the reference that a student writes. */
typedef struct mg_machine {
    char unit[64], name[128];
    const char *level; /* how the reference is compiled */
    int64_t pieces;    /* of MG_PIECE bytes, those of given code left out */
    int64_t found;     /* of these, in the objects */
} mg_machine;

enum {
    MG_PIECE = 16,      /* bytes */
    MG_LEAST = 300,     /* pieces: what is shorter is written equally by many */
    MG_IDENTICAL = 90,  /* per cent of the pieces of a function */
    MG_LEAST_SAME = 3,  /* functions, and */
    MG_SHARE_SAME = 50, /* per cent of the lab's, from which a submission is named */
};

typedef void mg_machine_fn(const mg_machine *m, void *arg);

/* mg_machine_compare -- compare the objects in `objects` with each function of the reference of a lab, as `folder` has
 * it: LEVEL/{reference,given}/NN-name/, for each of mg_machine_levels that is there (batch.mk makes them). Relocations
 * do not count, nor does where in the objects the code lies. The objects are not trusted. */
void mg_machine_compare(const char *folder, const mg_labinfo *info, const char *objects, mg_machine_fn *each,
                        void *arg);
extern const char *const mg_machine_levels[];

/* mg_machine_words -- "identical machine code to the reference in 3 of 5 functions: look", or "": with the level where
 * most are identical. */
void mg_machine_words(const char *folder, const mg_labinfo *info, const char *objects, char *words, size_t size);
