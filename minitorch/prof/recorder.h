/* recorder.h -- what each thread notes of its spans while a profile runs; profile.c makes the result of it. */
#ifndef MT_PROF_RECORDER_H
#define MT_PROF_RECORDER_H

#include "prof/profile.h"

/* Sums over the spans of one pair of literals in one thread; line.name is not used. */
typedef struct mt_record_sum {
    const char *name, *of;
    mt_profile_line line;
} mt_record_sum;

enum { MT_RECORD_HINTS = 64 };

typedef struct mt_record {
    char name[32]; /* of the thread */
    mt_record_sum *sum;
    int sum_count, sum_capacity;
    int hint[MT_RECORD_HINTS]; /* hash of a pair of literals -> where its sum was last time */
    mt_profile_event *ring;    /* line is an index of sum, times are mt_now's */
    int64_t capacity, limit;   /* events in ring, now and at most */
    int64_t seen;              /* event i is at ring[i % limit] until event i + limit comes */
} mt_record;

/* mt_recorder_end -- the records of all threads that had spans, the main thread first; caller frees the array and each
 * sum and ring. *peak: most bytes allocated at any moment. */
void mt_recorder_begin(int64_t events);
mt_record *mt_recorder_end(int64_t *count, double *begin, double *end, int64_t *peak);

#endif
