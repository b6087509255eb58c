/* report.c -- the text at the end of a program: the findings in one line, and each kernel's accesses compared with
 * their ideal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/count/report.h"
#include "emulator/run/findings.h"
#include "emulator/run/setting.h"

static const char *const space_name[] = { "global", "shared", "constant" };
static const char *const kind_name[] = { "load", "store", "atomic" };

const char *emu_space_name(int space)
{
    return space_name[space];
}

const char *emu_access_name(int kind)
{
    return kind_name[kind];
}

/* Line `number` of the file without its indentation, or "". */
static void read_line(char *text, size_t size, const char *path, int number)
{
    FILE *file = fopen(path, "r");
    text[0] = 0;
    char buffer[400];
    while (file && number > 0 && fgets(buffer, sizeof buffer, file))
        number -= strchr(buffer, '\n') != NULL;
    if (file && number == 0)
        snprintf(text, size, "%s", buffer + strspn(buffer, " \t"));
    text[strcspn(text, "\n")] = 0;
    if (file)
        fclose(file);
}

static double per(uint64_t sum, uint64_t requests)
{
    return requests ? (double)sum / (double)requests : 0;
}

static void print_site(const emu_counter *site, const char *shown)
{
    char place[64], verdict[64] = "";
    const char *file = "?";
    int line = 0;
    bool known = emu_source(site->pc, &file, &line);
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    if (known)
        snprintf(place, sizeof place, "%s:%d", base, line);
    else
        snprintf(place, sizeof place, "%#lx", (unsigned long)site->pc);
    if (site->passes > site->ideal)
        snprintf(verdict, sizeof verdict, "  %.1fx the ideal", per(site->passes, site->ideal));
    fprintf(stderr, "  %-20s %-8s %-6s %2d B %10lu %6.2f %8.2f %-10s %6.2f%s\n", place, space_name[site->space],
            kind_name[site->kind], site->size, (unsigned long)site->requests, per(site->lanes, site->requests),
            per(site->passes, site->requests), site->space == 0 ? "sectors" : "wavefronts",
            per(site->ideal, site->requests), verdict);
    if (shown)
        fprintf(stderr, "  %20s | %s\n", "", shown);
}

/* The text of a source line is printed below the last of its accesses. */
static void print_sites(const emu_counts *k)
{
    fprintf(stderr, "  %-20s %-15s %4s %10s %6s %19s %6s\n", "line", "access", "size", "requests", "lanes",
            "per request", "ideal");
    for (size_t i = 0; i < k->site_count; i++) {
        const char *file, *next_file;
        int line, next_line;
        char text[200];
        bool known = emu_source(k->sites[i].pc, &file, &line);
        bool last =
            i + 1 == k->site_count || !emu_source(k->sites[i + 1].pc, &next_file, &next_line) || next_line != line;
        if (known && last)
            read_line(text, sizeof text, file, line);
        print_site(&k->sites[i], known && last && text[0] ? text : NULL);
    }
}

static void print_kernel(const emu_counts *k, bool with_sites)
{
    fprintf(stderr, "\nkernel %s  grid (%u,%u,%u)  block (%u,%u,%u)  launches %lu\n", k->kernel, k->grid[0], k->grid[1],
            k->grid[2], k->block[0], k->block[1], k->block[2], (unsigned long)k->launches);
    if (k->sampled_blocks < k->blocks)
        fprintf(stderr, "  counted in %lu of %lu blocks\n", (unsigned long)k->sampled_blocks, (unsigned long)k->blocks);
    if (with_sites && k->site_count)
        print_sites(k);
    for (int space = 0; space < 2; space++) {
        uint64_t requests = 0, passes = 0;
        for (int kind = 0; kind < 3; kind++) {
            requests += k->traffic[space][kind].requests;
            passes += k->traffic[space][kind].passes;
        }
        fprintf(stderr, "  %s memory: %lu requests, %lu %s, %.2f per request\n", space_name[space],
                (unsigned long)requests, (unsigned long)passes, space ? "wavefronts" : "sectors",
                emu_counts_per_request(k, space));
    }
    fprintf(stderr, "  %lu bytes read, %lu written; %lu bank conflicts; %lu barriers; %lu divergent branches\n",
            (unsigned long)k->bytes_read, (unsigned long)k->bytes_written, (unsigned long)k->conflicts,
            (unsigned long)k->barriers, (unsigned long)k->branches);
}

/* "cuemu: race 93 times at 2 places, out-of-bounds once" */
static void print_summary(void)
{
    const emu_finding *findings;
    size_t count = emu_findings(&findings);
    uint64_t times[EMU_KINDS] = { 0 };
    size_t places[EMU_KINDS] = { 0 };
    for (size_t i = 0; i < count; i++) {
        times[findings[i].kind] += findings[i].times;
        places[findings[i].kind]++;
    }
    if (count)
        fprintf(stderr, "cuemu: found");
    for (int kind = 0, listed = 0; kind < EMU_KINDS; kind++)
        if (places[kind])
            fprintf(stderr, "%s %s %lu time%s at %zu place%s", listed++ ? "," : "", emu_kind_name(kind),
                    (unsigned long)times[kind], times[kind] == 1 ? "" : "s", places[kind],
                    places[kind] == 1 ? "" : "s");
    if (count)
        fprintf(stderr, "\n");
}

void emu_report_end(void)
{
    fflush(stdout);
    long detail = emu_setting("CUEMU_REPORT", 0);
    const emu_counts *kernels;
    size_t count = emu_counts_all(&kernels);
    for (size_t i = 0; i < count && detail > 0; i++)
        print_kernel(&kernels[i], detail == 1);
    print_summary();
    if (getenv("CUEMU_JSON"))
        emu_report_json(getenv("CUEMU_JSON"));
    if (getenv("CUEMU_SVG"))
        emu_report_svg(getenv("CUEMU_SVG"));
}

__attribute__((constructor(104))) static void prepare_drawing(void)
{
    emu_keep_requests = getenv("CUEMU_SVG");
    if (emu_keep_requests)
        emu_worker_limit = 1; /* the kept requests are not per worker */
}
