/* seen.c -- what the instrumentation of a counted unit would not see is made visible, or refused.
 *
 * With -fsanitize=thread GCC reports the loads and stores of its own code. It reports none of a copy of a fixed size
 * that it expands itself; therefore the functions of string.h are calls in a counted unit (worker/moves.c counts them).
 * And it reports none of an intrinsic that takes a pointer. The common ones of these are replaced by loops over their
 * elements, which are reported. What is left after that is found in the compiler's last intermediate form, and the unit
 * is refused; a structure in memory that a call passes by value costs the bars on bytes only (rows/traffic.c). */
#include "build/tools.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The forms of an access: macros, for any type of vector. Their names end in _, unlike those of arguments. */
static const char forms[] =
    "'-DMG_VEC(v)=__typeof__(v) v_=(v);enum{n_=sizeof v_/sizeof v_[0]}'\n"
    "'-DMG_AT(p)=__typeof__(v_[0])*p_=(void*)(p)'\n"
    "'-DMG_LOAD(p,v,m)=({MG_VEC(v);MG_AT(p);unsigned long long m_=(m);"
    "for(int i_=0;i_<n_;i_++)if(m_>>i_&1)v_[i_]=p_[i_];v_;})'\n"
    "'-DMG_STORE(p,v,m)=({MG_VEC(v);MG_AT(p);unsigned long long m_=(m);"
    "for(int i_=0;i_<n_;i_++)if(m_>>i_&1)p_[i_]=v_[i_];})'\n"
    "'-DMG_LOAD_SIGN(p,m)=({__typeof__(*(p)+*(p)) v_={0};__typeof__(v_[0])*p_=(void*)(p);__auto_type m_=(m);"
    "for(int i_=0;i_<(int)(sizeof m_/sizeof m_[0]);i_++)if(m_[i_]<0)v_[i_]=p_[i_];v_;})'\n"
    "'-DMG_STORE_SIGN(p,m,v)=({MG_VEC(v);MG_AT(p);__auto_type m_=(m);"
    "for(int i_=0;i_<n_;i_++)if(m_[i_]<0)p_[i_]=v_[i_];})'\n"
    "'-DMG_STREAM(p,v)=({__typeof__(v) v_=(v);*(__typeof__(v_)*)(p)=v_;})'\n"
    "'-DMG_READ(p)=(*(p))'\n"
    "'-DMG_BYTES(size,p)=({typedef char t_ __attribute__((vector_size(size)));"
    "typedef char u_ __attribute__((vector_size(size),aligned(1),may_alias));(t_)*(const u_*)(p);})'\n"
    "'-DMG_SAME(type,size,p)=({typedef type t_ __attribute__((vector_size(size)));*(p)-(t_){0};})'\n"
    "'-DMG_LOAD_HALF(v,p,first)=({MG_VEC(v);MG_AT(p);for(int i_=0;i_<n_/2;i_++)v_[first*n_/2+i_]=p_[i_];v_;})'\n"
    "'-DMG_STORE_HALF(p,v,first)=({MG_VEC(v);MG_AT(p);for(int i_=0;i_<n_/2;i_++)p_[i_]=v_[first*n_/2+i_];})'\n"
    "'-D__builtin_ia32_lddqu(p)=MG_BYTES(16,p)' '-D__builtin_ia32_lddqu256(p)=MG_BYTES(32,p)'\n"
    "'-D__builtin_ia32_vbroadcastss(p)=MG_SAME(float,16,p)' '-D__builtin_ia32_vbroadcastss256(p)=MG_SAME(float,32,p)'\n"
    "'-D__builtin_ia32_vbroadcastsd256(p)=MG_SAME(double,32,p)'\n"
    "'-D__builtin_ia32_loadlps(v,p)=MG_LOAD_HALF(v,p,0)' '-D__builtin_ia32_loadhps(v,p)=MG_LOAD_HALF(v,p,1)'\n"
    "'-D__builtin_ia32_loadlpd(v,p)=MG_LOAD_HALF(v,p,0)' '-D__builtin_ia32_loadhpd(v,p)=MG_LOAD_HALF(v,p,1)'\n"
    "'-D__builtin_ia32_storelps(p,v)=MG_STORE_HALF(p,v,0)' '-D__builtin_ia32_storehps(p,v)=MG_STORE_HALF(p,v,1)'\n";

/* The functions of GCC with one of these forms: %s is each word of `of` in turn. */
static const struct {
    const char *form, *function, *of;
} functions[] = {
    { "LOAD", "load%s_mask", "ups128 ups256 ups512 upd128 upd256 upd512 aps128 aps256 aps512 apd128 apd256 apd512 " },
    { "LOAD", "loaddqu%s_mask", "si128 si256 si512 di128 di256 di512 hi128 hi256 hi512 qi128 qi256 qi512 " },
    { "LOAD", "movdqa%s_mask", "32load128 32load256 32load512 64load128 64load256 64load512 " },
    { "STORE", "store%s_mask", "ups128 ups256 ups512 upd128 upd256 upd512 aps128 aps256 aps512 apd128 apd256 apd512 " },
    { "STORE", "storedqu%s_mask", "si128 si256 si512 di128 di256 di512 hi128 hi256 hi512 qi128 qi256 qi512 " },
    { "STORE", "movdqa%s_mask", "32store128 32store256 32store512 64store128 64store256 64store512 " },
    { "LOAD_SIGN", "maskload%s", "ps ps256 pd pd256 d d256 q q256 " },
    { "STORE_SIGN", "maskstore%s", "ps ps256 pd pd256 d d256 q q256 " },
    { "STREAM", "movnt%s", "ps ps256 ps512 pd pd256 pd512 dq dq256 dq512 i i64 q " },
    { "READ", "movntdqa%s", " 256 512 " },
};

static const char calls[] =
    "memcpy memmove memset mempcpy memccpy memcmp bcopy bzero bcmp strcpy stpcpy strncpy stpncpy "
    "strcat strncat strdup strndup strlen strnlen strcmp strncmp strcasecmp strncasecmp memchr strchr strrchr strstr "
    "strspn strcspn strpbrk index rindex snprintf vsnprintf sprintf vsprintf ";

static void each_word(FILE *file, const char *words, const char *before, const char *format, const char *behind)
{
    for (const char *w = words; *w; w += strcspn(w, " ") + 1) {
        char word[32], name[64];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(w, " "), w);
        const char *at = strstr(format, "%s");
        snprintf(name, sizeof name, "%.*s%s%s", (int)(at - format), format, word, at + 2);
        fprintf(file, "%s%s%s\n", before, name, behind);
    }
}

mt_status mg_seen_options(const char *object, char option[PATH_MAX])
{
    mg_path(option, "@%s.options", object);
    FILE *file = fopen(option + 1, "we");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", option + 1, strerror(errno));
    fprintf(file, "-fsanitize=thread -U_FORTIFY_SOURCE -fdump-tree-optimized=%s.seen\n%s", object, forms);
    each_word(file, calls, "-fno-builtin-", "%s", "");
    for (int i = 0; i < MT_COUNT(functions); i++) {
        char behind[32];
        snprintf(behind, sizeof behind, "=MG_%s", functions[i].form);
        each_word(file, functions[i].of, "-D__builtin_ia32_", functions[i].function, behind);
    }
    return fclose(file) ? mt_fail(MT_ERR_IO, "%s: %s", option + 1, strerror(errno)) : MT_OK;
}

/* ---- what is left ----------------------------------------------------------------------------------------- */

/* Parts of the names of processor functions that access memory themselves. */
static const char *const unseen[] = { "load",  "store",    "gather",   "scatter", "movnt",          "maskmov",
                                      "lddqu", "mem_mask", "addcarry", "sbb_u",   "vbroadcastf128", "tile",
                                      "xsave", "fxsave",   "movdir",   "rdrand",  "rdseed",         "kl_u8" };

/* Whether an operand of a call is a structure in memory: "*p_1(D)", "MEM[(const struct four *)_2]", "p_1(D)->rest". */
static bool is_in_memory(const char *operand, const char *end)
{
    return *operand == '*' || strncmp(operand, "MEM", 3) == 0 ||
           (*operand != '&' && memmem(operand, (size_t)(end - operand), "->", 2));
}

/* Whether this line is a call, "  *p_1(D) = make (_2);", that passes or returns such a structure: no assignment moves
 * it, and so none is reported. */
static bool passes_structure(char *line)
{
    const char *begin = line + strspn(line, " "), *equal = strstr(begin, " = ");
    for (char *c = strchr(line, '"'); c; c = strchr(c, '"')) /* strings may say anything */
        for (*c++ = ' '; *c && *c != '"'; c++)
            *c = ' ';
    const char *open = strstr(equal ? equal + 3 : begin, " (");
    if (*begin == '#' || strncmp(begin, "if (", 4) == 0 || !open || strchr("=*+-,<>", open[-1]) || !strstr(open, ");"))
        return false;
    if (equal && equal < open && is_in_memory(begin, equal))
        return true;
    for (const char *end, *at = open + 2; *at; at = *end ? end + 2 : end) {
        end = strstr(at, ", ");
        end = end ? end : at + strlen(at);
        if (is_in_memory(at, end))
            return true;
    }
    return false;
}

/* GCC's own forms of functions that move data or look at it, which it may expand, and of loads under a condition. */
static const char *const expanded[] = { "__builtin_mem",    "__builtin_str",   "__builtin_stp",
                                        "__builtin_bc",     "__builtin_bz",    "__builtin_index",
                                        "__builtin_rindex", "__builtin_apply", ".MASK_" };

/* Whether this line of the intermediate form has such a call, which ends up in `name`. */
static bool is_unseen(const char *line, char name[64])
{
    const char *at = strstr(line, "__builtin_ia32_"), *space = strstr(line, "<address-space-");
    snprintf(name, 64, "%s", space ? "an address space of its own" : "");
    if (at) {
        snprintf(name, 64, "%.*s", (int)mt_min(63, (int64_t)strcspn(at, " (")), at);
        for (int i = 0; i < MT_COUNT(unseen); i++)
            if (strstr(name, unseen[i]))
                return true;
        return strstr(name, "_vbroadcasts") && !strstr(name, "_ps") &&
               !strstr(name, "_pd"); /* those are of registers */
    }
    for (int i = 0; i < MT_COUNT(expanded) && !space; i++)
        if ((at = strstr(line, expanded[i]))) {
            snprintf(name, 64, "%.*s", (int)mt_min(63, (int64_t)strcspn(at, " (")), at);
            return true;
        }
    return space;
}

mt_status mg_seen_check(const char *source, const char *object, char *log, size_t size)
{
    char dump[PATH_MAX], line[4096], name[64], function[80] = "";
    bool good = true;
    mg_path(dump, "%s.seen", object);
    FILE *file = mg_is_plain(dump) == MT_OK ? fopen(dump, "re") : NULL;
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", dump, strerror(errno));
    while (good && fgets(line, sizeof line, file)) {
        sscanf(line, ";; Function %79[A-Za-z0-9_.]", function);
        good = !is_unseen(line, name);
    }
    fclose(file);
    if (good)
        return MT_OK;
    snprintf(log, size,
             "%s: %s uses %s, whose accesses to memory the compiler does not report: where __SANITIZE_THREAD__ is "
             "defined, use loops, or mt_load_some, mt_store_some and mt_stream of kernels/vec.h\n",
             source, function, name);
    return mt_fail(MT_ERR_FORMAT, "%s accesses memory unseen", source);
}

bool mg_seen_structures(const mg_build *b, const char *id, char *where, size_t size)
{
    char folder[PATH_MAX], dump[PATH_MAX], line[4096];
    bool found = false;
    mg_path(folder, "%s/obj/counted/%s", b->scratch, id);
    DIR *units = opendir(folder);
    for (struct dirent *e; units && !found && (e = readdir(units));) {
        mg_path(dump, "%s/%s", folder, e->d_name);
        size_t length = strlen(e->d_name);
        bool is_dump = length > 7 && strcmp(e->d_name + length - 7, ".o.seen") == 0 && mg_is_plain(dump) == MT_OK;
        FILE *file = is_dump ? fopen(dump, "re") : NULL;
        snprintf(where, size, "labs/%s/%.*s.c", id, (int)strcspn(e->d_name, "."), e->d_name);
        while (file && !found && fgets(line, sizeof line, file))
            found = passes_structure(line);
        if (file)
            fclose(file);
    }
    if (units)
        closedir(units);
    return found;
}
