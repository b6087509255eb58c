/* ptx.c -- inline PTX: the instructions the emulator knows become calls of the shim, one per instruction; the rest is
 * refused with its name.
 *
 *     asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from));
 *     do { ::cuemu::ptx_copy_async((to), (from), 16); } while (0);                                                  */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* `call` gets the instruction's operands in order; the first is assigned to when the instruction has a result. */
static const struct instruction {
    const char *opcode; /* without the modifiers at its end that have no effect here */
    const char *call;
    bool result;
} known[] = {
    { "cp.async.ca.shared.global", "ptx_copy_async", false },
    { "cp.async.cg.shared.global", "ptx_copy_async", false },
    { "cp.async.commit_group", "ptx_copy_commit", false },
    { "cp.async.wait_group", "ptx_copy_wait", false },
    { "cp.async.wait_all", "ptx_copy_wait_all", false },
    { "ldmatrix.sync.aligned.m8n8.x1.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.m8n8.x2.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.m8n8.x4.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.m8n8.x1", "ptx_ldmatrix<false>", false },
    { "ldmatrix.sync.aligned.m8n8.x2", "ptx_ldmatrix<false>", false },
    { "ldmatrix.sync.aligned.m8n8.x4", "ptx_ldmatrix<false>", false },
    { "ldmatrix.sync.aligned.x1.trans.m8n8", "ptx_ldmatrix<true>", false }, /* ptxas takes both orders */
    { "ldmatrix.sync.aligned.x2.trans.m8n8", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.x4.trans.m8n8", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.x1.m8n8.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.x2.m8n8.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.x4.m8n8.trans", "ptx_ldmatrix<true>", false },
    { "ldmatrix.sync.aligned.x1.m8n8", "ptx_ldmatrix<false>", false },
    { "ldmatrix.sync.aligned.x2.m8n8", "ptx_ldmatrix<false>", false },
    { "ldmatrix.sync.aligned.x4.m8n8", "ptx_ldmatrix<false>", false },
    { "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ptx_mma<false>", false },
    { "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "ptx_mma<true>", false },
    { "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "ptx_mma_f16", false },
    { "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "ptx_mma<false>", false },
    { "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "ptx_mma<true>", false },
    { "bar.sync", "ptx_barrier", false },
    { "barrier.sync", "ptx_barrier", false },
    { "membar", "ptx_fence", false },
    { "mov.b32", "ptx_move", true },
    { "mov.u32", "ptx_move", true },
    { "mov.s32", "ptx_move", true },
    { "mov.f32", "ptx_move", true },
    { "mov.u64", "ptx_move", true },
    { "mov.b64", "ptx_move", true },
    { "ex2.approx", "exp2f", true },
    { "lg2.approx", "log2f", true },
    { "rcp.approx", "ptx_reciprocal", true },
    { "rsqrt.approx", "rsqrtf", true },
    { "sqrt.approx", "sqrtf", true },
    { "tanh.approx", "tanhf", true },
    { "fma.rn.f32", "fmaf", true },
    { "bfe.u32", "ptx_bits<unsigned>", true },
    { "bfe.s32", "ptx_bits<int>", true },
    { "lop3.b32", "ptx_logic", true },
    { "prmt.b32.f4e", "ptx_permute<::cuemu::PTX_F4E>", true },
    { "prmt.b32.b4e", "ptx_permute<::cuemu::PTX_B4E>", true },
    { "prmt.b32.rc8", "ptx_permute<::cuemu::PTX_RC8>", true },
    { "prmt.b32.ecl", "ptx_permute<::cuemu::PTX_ECL>", true },
    { "prmt.b32.ecr", "ptx_permute<::cuemu::PTX_ECR>", true },
    { "prmt.b32.rc16", "ptx_permute<::cuemu::PTX_RC16>", true },
    { "prmt.b32", "ptx_permute<::cuemu::PTX_PICK>", true },
    { "ld.global.f32", "ptx_load<float>", true },
    { "ld.global.nc.f32", "ptx_load<float, true>", true },
    { "ld.global.s32", "ptx_load<int>", true },
    { "ld.global.nc.s32", "ptx_load<int, true>", true },
    { "ld.global.u32", "ptx_load<unsigned>", true },
    { "ld.global.nc.u32", "ptx_load<unsigned, true>", true },
    { "ld.global.v4.f32", "ptx_load4<float4>", false },
    { "ld.global.nc.v4.f32", "ptx_load4<float4, true>", false },
    { "st.global.f32", "ptx_store", false },
    { "st.global.v4.f32", "ptx_store4", false },
};

static const struct register_name {
    const char *name, *call;
} registers[] = {
    { "%laneid", "cuemu_lane()" },
    { "%warpid", "(cuemu_thread_rank() / 32)" },
    { "%tid.x", "cuemu_thread_idx().x" },
    { "%tid.y", "cuemu_thread_idx().y" },
    { "%ctaid.x", "cuemu_block_idx().x" },
    { "%ctaid.y", "cuemu_block_idx().y" },
    { "%ntid.x", "cuemu_block_dim().x" },
    { "%nctaid.x", "cuemu_grid_dim().x" },
    { "%tid.z", "cuemu_thread_idx().z" },
    { "%ctaid.z", "cuemu_block_idx().z" },
    { "%ntid.y", "cuemu_block_dim().y" },
    { "%ntid.z", "cuemu_block_dim().z" },
    { "%nctaid.y", "cuemu_grid_dim().y" },
    { "%nctaid.z", "cuemu_grid_dim().z" },
    { "%smid", "::cuemu::ptx_multiprocessor()" },
    { "%nsmid", "cuemu_multiprocessors()" },
    { "%globaltimer", "(unsigned long long)cuemu_clock()" },
    { "%lanemask_le", "((2u << cuemu_lane()) - 1)" },
    { "%lanemask_eq", "(1u << cuemu_lane())" },
    { "%lanemask_ge", "(~0u << cuemu_lane())" },
    { "%lanemask_gt", "(~1u << cuemu_lane())" },
    { "%clock", "(unsigned)cuemu_clock()" },
    { "%clock64", "cuemu_clock()" },
    { "%lanemask_lt", "((1u << cuemu_lane()) - 1)" },
};

enum { MAX_OPERANDS = 32 };

typedef struct assembly {
    source *s;
    const token *at;
    const char *text;                  /* the template, its string literals joined */
    const char *operand[MAX_OPERANDS]; /* the C++ expressions */
    int operands;
} assembly;

/* Modifiers that change no value here: whether denormals become 0 is the GPU's choice for `approx`, and a hint for the
 * cache is none for the result. Others, as .f16x2 or .f64, make another instruction. */
static bool has_no_effect(const char *modifiers, size_t length)
{
    static const char *const words[] = { "",          ".f32", ".ftz", ".ftz.f32", ".L2::64B",    ".L2::128B",
                                         ".L2::256B", ".cta", ".gl",  ".sys",     ".shared.b16", ".shared::cta.b16" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], modifiers, length) == 0)
            return true;
    return false;
}

static const struct instruction *find(const char *text)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].opcode);
        if (strncmp(text, known[i].opcode, length) == 0 && has_no_effect(text + length, strcspn(text + length, " \t")))
            return &known[i];
    }
    return NULL;
}

/* One operand of the instruction as C++: %0 is an expression, %laneid a register; others are copied. */
static const char *operand_text(const assembly *a, const char *from, const char *end)
{
    while (from < end && (isspace((unsigned char)*from) || *from == '['))
        from++;
    while (end > from && (isspace((unsigned char)end[-1]) || end[-1] == ']'))
        end--;
    char *text = strndup(from, (size_t)(end - from));
    if (text[0] == '%' && isdigit((unsigned char)text[1]))
        return atoi(text + 1) < a->operands ? format("(%s)", a->operand[atoi(text + 1)]) : NULL;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (strcmp(text[0] == '%' && text[1] == '%' ? text + 1 : text, registers[i].name) == 0)
            return registers[i].call;
    return text[0] == '%' || !*text ? NULL : text;
}

/* One instruction, without its semicolon, appended to `code`. */
static char *instruction_code(const assembly *a, char *code, const char *text)
{
    int opcode = (int)strcspn(text, " \t");
    const struct instruction *found = find(text);
    if (!found) {
        complain(a->at,
                 "inline PTX instruction `%.*s` is not supported by the emulator: use the CUDA C++ function for it, "
                 "or try this kernel on a GPU",
                 opcode, text);
        return code;
    }
    const char *arguments = "", *result = "";
    int count = 0;
    for (const char *p = text + opcode; *p;) {
        const char *end = p + strcspn(p, ",");
        const char *operand = strspn(p, " \t") == strlen(p) ? "" : operand_text(a, p, end);
        if (!operand) {
            complain(a->at, "inline PTX operand `%.*s` of `%.*s` is not supported by the emulator", (int)(end - p), p,
                     opcode, text);
            return code;
        }
        if (found->result && count++ == 0)
            result = format("%s = ", operand);
        else if (*operand)
            arguments = format("%s%s%s", arguments, *arguments ? ", " : "", operand);
        p = *end ? end + 1 : end;
    }
    const char *scope = strncmp(found->call, "ptx_", 4) == 0 ? "::cuemu::" : "::";
    return format("%s %s%s%s(%s);", code, result, scope, found->call, arguments);
}

/* The template's text with escapes resolved, braces and ends of lines replaced by blanks, and without comments. Returns
 * the index after it. */
static int join_strings(const source *s, int i, const char **text)
{
    char *joined = strdup("");
    for (; s->token[i].kind == TOKEN_STRING; i++)
        joined = format("%s%.*s", joined, s->token[i].length - 2, s->token[i].at + 1);
    for (char *p = joined, comment = 0; *p; p++) {
        bool end = *p == '\\' && p[1] == 'n';
        comment = !end && (comment || (*p == '/' && p[1] == '/'));
        if (end || (*p == '\\' && p[1] == 't'))
            *p = p[1] = ' ';
        if (comment || *p == '{' || *p == '}')
            *p = ' ';
    }
    *text = joined;
    return i;
}

/* `: "=r"(a), "r"(b) : "memory"` -- outputs and inputs are numbered consecutively; clobbers are ignored. */
static void read_operands(assembly *a, int i, int end)
{
    int section = 0;
    for (; i < end; i++) {
        const token *t = &a->s->token[i];
        section += is(t, ":") ? 1 : is(t, "::") ? 2 : 0;
        if (section <= 2 && is(t, "(") && t->partner > i && a->operands < MAX_OPERANDS) {
            a->operand[a->operands++] = span(a->s, i + 1, t->partner);
            i = t->partner;
        }
    }
}

static void rewrite_one(source *s, int at)
{
    int open = at + 1;
    while (is(&s->token[open], "volatile") || is(&s->token[open], "__volatile__"))
        open++;
    int close = s->token[open].partner;
    if (!is(&s->token[open], "(") || close < 0)
        return;
    assembly a = { .s = s, .at = &s->token[at] };
    int behind = join_strings(s, open + 1, &a.text);
    if (behind == open + 1 || s->token[behind].kind == TOKEN_NAME) {
        complain(a.at, "inline PTX must be written as plain string literals for the emulator");
        return;
    }
    read_operands(&a, behind, close);
    char *code = strdup("do {"), *rest = strdup(a.text), *save;
    for (char *text = strtok_r(rest, ";", &save); text; text = strtok_r(NULL, ";", &save)) {
        while (isspace((unsigned char)*text))
            text++;
        if (*text)
            code = instruction_code(&a, code, text);
    }
    replace(s, at, close + 1, format("%s } while (0)", code));
}

/* In host code it is the CPU's assembler, whose accesses nothing sees; behind a declaration, another name for it. */
void rewrite_asm(source *s)
{
    static const char *const words[] = { "asm", "__asm__", "__asm", NULL };
    for (int i = 1; i < s->tokens - 1; i++) {
        if (!is_any(&s->token[i], words))
            continue;
        if (in_device_code(s, i))
            rewrite_one(s, i);
        else
            complain(&s->token[i], "assembler outside of device code is not supported by the emulator: inline PTX "
                                   "belongs into a kernel");
    }
}
