/* machine.c -- see machine.h.
 *
 * Code is compared as a set of its pieces, all runs of MG_PIECE bytes with zeros for what a relocation fills in. So it
 * is found at any place and in any section that is loaded, without a disassembler. Of a function of the reference those
 * pieces count that the skeleton's objects have not. */
#include "build/machine.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mg_machine_levels[] = { "unit", "native", "x86-64-v3", "x86-64-v4", NULL };

enum { MOST_BYTES = 64 << 20 };

/* ---- pieces ----------------------------------------------------------------------------------------- */

typedef struct pieces {
    uint64_t *slot;
    size_t slots, count;
} pieces;

static uint64_t piece_at(const unsigned char *bytes)
{
    uint64_t a, b;
    memcpy(&a, bytes, 8);
    memcpy(&b, bytes + 8, 8);
    a = (a ^ (b << 23 | b >> 41)) * 0x9e3779b97f4a7c15u;
    a = (a ^ a >> 29 ^ b) * 0xbf58476d1ce4e5b9u;
    return (a ^ a >> 32) | 1; /* 0: a free slot */
}

static uint64_t *slot_of(const pieces *p, uint64_t piece)
{
    size_t i = (size_t)piece & (p->slots - 1);
    while (p->slot[i] && p->slot[i] != piece)
        i = (i + 1) & (p->slots - 1);
    return &p->slot[i];
}

static bool has(const pieces *p, uint64_t piece)
{
    return p->slots && *slot_of(p, piece) == piece;
}

static void add(pieces *p, uint64_t piece)
{
    if (2 * (p->count + 1) > p->slots) {
        pieces more = { .slots = p->slots ? 2 * p->slots : 1 << 14 };
        more.slot = calloc(more.slots, sizeof *more.slot);
        MT_CHECK(more.slot, "out of memory");
        for (size_t i = 0; i < p->slots; i++)
            if (p->slot[i])
                *slot_of(&more, p->slot[i]) = p->slot[i], more.count++;
        free(p->slot);
        *p = more;
    }
    uint64_t *slot = slot_of(p, piece);
    p->count += *slot == 0;
    *slot = piece;
}

/* ---- objects ---------------------------------------------------------------------------------------- */

typedef struct object {
    unsigned char *bytes; /* relocated fields are zeros */
    size_t count;
    Elf64_Shdr *section; /* a copy: relocations may be anywhere */
    int sections;
} object;

static bool inside(const object *o, uint64_t offset, uint64_t count)
{
    return offset <= o->count && count <= o->count - offset;
}

static const Elf64_Shdr *section(const object *o, uint64_t i)
{
    return i < (uint64_t)o->sections && o->section[i].sh_type != SHT_NOBITS &&
                   inside(o, o->section[i].sh_offset, o->section[i].sh_size)
               ? &o->section[i]
               : NULL;
}

static void clear_relocations(object *o, const Elf64_Shdr *list)
{
    const Elf64_Shdr *of = section(o, list->sh_info);
    for (uint64_t at = 0; of && at + sizeof(Elf64_Rela) <= list->sh_size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, o->bytes + list->sh_offset + at, sizeof r);
        uint64_t width = ELF64_R_TYPE(r.r_info) == R_X86_64_64 ? 8 : 4;
        if (r.r_offset <= of->sh_size && width <= of->sh_size - r.r_offset)
            memset(o->bytes + of->sh_offset + r.r_offset, 0, width);
    }
}

static bool open_object(object *o, const char *path)
{
    *o = (object){ 0 };
    FILE *file = fopen(path, "re");
    o->bytes = file ? malloc(MOST_BYTES) : NULL;
    o->count = o->bytes ? fread(o->bytes, 1, MOST_BYTES, file) : 0;
    if (file)
        fclose(file);
    Elf64_Ehdr head;
    if (o->count < sizeof head)
        return false;
    memcpy(&head, o->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof(Elf64_Shdr) || !inside(o, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    o->section = malloc(head.e_shnum * sizeof(Elf64_Shdr) + 1);
    MT_CHECK(o->section, "out of memory");
    memcpy(o->section, o->bytes + head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr));
    o->sections = head.e_shnum;
    for (int i = 0; i < o->sections; i++)
        if (o->section[i].sh_type == SHT_RELA && section(o, (uint64_t)i))
            clear_relocations(o, &o->section[i]);
    return true;
}

static void close_object(object *o)
{
    free(o->section);
    free(o->bytes);
}

/* Pieces of what an object loads: code, and data that may be code; of an untrusted one those that are `wanted` only. */
static void add_object(pieces *p, const pieces *wanted, const char *path)
{
    object o;
    bool good = open_object(&o, path);
    for (int i = 0; good && i < o.sections; i++) {
        const Elf64_Shdr *s = section(&o, (uint64_t)i);
        if (s && s->sh_flags & SHF_ALLOC && s->sh_type == SHT_PROGBITS)
            for (uint64_t at = 0; at + MG_PIECE <= s->sh_size; at++) {
                uint64_t piece = piece_at(o.bytes + s->sh_offset + at);
                if (!wanted || has(wanted, piece))
                    add(p, piece);
            }
    }
    close_object(&o);
}

static void add_folder(pieces *p, const pieces *wanted, const char *folder)
{
    char path[PATH_MAX];
    DIR *list = opendir(folder);
    for (struct dirent *e; list && (e = readdir(list));)
        if (strlen(e->d_name) > 2 && strcmp(e->d_name + strlen(e->d_name) - 2, ".o") == 0) {
            mg_path(path, "%s/%s", folder, e->d_name);
            add_object(p, wanted, path);
        }
    if (list)
        closedir(list);
}

/* ---- functions of the reference --------------------------------------------------------------------- */

typedef struct comparison {
    pieces given, ours;
    mg_machine_fn *each;
    void *arg;
} comparison;

static void compare_function(const comparison *c, mg_machine *m, const unsigned char *code, uint64_t count)
{
    m->pieces = m->found = 0;
    for (uint64_t at = 0; at + MG_PIECE <= count; at++) {
        uint64_t piece = piece_at(code + at);
        bool own = !has(&c->given, piece);
        m->pieces += own;
        m->found += own && has(&c->ours, piece);
    }
    if (m->pieces >= MG_LEAST)
        c->each(m, c->arg);
}

/* The functions that one table of symbols has. */
static void compare_table(const comparison *c, mg_machine *m, const object *o, const Elf64_Shdr *table)
{
    const Elf64_Shdr *names = section(o, table->sh_link);
    for (uint64_t at = 0; names && at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, o->bytes + table->sh_offset + at, sizeof symbol);
        const Elf64_Shdr *code = section(o, symbol.st_shndx);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !code || symbol.st_value > code->sh_size ||
            symbol.st_size > code->sh_size - symbol.st_value || symbol.st_name >= names->sh_size)
            continue;
        snprintf(m->name, sizeof m->name, "%.*s", (int)mt_min((int64_t)(names->sh_size - symbol.st_name), 127),
                 (const char *)o->bytes + names->sh_offset + symbol.st_name);
        compare_function(c, m, o->bytes + code->sh_offset + symbol.st_value, symbol.st_size);
    }
}

static void compare_object(const comparison *c, mg_machine *m, const char *path)
{
    object o;
    bool good = open_object(&o, path);
    for (int i = 0; good && i < o.sections; i++)
        if (o.section[i].sh_type == SHT_SYMTAB && section(&o, (uint64_t)i))
            compare_table(c, m, &o, &o.section[i]);
    close_object(&o);
}

static void compare_level(const mg_labinfo *info, const char *folder, const char *level, const char *objects,
                          comparison *c)
{
    char path[PATH_MAX], reference[PATH_MAX];
    pieces wanted = { 0 };
    mg_path(path, "%s/%s/given/%s", folder, level, info->id);
    mg_path(reference, "%s/%s/reference/%s", folder, level, info->id);
    add_folder(&c->given, NULL, path);
    add_folder(&wanted, NULL, reference);
    add_folder(&c->ours, &wanted, objects);
    for (int i = 0; c->given.slots && i < info->units; i++) {
        mg_machine m = { .level = level };
        snprintf(m.unit, sizeof m.unit, "%s", info->unit[i]);
        mg_path(path, "%s/%.*s.o", reference, (int)strcspn(m.unit, "."), m.unit);
        compare_object(c, &m, path);
    }
    free(wanted.slot);
    free(c->given.slot);
    free(c->ours.slot);
}

void mg_machine_compare(const char *folder, const mg_labinfo *info, const char *objects, mg_machine_fn *each, void *arg)
{
    for (int l = 0; mg_machine_levels[l]; l++) {
        comparison c = { .each = each, .arg = arg };
        compare_level(info, folder, mg_machine_levels[l], objects, &c);
    }
}

/* ---- words ------------------------------------------------------------------------------------------ */

typedef struct count {
    const char *level;
    int same, all, most, of; /* functions of this level; of the one where most are identical */
} count;

static void count_one(const mg_machine *m, void *arg)
{
    count *c = arg;
    if (c->level != m->level)
        c->same = c->all = 0;
    c->level = m->level;
    c->all++;
    if (100 * m->found >= MG_IDENTICAL * m->pieces && ++c->same > c->most)
        c->most = c->same;
    if (c->same > 0 && c->same == c->most)
        c->of = c->all;
}

void mg_machine_words(const char *folder, const mg_labinfo *info, const char *objects, char *words, size_t size)
{
    count c = { 0 };
    words[0] = 0;
    mg_machine_compare(folder, info, objects, count_one, &c);
    if (c.most >= MG_LEAST_SAME && 100 * c.most >= MG_SHARE_SAME * c.of)
        snprintf(words, size, "identical machine code to the reference in %d of %d functions: look", c.most, c.of);
}
