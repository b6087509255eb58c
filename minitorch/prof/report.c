/* report.c -- see report.h. */
#include "prof/report.h"

#include "prof/machine.h"
#include "prof/profile.h"

void mt_profile_report(const char *folder, int threads, double model_flops)
{
    mt_profile *profile = mt_profile_end();
    const mt_profile_roof roof = { .measured_flops = mt_machine_flops(threads), .model_flops = model_flops };
    printf("\n");
    mt_profile_summary(stdout, profile, &roof);
    if (mt_profile_save(profile, folder, &roof) == MT_OK)
        printf("summary.txt, trace.json (for ui.perfetto.dev) and timeline.svg are in %s\n", folder);
    else
        printf("No profile was written: %s\n", mt_last_error());
    mt_profile_free(profile);
}
