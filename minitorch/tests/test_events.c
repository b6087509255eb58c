/* test_events.c -- events for TensorBoard, read back by a reader of its own: the published layout, sums one bit at a
 * time. */
#include "temp_dir.h"
#include "follow/follow.h"

#include <dirent.h>
#include <math.h>
#include <time.h>

static void good(mt_status status)
{
    cr_assert_eq(status, MT_OK, "%s", mt_last_error());
}

TestSuite(events, .init = temp_dir_make, .fini = temp_dir_remove);

static uint32_t sum_of(const uint8_t *p, uint64_t bytes)
{
    uint32_t crc = ~0u;
    for (uint64_t i = 0; i < 8 * bytes; i++)
        crc = (crc ^ (p[i / 8] >> i % 8)) & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* A protocol buffer: appends what it has, as "field:value "; messages within it as "field{...} ". */
static void decode(char *text, const uint8_t *p, const uint8_t *end, int depth)
{
    while (p < end) {
        int number = *p >> 3, type = *p & 7;
        uint64_t word = 0;
        float f;
        double d;
        char *to = text + strlen(text);
        p++;
        if (type == 0 || type == 2) /* a varint: a value, or the bytes that follow */
            for (int shift = 0, more = 1; more; shift += 7, p++) {
                word |= (uint64_t)(*p & 127) << shift;
                more = *p & 128;
            }
        if (type == 0)
            sprintf(to, "%d:%ld ", number, (long)word);
        if (type == 1) {
            memcpy(&d, p, 8);
            cr_assert(fabs(d - (double)time(NULL)) < 100, "the time is %f", d);
        }
        if (type == 5) {
            memcpy(&f, p, 4);
            sprintf(to, "%d:%g ", number, (double)f);
        }
        bool message = type == 2 && ((depth == 0 && (number == 5 || number == 7)) || depth == 1);
        if (type == 2)
            sprintf(to, message ? "%d{" : "%d:%.*s ", number, (int)word, (const char *)p);
        if (message) {
            decode(text, p, p + word, depth + 1);
            strcat(text, "} ");
        }
        p += type == 1 ? 8 : type == 5 ? 4 : type == 2 ? word : 0;
    }
    cr_assert_eq(p, end);
}

/* All events of the one file in the folder, a line each. */
static void read_events(char *text)
{
    static uint8_t bytes[1 << 16];
    DIR *folder = opendir(temp_dir);
    *text = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "events.out.tfevents.", 20) != 0)
            continue;
        char name[100];
        snprintf(name, sizeof name, "%.99s", entry->d_name);
        FILE *file = fopen(in_dir(name), "rb");
        uint64_t size = fread(bytes, 1, sizeof bytes, file), at = 0, length;
        fclose(file);
        for (uint32_t sum; at < size; at += length + 4) {
            memcpy(&length, bytes + at, 8);
            memcpy(&sum, bytes + at + 8, 4);
            cr_assert_eq(sum, sum_of(bytes + at, 8));
            at += 12;
            memcpy(&sum, bytes + at + length, 4);
            cr_assert_eq(sum, sum_of(bytes + at, length));
            decode(text, bytes + at, bytes + at + length, 0);
            strcat(text, "\n");
        }
        cr_assert_eq(at, size);
    }
    closedir(folder);
}

Test(events, rows_become_scalars)
{
    static char text[1 << 16];
    const char *names = "step,a name of fifty-one characters to be on a safe side";
    mt_events *events = NULL;
    cr_assert_eq(mt_events_open(&events, "/none"), MT_ERR_IO);
    SAYS("/none/events.out.tfevents.");
    good(mt_events_open(&events, temp_dir));
    good(mt_events_row(events, names, "1,0.5"));
    good(mt_events_row(events, names, "127,-3\n"));
    good(mt_events_row(events, names, "128,1e-5"));
    good(mt_events_row(events, names, "5000000000,7"));
    read_events(text);
    cr_assert_str_eq(text, "2:0 3:brain.Event:2 \n2:0 7{1:1 } \n"
                           "2:1 5{1{1:a name of fifty-one characters to be on a safe side 2:0.5 } } \n"
                           "2:127 5{1{1:a name of fifty-one characters to be on a safe side 2:-3 } } \n"
                           "2:128 5{1{1:a name of fifty-one characters to be on a safe side 2:1e-05 } } \n"
                           "2:5000000000 5{1{1:a name of fifty-one characters to be on a safe side 2:7 } } \n");
    mt_events_close(events);
}

/* The step may stand in any column, and values may be left out. */
Test(events, empty_values_and_the_column_of_the_step)
{
    static char text[1 << 16];
    mt_events *events;
    good(mt_events_open(&events, temp_dir));
    good(mt_events_row(events, "epoch,loss,val_loss,step,lr\n", "0.5,2,,300,0.125\n"));
    good(mt_events_row(events, "epoch,loss,val_loss,step,lr\n", "1,,3,600,\n"));
    read_events(text);
    cr_assert_str_eq(text, "2:0 3:brain.Event:2 \n2:0 7{1:1 } \n2:300 5{1{1:loss 2:2 } } \n"
                           "2:300 5{1{1:lr 2:0.125 } } \n2:600 5{1{1:val_loss 2:3 } } \n");
    mt_events_close(events);
}

/* Rows without a step are counted. */
Test(events, rows_of_several_columns)
{
    static char text[1 << 16];
    for (int by_step = 0; by_step < 2; by_step++) {
        const char *names = by_step ? "step,loss,val_loss\n" : "epoch,loss,val_loss\n";
        mt_events *events;
        good(mt_events_open(&events, temp_dir));
        good(mt_events_row(events, names, "20,0.25,4\n"));
        good(mt_events_row(events, names, "40,0.12,inf\n"));
        read_events(text);
        cr_assert_str_eq(text, by_step ? "2:0 3:brain.Event:2 \n2:0 7{1:1 } \n2:20 5{1{1:loss 2:0.25 } } \n"
                                         "2:20 5{1{1:val_loss 2:4 } } \n2:40 5{1{1:loss 2:0.12 } } \n"
                                         "2:40 5{1{1:val_loss 2:inf } } \n"
                                       : "2:0 3:brain.Event:2 \n2:0 7{1:1 } \n2:1 5{1{1:loss 2:0.25 } } \n"
                                         "2:1 5{1{1:val_loss 2:4 } } \n2:2 5{1{1:loss 2:0.12 } } \n"
                                         "2:2 5{1{1:val_loss 2:inf } } \n");
        mt_events_close(events);
        char command[128];
        snprintf(command, sizeof command, "rm %s/*", temp_dir);
        cr_assert_eq(system(command), 0);
    }
}
