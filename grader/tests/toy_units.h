/* toy_units.h -- the source of a unit of the toy lab: its includes, and the function that doubles n numbers. */
#pragma once

#include "toy.h"

#define UNIT                                                                                                        \
    "#include \"core/base.h\"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n" \
    "#include <fcntl.h>\n#include <errno.h>\n#include <pthread.h>\n#include <signal.h>\n#include <sys/mman.h>\n"    \
    "#include <sys/socket.h>\n#include <sys/ptrace.h>\n#include <sys/syscall.h>\n#include <sys/resource.h>\n"       \
    "#include <time.h>\n#include <sys/stat.h>\n"
#define TOY        "void toy(float *out, const float *x, int64_t n)\n"
#define DO         "for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"
#define BODY(text) UNIT TOY "{ " text " }\n"
