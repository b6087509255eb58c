/* labinfo.h -- reads labs/NN-name/lab.json: units, limits, bars. */
#pragma once

#include "sandbox/sandbox.h"

enum { MG_UNITS = 16 };

typedef struct mg_labinfo {
    char id[32];    /* "01-matmul" */
    char title[96]; /* "matmul" */
    char unit[MG_UNITS][64];
    int units;
    char other[4 * MG_UNITS][64]; /* units of other labs that a submission may contain without a remark */
    int others;
    mg_limits limits; /* of one check; defaults for what lab.json leaves out */
    void *json;       /* the parsed file, for the bars */
} mg_labinfo;

/* mg_labinfo_read -- read ROOT/labs/ID/lab.json; refuses one that names another lab or odd units. */
mt_status mg_labinfo_read(mg_labinfo *info, const char *root, const char *id);
void mg_labinfo_free(mg_labinfo *info);

/* mg_labinfo_find -- the folder of a lab by its number: "01" -> "01-matmul". */
mt_status mg_labinfo_find(char id[32], const char *root, const char *number);

/* mg_labinfo_expect -- allow units of another lab beside those of this one. */
void mg_labinfo_expect(mg_labinfo *info, const mg_labinfo *other);

/* mg_labinfo_bar -- bars[bar][field]; false when it is not there. */
bool mg_labinfo_bar(const mg_labinfo *info, const char *bar, const char *field, double *value);

/* mg_labinfo_set_bar -- another value of a field that bars[bar] has. */
void mg_labinfo_set_bar(mg_labinfo *info, const char *bar, const char *field, double value);

/* mg_labinfo_needs -- needs[step], "02.1 02.6": steps whose functions the checks of this one call, too. "": none. */
const char *mg_labinfo_needs(const mg_labinfo *info, const char *step);

/* mg_labinfo_seconds -- slow[function], or `usual`: how long one call may take on a student's machine. */
double mg_labinfo_seconds(const mg_labinfo *info, const char *function, double usual);
