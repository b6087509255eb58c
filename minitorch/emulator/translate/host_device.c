/* host_device.c -- host/device errors that nvcc refuses and g++ accepts, for which both codes are one program:
 *
 *   device code calls a host function, or uses a host variable        host code calls a device function or a kernel
 *   a kernel returns a value or takes a reference                     malloc, throw, static variables in device code
 *
 * The check knows names only: a name is reported only if all functions of that name agree and no local name hides it.
 * */
#include "emulator/translate/translate.h"

#include <ctype.h>
#include <string.h>

/* Words after which a '(' is not a call and a name is not a declaration. */
static const char *const keywords[] = {
    "if",         "for",       "while",         "switch",      "return",
    "sizeof",     "alignof",   "decltype",      "else",        "case",
    "do",         "goto",      "new",           "delete",      "throw",
    "catch",      "constexpr", "static_assert", "static_cast", "reinterpret_cast",
    "const_cast", "noexcept",  "operator",      "and",         "or",
    "not",        "co_return", "typename",      "template",    NULL,
};

/* Functions of the C and C++ libraries that device code does not have. */
static const char *const host_library[] = {
    "rand",   "srand",  "fprintf", "sprintf", "snprintf", "puts",   "putchar", "fputs", "fflush",
    "fopen",  "fclose", "fread",   "fwrite",  "scanf",    "sscanf", "getenv",  "exit",  "abort",
    "time",   "qsort",  "realloc", "calloc",  "usleep",   "sleep",  "perror",  "atoi",  "atof",
    "strtol", "strtod", "getline", "mmap",    "strdup",   "strcmp", "strncmp", NULL,
};

static const char *const host_std[] = {
    "vector",   "string", "map",   "unordered_map", "set",  "sort",       "cout",       "cerr",       "endl",
    "min",      "max",    "swap",  "fill",          "copy", "accumulate", "unique_ptr", "shared_ptr", "make_unique",
    "function", "thread", "mutex", "atomic",        "rand", "to_string",  "clamp",      NULL,
};

/* Functions and variables that exist while a kernel runs. */
static const char *const device_only[] = {
    "__syncthreads",
    "__syncthreads_count",
    "__syncthreads_and",
    "__syncthreads_or",
    "__syncwarp",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_down_sync",
    "__shfl_xor_sync",
    "__ballot_sync",
    "__any_sync",
    "__all_sync",
    "__activemask",
    "atomicAdd",
    "atomicSub",
    "atomicMax",
    "atomicMin",
    "atomicExch",
    "atomicCAS",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
    "__threadfence",
    "__trap",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    NULL,
};

/* These take a device variable by name. */
static const char *const symbol_calls[] = { "cudaMemcpyToSymbol",
                                            "cudaMemcpyFromSymbol",
                                            "cudaGetSymbolAddress",
                                            "cudaMemcpyToSymbolAsync",
                                            "cudaMemcpyFromSymbolAsync",
                                            "cudaGetSymbolSize",
                                            "sizeof",
                                            "decltype",
                                            NULL };

typedef struct scope {
    const source *s;
    const function *f;
    const token **local; /* names the function declares itself */
    int locals;
} scope;

/* ---- contexts ------------------------------------------------------------------------------- */

/* Inside `[=] __device__ (...) { ... }`? */
static bool in_device_lambda(const source *s, int begin, int i)
{
    for (int j = begin; j < i; j++) {
        if (!is(&s->token[j], "__device__"))
            continue;
        int body = j + 1;
        while (body < i && !is(&s->token[body], "{"))
            body = s->token[body].partner > body ? s->token[body].partner + 1 : body + 1;
        if (is(&s->token[body], "{") && body < i && i < s->token[body].partner)
            return true;
    }
    return false;
}

static const function *function_around(const source *s, int i)
{
    for (int f = 0; f < functions; f++) {
        const function *one = &the_function[f];
        if (one->body >= 0 && one->body < i && i < s->token[one->body].partner)
            return one;
    }
    return NULL;
}

bool in_device_code(const source *s, int i)
{
    const function *f = function_around(s, i);
    return f && ((f->marks & (GLOBAL | DEVICE)) || in_device_lambda(s, f->body, i));
}

/* ---- names a function declares itself ------------------------------------------------------- */

static bool ends_type(const token *t)
{
    return (t->kind == TOKEN_NAME && !is_any(t, keywords)) || is(t, ">") || is(t, "*") || is(t, "&") || is(t, ",");
}

static bool declares(const token *t)
{
    const token *next = t + 1;
    if (is(next, "("))
        return t[-1].kind == TOKEN_NAME && !is_any(t - 1, keywords);
    return ends_type(t - 1) && (is(next, "=") || is(next, ";") || is(next, ",") || is(next, ")") || is(next, "[") ||
                                is(next, "{") || is(next, ":"));
}

static void find_locals(scope *c)
{
    const token *token_of = c->s->token;
    int end = token_of[c->f->body].partner;
    for (int i = c->f->parameters; i < end; i++) {
        const token *t = &token_of[i];
        bool bound = is(t - 1, "[") && (is(t - 2, "auto") || is(t - 3, "auto"));
        bool dimension = is(t + 1, "(") && (is(t, "gridDim") || is(t, "blockDim")); /* dim3 blockDim(16), gridDim(4); */
        if (t->kind != TOKEN_NAME || !(declares(t) || bound || dimension))
            continue;
        /* `f(a, x)`: after a comma a name is declared only if = [ or ; follows. */
        if (is(t - 1, ",") && (is(t + 1, ")") || is(t + 1, "(")) && !dimension)
            continue;
        c->local = grow(c->local, c->locals, sizeof *c->local);
        c->local[c->locals++] = t;
    }
}

static bool is_local(const scope *c, const token *name)
{
    for (int i = 0; i < c->locals; i++)
        if (c->local[i]->length == name->length && memcmp(c->local[i]->at, name->at, (size_t)name->length) == 0)
            return true;
    return false;
}

/* ---- device code ---------------------------------------------------------------------------- */

static void check_device_call(const scope *c, const token *t)
{
    const token *kernel = c->f->name;
    const function *callee = NULL;
    unsigned marks = marks_of_function(t, &callee);
    bool member = is(t - 1, ".") || is(t - 1, "->");
    if ((member && !(callee && callee->is_member)) || is_learnt(t))
        return;
    if (marks & GLOBAL)
        complain(t,
                 "device code `%.*s` calls the kernel `%.*s`: only the host launches kernels, with <<<grid, block>>>",
                 kernel->length, kernel->at, t->length, t->at);
    else if (marks == HOST && !(member && is(t, "size")))
        complain(t,
                 "device code `%.*s` calls the host function `%.*s` (%s:%d): mark it __device__ or __host__ __device__",
                 kernel->length, kernel->at, t->length, t->at, callee->name->file, callee->name->line);
    else if (!marks && !member && is_any(t, host_library))
        complain(t, "device code `%.*s` calls `%.*s`, which is a host function: a GPU does not have it", kernel->length,
                 kernel->at, t->length, t->at);
    else if (!marks && !member && (is(t, "malloc") || is(t, "free")))
        complain(t, "`%.*s` in device code is not supported by the emulator: allocate on the host with cudaMalloc",
                 t->length, t->at);
    else if (!marks && (starts_with(t, "cudaM") || starts_with(t, "cudaF") || starts_with(t, "cudaD") ||
                        starts_with(t, "cudaS") || starts_with(t, "cublas")))
        complain(t, "device code `%.*s` calls `%.*s`, which is the host's API", kernel->length, kernel->at, t->length,
                 t->at);
}

/* `new (address) type(...)` allocates nothing. */
static bool is_placement(const source *s, const token *t)
{
    if (!is(t, "new") || !is(t + 1, "(") || t[1].partner < 0)
        return false;
    const token *type = &s->token[t[1].partner + 1];
    return type->kind == TOKEN_NAME || is(type, "::");
}

static void check_device_name(const scope *c, const token *t)
{
    const variable *v = find_variable(t);
    if ((is(t, "new") && !is_placement(c->s, t)) || is(t, "delete"))
        complain(t, "`%.*s` in device code is not supported by the emulator: allocate on the host with cudaMalloc",
                 t->length, t->at);
    else if (is(t, "throw") || is(t, "try") || is(t, "typeid") || is(t, "dynamic_cast") || is(t, "thread_local"))
        complain(t, "device code has no `%.*s`", t->length, t->at);
    else if (is(t, "static") && !is(t + 1, "const") && !is(t + 1, "constexpr") && !is(t + 1, "__shared__") &&
             !is(t - 1, "__shared__"))
        complain(t, "a static variable in device code is not supported by the emulator: use a __device__ variable");
    else if (is(t - 1, "::") && is(t - 2, "std") && is_any(t, host_std))
        complain(t, "device code `%.*s` uses std::%.*s, which is for the host: %s", c->f->name->length, c->f->name->at,
                 t->length, t->at,
                 is(t, "min") || is(t, "max") ? "write min() or max() without std::" : "write it out");
    else if (v && !v->marks && !v->constant_expression && !is(t - 1, ".") && !is(t - 1, "->") && !is(t - 1, "::") &&
             !is_local(c, t) && !(c->f->is_member && is_member_name(t)))
        complain(t,
                 "device code `%.*s` uses the host variable `%.*s` (%s:%d): pass it as an argument, or mark it "
                 "__device__ or __constant__",
                 c->f->name->length, c->f->name->at, t->length, t->at, v->name->file, v->name->line);
}

/* ---- host code ------------------------------------------------------------------------------ */

static bool in_symbol_call(const source *s, int i)
{
    for (int j = i - 1, depth = 0; j > 0 && !is(&s->token[j], ";") && !is(&s->token[j], "{"); j--) {
        depth += is(&s->token[j], "(") ? 1 : is(&s->token[j], ")") ? -1 : 0;
        if (depth > 0 && is(&s->token[j], "(") && (is_any(&s->token[j - 1], symbol_calls) || is(&s->token[j - 1], ">")))
            return true;
    }
    return false;
}

static void check_host_name(const scope *c, int i)
{
    const token *t = &c->s->token[i];
    const function *callee = NULL;
    unsigned marks = marks_of_function(t, &callee);
    const variable *v = find_variable(t);
    bool member = is(t - 1, ".") || is(t - 1, "->"), call = is(t + 1, "(");
    if (member || is_local(c, t) || (is_member_name(t) && c->f->is_member))
        return;
    if (call && marks == GLOBAL)
        complain(t, "the kernel `%.*s` is called like a function: launch it with `%.*s<<<grid, block>>>(...)`",
                 t->length, t->at, t->length, t->at);
    else if (call && marks == DEVICE)
        complain(t, "host code `%.*s` calls the device function `%.*s` (%s:%d): mark it __host__ __device__",
                 c->f->name->length, c->f->name->at, t->length, t->at, callee->name->file, callee->name->line);
    else if (!marks && is_any(t, device_only) && (call || isalpha((unsigned char)*t->at)) && !c->f->is_template)
        complain(t, "host code `%.*s` uses `%.*s`, which exists in kernels only: is a __device__ missing?",
                 c->f->name->length, c->f->name->at, t->length, t->at);
    else if (v && (v->marks & (DEVICE | CONSTANT)) && !(v->marks & MANAGED) && !v->constant_expression &&
             !in_symbol_call(c->s, i))
        complain(t,
                 "host code `%.*s` uses the device variable `%.*s`: copy with cudaMemcpyToSymbol or "
                 "cudaMemcpyFromSymbol",
                 c->f->name->length, c->f->name->at, t->length, t->at);
}

/* ---- one function --------------------------------------------------------------------------- */

static void check_signature(const source *s, const function *f)
{
    bool is_void = false;
    for (int i = f->begin; i < f->parameters; i++)
        is_void |= is(&s->token[i], "void") || is(&s->token[i], "auto");
    if (!is_void)
        complain(f->name, "kernel `%.*s` must return void", f->name->length, f->name->at);
    for (int i = f->parameters; i < s->token[f->parameters].partner; i++)
        if (is(&s->token[i], "&") && s->token[i + 1].kind == TOKEN_NAME && is(&s->token[i - 1], "&") == false)
            warn(f->name,
                 "kernel `%.*s` takes a reference, which would be the host's memory: pass a value or a device "
                 "pointer",
                 f->name->length, f->name->at);
}

static void check_body(const source *s, const function *f)
{
    scope c = { .s = s, .f = f };
    bool device = f->marks & (GLOBAL | DEVICE), both = (f->marks & HOST) && (f->marks & DEVICE);
    if (both) /* which side it runs on depends on the caller: nvcc only warns */
        return;
    find_locals(&c);
    for (int i = f->body + 1; i < c.s->token[f->body].partner; i++) {
        const token *t = &c.s->token[i];
        if (is(t, "__attribute__") && t[1].partner > i)
            i = t[1].partner;
        if (t->kind != TOKEN_NAME || is(t, "__attribute__"))
            continue;
        if (!device && !in_device_lambda(c.s, f->body, i)) {
            check_host_name(&c, i);
            continue;
        }
        check_device_name(&c, t);
        if (is(t + 1, "(") && !is_any(t, keywords) && !(is_local(&c, t) && !is(t - 1, ".")))
            check_device_call(&c, t);
    }
}

void check(const source *s)
{
    for (int i = 0; i < functions; i++) {
        const function *f = &the_function[i];
        if (f->marks & GLOBAL)
            check_signature(s, f);
        if (f->body >= 0)
            check_body(s, f);
    }
}
