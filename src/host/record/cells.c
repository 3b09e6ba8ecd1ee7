/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cells.c - finds the cell in which a call is counted, by its communicator, size and caller.
 *
 * quick.h remembers the cells found here.
 */
#define _GNU_SOURCE
#include "base/hash.h"
#include "host/record/quick.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { BUCKETS = 2 * RECORD_CELLS };

struct record_recent hud_record_recents[RECORD_RECENTS];
static uint16_t buckets[BUCKETS]; /* number of a cell, from 1; 0: empty */
static const void *caller_at[RECORD_CALLERS];

/* ---- communicators ---- */

/* Returns the entry of a communicator, or entry 0 if the table is full or the communicator is
 * invalid. */
static struct record_comm *find_comm(uintptr_t comm)
{
    struct record *r = hud_record;
    struct record_comm made = { .size = 0 };
    int members, index = hud_record_attached(comm), ordinal = 0;

    if (index >= 0)
        return &r->comm[index];
    if (!hud_record_describe(comm, &made, &members))
        return &r->comm[0];
    for (uint32_t i = 1; i < r->comms; i++) {
        struct record_comm *one = &r->comm[i];
        if (one->members != made.members || one->inter != made.inter)
            continue;
        ordinal++;
        if (one->freed && strcmp(one->name, made.name) == 0) {
            one->freed = 0;
            hud_record_attach(comm, (int)i);
            return one;
        }
    }
    if (r->comms == RECORD_COMMS)
        return &r->comm[0];
    made.ordinal = ordinal;
    r->comm[r->comms] = made;
    hud_record_attach(comm, (int)r->comms);
    return &r->comm[r->comms++];
}

void hud_record_freed(int index)
{
    memset(hud_record_recents, 0, sizeof hud_record_recents);
    if (index >= 0 && hud_record)
        hud_record->comm[index].freed = 1;
}

/* ---- sizes ---- */

static uint64_t count_of(bool large, uintptr_t count)
{
    int64_t value = large ? (int64_t)count : (int32_t)count;

    return value > 0 ? (uint64_t)value : 0;
}

static uint64_t count_at(bool large, uintptr_t counts, int index)
{
    return count_of(large, large ? (uintptr_t)((const int64_t *)counts)[index]
                                 : (uintptr_t)(intptr_t)((const int32_t *)counts)[index]);
}

static uint64_t sum_counts(bool large, uintptr_t counts, uintptr_t types, int peers)
{
    uint64_t sum = 0;

    for (int i = 0; i < peers; i++) {
        uint64_t count = count_at(large, counts, i);
        sum +=
            types && count ? count * hud_record_type_bytes(hud_record_handle_at(types, i)) : count;
    }
    return sum;
}

static uint64_t type_bytes(uintptr_t type)
{
    return hud_record_type_bytes(hud_record_handle(type));
}

/* Returns the bytes that this rank sends; of a single block if all ranks have equal blocks. */
static uint64_t bytes_of(const struct record_about *about, const struct record_args *a,
                         const struct record_comm *comm, int peers)
{
    bool large = about->large;
    bool in_place = a->in && hud_record_in_place(a->in);

    if (a->counts)
        return sum_counts(large, a->counts, 0, peers) * type_bytes(a->type);
    if (a->type)
        return count_of(large, a->count) * type_bytes(a->type);
    if (a->in_types || a->out_types)
        return sum_counts(large, in_place ? a->out_counts : a->in_counts,
                          in_place ? a->out_types : a->in_types, peers);
    if (a->in_counts && a->out_counts && !about->from_root)
        return sum_counts(large, in_place ? a->out_counts : a->in_counts, 0, peers) *
               type_bytes(in_place ? a->out_type : a->in_type);
    if (about->from_root && !hud_record_in_place(a->out))
        return count_of(large, a->outs) * type_bytes(a->out_type);
    if (about->from_root && a->in_counts)
        return count_at(large, a->in_counts, comm->rank) * type_bytes(a->in_type);
    if (in_place && a->out_counts)
        return count_at(large, a->out_counts, comm->rank) * type_bytes(a->out_type);
    if (in_place)
        return count_of(large, a->outs) * type_bytes(a->out_type);
    return a->in_type ? count_of(large, a->ins) * type_bytes(a->in_type) : 0;
}

/* Returns whether the sizes are known.  The arrays of a neighbourhood collective have a count per
 * neighbour, and the number of neighbours is not asked. */
static bool has_sizes(const struct record_about *about, const struct record_args *a)
{
    return !(strstr(hud_record->name[about->name], "neighbor_") && (a->in_counts || a->out_counts));
}

static uint8_t class_of(uint64_t bytes)
{
    return (uint8_t)(bytes == 0 ? 0 : 64 - __builtin_clzll(bytes));
}

/* ---- callers and cells ---- */

static uint16_t find_caller(const void *address)
{
    struct record *r = hud_record;
    int (*look_up)(const void *, Dl_info *) =
        (int (*)(const void *, Dl_info *))hud_object_find("dladdr");
    Dl_info info;
    uint32_t i = 0;

    while (i < r->callers && caller_at[i] != address)
        i++;
    if (i < r->callers)
        return (uint16_t)i;
    if (i == RECORD_CALLERS)
        return RECORD_CALLERS - 1;
    struct record_caller *made = &r->caller[i];
    if (look_up && look_up(address, &info) != 0) {
        made->offset = (uint64_t)((const char *)address - (const char *)info.dli_fbase);
        snprintf(made->file, sizeof made->file, "%s", info.dli_fname ? info.dli_fname : "");
        snprintf(made->function, sizeof made->function, "%s", info.dli_sname ? info.dli_sname : "");
    }
    caller_at[i] = address;
    r->callers++;
    return (uint16_t)i;
}

static struct record_cell *find_cell(const struct record_cell *wanted)
{
    struct record *r = hud_record;
    uint64_t hash = HASH_START;

    const uint64_t parts[] = { wanted->comm, wanted->name, wanted->caller, wanted->size_class,
                               wanted->reason };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * HASH_FACTOR;
    for (uint32_t at = (uint32_t)(hash >> 20) % BUCKETS;; at = (at + 1) % BUCKETS) {
        if (buckets[at] == 0) {
            if (r->cells == RECORD_CELLS)
                return NULL;
            struct record_cell *made = &r->cell[r->cells++];
            *made = *wanted;
            made->used = 1;
            buckets[at] = (uint16_t)r->cells;
            return made;
        }
        struct record_cell *cell = &r->cell[buckets[at] - 1];
        if (cell->comm == wanted->comm && cell->name == wanted->name &&
            cell->caller == wanted->caller && cell->size_class == wanted->size_class &&
            cell->reason == wanted->reason)
            return cell;
    }
}

struct record_cell *hud_record_cell_because(struct record_cell *cell, uint8_t reason)
{
    const struct record_cell wanted = { .comm = cell->comm,
                                        .name = cell->name,
                                        .caller = cell->caller,
                                        .size_class = cell->size_class,
                                        .reason = reason };

    return find_cell(&wanted);
}

static struct record_cell *search(const struct record_about *about, const struct record_args *args,
                                  const void *caller, struct record_comm **comm, uint64_t *bytes)
{
    struct record_comm *c = *comm = find_comm(hud_record_handle(args->comm));
    struct record_comm unused;
    int peers = c->size;

    if (c->inter && (args->in_counts || args->out_counts || args->counts) &&
        !hud_record_describe(hud_record_handle(args->comm), &unused, &peers))
        peers = 0;
    *bytes = has_sizes(about, args) ? bytes_of(about, args, c, peers) : 0;
    const struct record_cell wanted = { .comm = (uint16_t)(c - hud_record->comm),
                                        .name = about->name,
                                        .caller = find_caller(caller),
                                        .size_class = class_of(*bytes) };
    return find_cell(&wanted);
}

struct record_cell *hud_record_cell(const struct record_about *about,
                                    const struct record_args *args, const void *caller,
                                    struct record_comm **comm, uint64_t *bytes)
{
    struct record_cell *cell = search(about, args, caller, comm, bytes);
    uintptr_t type = record_type(args);

    if (cell && !hud_record_threads && record_is_simple(about, args) &&
        (!type || hud_record_named(hud_record_handle(type))))
        *record_recent(about, caller) = (struct record_recent){ .caller = caller,
                                                                .comm = args->comm,
                                                                .type = type,
                                                                .count = record_count(args),
                                                                .name = about->name,
                                                                .inside = record_number(cell),
                                                                .cell = cell,
                                                                .at = *comm,
                                                                .bytes = *bytes };
    return cell;
}
