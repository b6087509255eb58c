# attack  06.1 as many timers as it gets, in a worker that may have timers
# hopes   another submission of the same user gets none (RLIMIT_SIGPENDING counts per user)
# stopped by RLIMIT_SIGPENDING inside the user namespace
# behind  the list
# earns   6
# verdict PASS
cat >>saxpy.cu <<'C'
#include <signal.h>
#include <time.h>
namespace {
struct taker {
    taker()
    {
        struct sigevent event = {};
        timer_t timer;
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGUSR1;
        for (int i = 0; i < 200; i++)
            if (timer_create(CLOCK_MONOTONIC, &event, &timer))
                return;
        puts("BREACH: more than 200 timers");
        _exit(1);
    }
} first;
}
C
sed -i '1i #include <stdio.h>\n#include <unistd.h>' saxpy.cu
