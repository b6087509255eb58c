/* follow.h -- what follows a run: files for TensorBoard (events.c) and a page for Prometheus (page.c).
 *
 * TensorBoard has the rows of metrics.csv as scalars, in DIR/events.out.tfevents.SECONDS.HOST:
 *
 *   u64 bytes | u32 sum of these 8 bytes | an Event | u32 sum of the Event              each record, little-endian
 *
 * A sum is a CRC-32C (ckpt/crc32c.h) rotated right by 15 bits, plus 0xa282ead8. An Event is a protocol buffer with
 * fields 1: seconds since 1970 (double), 2: step (varint), 3: "brain.Event:2" in the first record, 5: a summary, whose
 * field 1 is a value: 1: its name, 2: a float; 7: a session log, START in the second record: the file takes the place
 * of what older files of the folder have, so that the curves of a resumed run do not overlap.
 * Format: tensorflow/core/lib/io/record_writer.h, event.proto and summary.proto of github.com/tensorflow/tensorflow. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_events mt_events; /* opaque */

/* mt_events_open -- a new file in a folder that exists.
 * mt_events_row -- a row of a table becomes a scalar for each column but the first that has a value, written at once.
 * The step is the column of that name, otherwise the number of the row. names, row: separated by commas.
 * MT_ERR_IO: it cannot be written; part of a record may be left. The caller closes *out in any case. */
mt_status mt_events_open(mt_events **out, const char *dir);
mt_status mt_events_row(mt_events *events, const char *names, const char *row);
void mt_events_close(mt_events *events); /* NULL is allowed */

/* ---- page.c ------------------------------------------------------------------------------------------ */

/* A page of text at http://127.0.0.1:PORT/metrics, in the text format 0.0.4 of Prometheus.
 *
 *     mt_status status = mt_page_open(&page, 9464, text, user);
 *     while (running())
 *         mt_page_serve(page, 0.1); */

typedef struct mt_page mt_page; /* opaque */

enum { MT_PAGE = 8192 }; /* bytes of a page at most, with the zero at its end */

/* mt_page_open -- text(user, ...) writes the page whenever somebody asks for it. MT_ERR_ARGUMENT, with words: the port
 * may not be used, or is still taken after a second, in which the one that follows an earlier run may end. */
mt_status mt_page_open(mt_page **out, int64_t port, void (*text)(void *user, char text[MT_PAGE]), void *user);

/* mt_page_serve -- answer the clients that ask within this time. */
void mt_page_serve(mt_page *page, double seconds);

void mt_page_close(mt_page *page); /* NULL is allowed */

MT_C_END
