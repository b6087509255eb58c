/* fibers.c -- stacks and switches alone: 1024 fibers with 100 switches each keep their registers and stacks. */
#include <stdio.h>
#include <stdlib.h>
#include "emulator/run/sched.h"

enum { FIBERS = 1024, TURNS = 100 };

static void *mine, *places[FIBERS];
static int running, sums[FIBERS], unaligned;
static double floats[FIBERS];

/* Values live across switches, in registers and on the stack. */
static void body(void)
{
    int self = running, history[TURNS];
    double decay = self;
    unaligned += (uintptr_t)__builtin_frame_address(0) % 16 != 0;
    for (int turn = 0; turn < TURNS; turn++) {
        history[turn] = self * turn;
        decay = decay / 2 + turn;
        emu_switch(&places[self], mine);
    }
    for (int turn = 0; turn < TURNS; turn++)
        sums[self] += history[turn];
    floats[self] = decay;
    emu_switch(&places[self], mine);
}

int main(void)
{
    emu_worker *worker = calloc(1, sizeof *worker);
    worker->scheduler = calloc(1, sizeof *worker->scheduler);
    emu_stacks_new(worker);
    char *tops[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        tops[i] = emu_stack_top(worker, emu_stack_take(worker));
        places[i] = emu_fiber_new(tops[i], body);
    }
    long switches = 0;
    for (int turn = 0; turn <= TURNS; turn++) {
        for (running = 0; running < FIBERS; running++, switches++)
            emu_switch(&mine, places[running]);
    }
    int wrong = unaligned;
    for (int i = 0; i < FIBERS; i++) {
        double decay = i;
        for (int turn = 0; turn < TURNS; turn++)
            decay = decay / 2 + turn;
        wrong += sums[i] != i * (TURNS * (TURNS - 1) / 2) || floats[i] != decay;
    }
    wrong += emu_stack_overflowed(worker, tops[0] - 1) || !emu_stack_overflowed(worker, worker->stacks + 1);
    printf("%s fibers: %ld switches\n", wrong || switches < 100000 ? "FAIL" : "ok", switches);
    return wrong != 0;
}
