/* unseen.h -- functions whose accesses to memory are not counted: where one was called from last is noted in mg_unseen
 * (traffic.c), whatever its arguments are, and the count is worth nothing then (rows/traffic.c). */
#pragma once

/* UNSEEN -- defines __wrap_NAME (link.c has --wrap=NAME), which notes its return address and goes on in NAME. */
#if defined __aarch64__
#define MG_NOTE "\tadrp x16, mg_unseen\n\tstr x30, [x16, #:lo12:mg_unseen]\n\tb "
#else
#define MG_NOTE "\tmovq (%rsp), %r11\n\tmovq %r11, mg_unseen(%rip)\n\tjmp "
#endif
#define UNSEEN(name)        __asm__(".text\n.globl __wrap_" #name "\n__wrap_" #name ":\n" MG_NOTE "__real_" #name "\n");
#define UNSEEN4(a, b, c, d) UNSEEN(a) UNSEEN(b) UNSEEN(c) UNSEEN(d)
