/* events.h -- the rows of metrics.csv as scalars for TensorBoard: DIR/events.out.tfevents.SECONDS.HOST.
 *
 *   u64 bytes | u32 sum of these 8 bytes | an Event | u32 sum of the Event              each record, little-endian
 *
 * A sum is a CRC-32C (ckpt/crc32c.h) rotated right by 15 bits, plus 0xa282ead8. An Event is a protocol buffer with
 * fields 1: seconds since 1970 (double), 2: step (varint), 3: "brain.Event:2" in the first record, 5: a summary, whose
 * field 1 is a value: 1: its name, 2: a float; 7: a session log, START in the second record. What older files of the
 * folder have from the step of START on is replaced by this file: the curves of a resumed run do not overlap.
 * Format: tensorflow/core/lib/io/record_writer.h, event.proto and summary.proto of github.com/tensorflow/tensorflow. */
#pragma once

#include "prof/metrics.h"

MT_C_BEGIN

/* mt_events_follow -- a new file in a folder that exists. From now on each row of metrics becomes a scalar for each
 * column but the first, written at once, until metrics are closed. The step is the first column if that is named so,
 * otherwise the number of the row; `rows` are there already.
 * MT_ERR_IO: it cannot be written. A row fails so when there is no room; part of a record may be left. */
mt_status mt_events_follow(mt_metrics *metrics, const char *dir, const char *header, int64_t rows);

MT_C_END
