/* test_wire.c -- which replies are accepted; the tail of a worker's output; descriptions of faults. */
#include "sandbox/death.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

static const mg_wire_request request = { .nonce = 7, .count = 2 };

Test(wire, a_reply_must_repeat_the_nonce_and_make_sense)
{
    const mg_wire_reply good = { .nonce = 7, .what = MG_DONE };
    mg_wire_reply r = good;
    cr_expect(mg_wire_reply_valid(&r, &request));
    r.nonce = 8;
    cr_expect_not(mg_wire_reply_valid(&r, &request), "a guessed nonce");
    r = good;
    for (uint32_t what = 0; what < 10; what++) {
        r.what = what;
        cr_expect_not(mg_wire_reply_valid(&r, &request), "what = %u", what);
    }
    for (int32_t array = MG_SMALL_STACK - 2; array <= 4; array++) {
        r = (mg_wire_reply){ .nonce = 7, .what = MG_FAULT, .value = array };
        cr_expect_eq(mg_wire_reply_valid(&r, &request), array >= MG_SMALL_STACK && array < 2, "array %d", array);
    }
}

Test(wire, structs_have_no_room_for_stray_bytes)
{
    cr_expect_eq(sizeof(mg_wire_reply), 24);
    cr_expect_eq(sizeof(mg_wire_value), 40 + MG_WIRE_ARGUMENT);
    cr_expect_eq(sizeof(mg_wire_request), 32 + MG_WIRE_NAME + MG_WIRE_VALUES * sizeof(mg_wire_value));
    cr_expect_leq(sizeof(mg_wire_request), 4096, "a pipe takes this much in one piece");
}

Test(wire, the_tail_keeps_the_end)
{
    char tail[MG_TAIL], chunk[700], text[64];
    int64_t bytes = 0;
    for (int i = 0; i < 10; i++) {
        memset(chunk, 'a' + i, sizeof chunk);
        mg_tail_add(tail, &bytes, chunk, sizeof chunk);
    }
    cr_expect_eq(bytes, MG_TAIL);
    cr_expect_eq(tail[0], 'h');
    cr_expect_eq(tail[MG_TAIL - 1], 'j');
    mg_tail_add(tail, &bytes, "\nlast \033 line\n\n", 14);
    mg_tail_lines(text, sizeof text, tail, bytes);
    cr_expect_str_eq(text, "last ? line", "of a longer line than fits nothing is shown where whole ones follow");
    mg_tail_lines(text, sizeof text, tail, bytes - 14);
    cr_expect_eq(strlen(text), sizeof text - 1, "\"%s\": one line, longer than fits", text);
}

Test(wire, a_death_in_words)
{
    char text[256];
    cr_expect_eq(mg_describe_death(text, sizeof text, SIGFPE, "", "", 0), MG_CRASH);
    cr_expect(strstr(text, "SIGFPE"), "%s", text);
    mg_describe_death(text, sizeof text, (128 + SIGABRT) << 8, "", "why\n", 4); /* through bubblewrap */
    cr_expect_str_eq(text, "SIGABRT (abort, or a failed check)\nwhy");
    cr_expect_eq(mg_describe_death(text, sizeof text, MT_EXIT_TODO << 8, "", "", 0), MG_TODO);
    cr_expect_eq(mg_describe_death(text, sizeof text, 0, "", "", 0), MG_CRASH, "an exit is never a pass");
}

Test(wire, a_fault_in_words)
{
    mg_argument argument[] = { { .kind = MG_OUT, .name = "out", .dtype = MT_F32, .shape = MT_SHAPE(2, 3), .bytes = 24 },
                               { .kind = MG_IN, .name = "x", .dtype = MT_I64, .shape = MT_SHAPE(5), .bytes = 40 } };
    const mg_invocation in = { .argument = argument, .count = 2 };
    static const struct {
        int32_t array;
        int64_t distance;
        const char *words;
    } faults[] = {
        { 0, 24, "touched element 6 of out [2,3], past its end" },
        { 0, -1, "touched element -1 of out [2,3], before its start" },
        { 0, -5, "touched element -2 of out [2,3], before its start" },
        { 1, 8, "wrote to element 1 of x [5], which is an input" },
        { MG_NO_ARRAY, 0, "touched address 0 (a null pointer)" },
        { MG_NO_ARRAY, 8, "touched address 0x8, 8 bytes behind 0 (a null pointer)" },
        { MG_NO_ARRAY, 0xcf,
          "touched address 0xcf, 208 bytes behind a pointer of bytes 0xff: it was read from memory that is freed, or "
          "that was never written" },
        { MG_NO_ARRAY, -1,
          "touched address 0xffffffffffffffff, 0 bytes behind a pointer of bytes 0xff: it was read from memory that is "
          "freed, or that was never written" },
        { MG_NO_ARRAY, 1 << 16, "touched address 0x10000" },
        { MG_STACK, 0, "the stack overflowed (endless recursion, or a huge local array)" },
        { MG_SMALL_STACK, 0,
          "the stack overflowed: this call is counted, with a stack of 2 MiB; larger arrays come from malloc, and "
          "their "
          "bytes count" },
    };
    for (int64_t i = 0; i < MT_COUNT(faults); i++) {
        char text[256];
        mg_wire_reply fault = { .what = MG_FAULT, .value = faults[i].array, .distance = faults[i].distance };
        mg_describe_fault(text, sizeof text, &fault, &in);
        cr_expect_str_eq(text, faults[i].words);
    }
}
