/* processors.h -- how many processors a race can have here. */
#pragma once

/* mg_processors -- what the kernel gives to all our threads together: the processors that we may run on, or less, where
 * a control group has a quota (a container with half a processor: 0.5). */
double mg_processors(void);

/* mg_processors_quota -- the least quota of the control groups that the file `own` names (/proc/self/cgroup), and of
 * those above them, in the tree `root` (/sys/fs/cgroup); infinity without one. */
double mg_processors_quota(const char *root, const char *own);
