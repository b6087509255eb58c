/* device.c -- see device.h. The emulator runs in the worker; here its report is taken for a claim and put in words. */
#include "device.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char report_name[] = ""; /* no name: not shown among the arguments */

const mg_device_report *mg_device_counts(mg_run *run)
{
    return mg_result(run, report_name);
}

/* Text from the worker's memory ends where its array ends. */
#define TEXT(array) (int)sizeof(array), array

static void judge_finding(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    char line[128] = "";
    bool known = r->pc && mg_build_line(&run->bench->build, run->bench->worker_path, r->pc, line, sizeof line);
    if (!known && r->file[0])
        snprintf(line, sizeof line, "%.*s:%d", TEXT(r->file), r->line);
    mg_judge(run, MG_FAIL, "%s%s%.*s%s%.*s", line, line[0] ? ": " : "", TEXT(r->text), r->where[0] ? "\n" : "",
             TEXT(r->where));
    mg_session_end(run->session); /* after an error a device is of no more use */
    run->session = NULL;
}

void mg_device_ask(mg_run *run)
{
    mg_out(run, report_name, MT_U8, MT_SHAPE(sizeof(mg_device_report)));
}

bool mg_device_judge(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    if (r->errors || r->failed) {
        judge_finding(run);
        return false;
    }
    if (r->changed >= 0 && r->changed < run->arguments) {
        mg_judge(run, MG_FAIL, "%s was written, but it is an input", run->argument[r->changed].name);
        return false;
    }
    return true;
}

static double checked(mg_run *run, double value, double least)
{
    if (value < least)
        mg_judge(run, MG_FAIL,
                 "counted %.3g, and less than %.3g is not possible: is something not read, or not written?", value,
                 least);
    return value;
}

static double sum(const mg_device_traffic t[3], bool requests)
{
    double total = 0;
    for (int i = 0; i < 3; i++)
        total += (double)(requests ? t[i].requests : t[i].passes);
    return total;
}

double mg_device_traffic_of(mg_run *run, double must)
{
    return checked(run, 32 * sum(mg_device_counts(run)->global, false) / must, 0.99);
}

double mg_device_requests_of(mg_run *run, double must)
{
    return checked(run, 128 * sum(mg_device_counts(run)->global, true) / must, 0.24);
}

double mg_device_conflicts_of(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    double ideal = 0;
    for (int i = 0; i < 3; i++)
        ideal += (double)r->shared[i].ideal;
    return ideal > 0 ? sum(r->shared, false) / ideal : NAN; /* no shared memory was used: earns nothing */
}

void mg_device_credit(mg_run *run, const char *bar, double value, const char *unit)
{
    mg_note(run, "%.2f %s (bar %.2f .. %.2f)  counted, no GPU", value, unit, mg_bar(run, bar, "low"),
            mg_bar(run, bar, "full"));
    mg_credit(run, bar, value);
}
