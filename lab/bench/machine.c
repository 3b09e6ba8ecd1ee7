/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.c - the program bench-machine: describes this machine by micro-measurements, as JSON, for
 * `huddle lab machine`.
 *
 * {"name": ..., "cores": 2,
 *  "unmeasured": [{"table": "copy", "key": ..., "note": why}, ...],
 *  "words": [{"table": "caches", "key": "shared_fill", "value": "read", "note": ...}, ...],
 *  "topology": "pack:1 ...", "xml": null, "shared_level": "machine",
 *  "numbers": [{"table": "lines", "key": "transfer_ns.machine", "value": 45.1, "note": "measured:
 *  ..."}, ...]}
 *
 * Only processors that this process may use are measured and described, the first of each core.  A
 * machine that is not symmetric is described by XML.  Exit status: 0, or 1 if not measured (a line
 * gives the reason).
 */
#include "machine.h"
#include "pinned.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- topology ---- */

/* Keeps the first processor of each core that this process may use.  Returns 0, or -1. */
static int load_topology(hwloc_topology_t *topology)
{
    static const hwloc_obj_type_t kept[] = { HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L2CACHE, HWLOC_OBJ_CORE };
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    int failed = !usable || hwloc_topology_init(topology);

    failed = failed || hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (size_t i = 0; !failed && i < sizeof kept / sizeof *kept; i++)
        failed = hwloc_topology_set_type_filter(*topology, kept[i], HWLOC_TYPE_FILTER_KEEP_ALL);
    failed = failed || hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_GROUP,
                                                      HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    failed = failed || hwloc_topology_load(*topology);
    failed = failed || hwloc_get_cpubind(*topology, usable, HWLOC_CPUBIND_PROCESS) ||
             hwloc_bitmap_singlify_per_core(*topology, usable, 0) ||
             hwloc_topology_restrict(*topology, usable, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
    hwloc_bitmap_free(usable);
    return failed ? -1 : 0;
}

/* Returns the size of a cache of this type, or 0 if there is none. */
static size_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, type, NULL);

    return cache ? (size_t)cache->attr->cache.size : 0;
}

/* Describes the machine by hwloc's synthetic string if it is symmetric, otherwise by XML in *xml
 * (in hwloc's memory). */
static int describe(hwloc_topology_t topology, char *text, size_t bytes, char **xml)
{
    int length;

    *xml = NULL;
    if (hwloc_topology_export_synthetic(topology, text, bytes, 0) >= 0)
        return 0;
    return hwloc_topology_export_xmlbuffer(topology, xml, &length, 0);
}

/* ---- measured values ---- */

/* The number of values of a row: one, or one per class of lab/sim/machine.c. */
enum over { ONCE, ADDED_ONCE, CLASSES, ADDED, CACHES, NODES, HOMES, STREAMS };

/* A number that cannot be measured is assumed to be `part` of the number `of`, or `part` itself if
 * `of` is NULL.  `why` explains the assumption; without it the number is omitted, and listed. */
static const struct row {
    const char *table, *key;
    enum over over;
    measure_fn *measure;
    double part;
    const char *of, *why;
} rows[] = {
    { "lines", "hit_ns", ONCE, measure_hit, 1, NULL, "a few cycles" },
    { "lines", "post_ns", ONCE, measure_post, 1, NULL, "a few cycles" },
    { "lines", "add_ns", ONCE, measure_add, 8, NULL, "twenty cycles" },
    { "lines", "transfer_ns", CLASSES, measure_transfer, 100, NULL, "no threads could be had" },
    { "lines", "fetch_add_ns", CLASSES, measure_fetch_add, 1, "transfer_ns", "as the transfer" },
    { "lines", "hop_ns", CLASSES, measure_hop, 1, "transfer_ns", "as the transfer" },
    { "lines", "revoke_ns", ADDED, measure_revoke, 1, "transfer_ns", "as long as the transfer" },
    { "lines", "gap_ns", CLASSES, measure_gap, 0.5, "transfer_ns", "half of the transfer" },
    { "lines", "scan_gap_ns", CLASSES, measure_scan_gap, 1, "gap_ns", "as of one owner" },
    { "lines", "store_gap_ns", CLASSES, measure_store_gap, 1, "gap_ns", "as long as a read" },
    { "lines", "revoke_each_ns", ADDED_ONCE, measure_revoke_each, 0, NULL, NULL },
    { "lines", "serve_ns", CLASSES, measure_serve, 1 / 6.0, "transfer_ns",
      "a sixth of the transfer" },
    { "lines", "home_ns", HOMES, measure_home, 0, NULL, "nothing" },
    { "lines", "home_busy_ns", ONCE, measure_home_busy, 0, NULL, NULL },
    { "links", "socket_gbps", ONCE, measure_socket, 20, NULL, "a link" },
    { "copy", "cached_gbps", CACHES, measure_cached, 5, NULL, "no threads could be had" },
    { "copy", "nearest_gbps", CACHES, measure_nearest, 1, "cached_gbps",
      "as from the private cache" },
    { "copy", "retake_gbps", CLASSES, measure_retake, 0, NULL, NULL },
    { "copy", "return_gbps", CLASSES, measure_return, 0, NULL, NULL },
    { "copy", "memory_gbps", NODES, measure_memory, 5, NULL, "no threads could be had" },
    { "copy", "shared_gbps", ONCE, measure_from_shared, 0.5, "cached_gbps.own",
      "half of what a core copies in its own cache" },
    { "copy", "nontemporal_gbps", ONCE, measure_nontemporal, 0, NULL, NULL },
    { "copy", "kernel_gbps", ONCE, measure_kernel, 0.5, "cached_gbps.own",
      "half of what a core copies in its own cache" },
    { "copy", "kernel_call_ns", ONCE, measure_call, 500, NULL,
      "a system call that finds another process and pins its pages" },
    { "copy", "kernel_other_ns", ADDED_ONCE, measure_other, 0, NULL, NULL },
    { "copy", "kernel_process_gbps", ONCE, measure_process, 0, NULL, NULL },
    { "memory", "latency_ns", NODES, measure_latency, 100, NULL, "no threads could be had" },
    { "memory", "node_gbps", ONCE, measure_node, 10, NULL, "no threads could be had" },
    { "memory", "streams_gbps", STREAMS, measure_streams, 0, NULL, NULL },
    { "caches", "shared_gbps", ONCE, measure_shared, 2, "cached_gbps.own",
      "twice what a core copies in its own cache" },
    { "reduce", "core_gbps", ONCE, measure_reduce, 2, "cached_gbps.own",
      "twice what a core copies in its own cache" },
    { "call", "enter_ns", ADDED_ONCE, measure_enter, 0, NULL, NULL },
    { "call", "data_ns", ADDED_ONCE, measure_data, 0, NULL, NULL },
    { "call", "reduce_ns", ADDED_ONCE, measure_reducing, 0, NULL, NULL },
    { "call", "clock_ns", ONCE, measure_clock, 0, NULL, NULL },
};

/* Words, if they can be measured; otherwise they are omitted, and listed. */
static const struct {
    const char *table, *key;
    measure_word_fn *measure;
} words[] = {
    { "lines", "share", measure_share },
    { "caches", "shared_fill", measure_fill },
    { "caches", "dirty_share", measure_dirty },
};

/* Returns whether the row has a number for the class. *name: the class's key in the row's table; ""
 * for a row of one number. */
static bool has_class(const struct sim_machine *m, enum over over, int class, const char **name)
{
    int numa = hud_topo_level_of(m->topo, "numa"), lowest_away = numa < 0 ? m->classes : numa + 2;

    *name = over == ONCE || over == ADDED_ONCE      ? ""
            : over == NODES && class == MACHINE_OWN ? "local"
                                                    : hud_machine_class_name(m, class);
    return over == ONCE || over == ADDED_ONCE ? class == MACHINE_OWN
           : over == CLASSES || over == ADDED ? class != MACHINE_OWN
           : over == CACHES                   ? true
           : over == NODES                    ? class == MACHINE_OWN || class >= lowest_away
                                              : class >= lowest_away;
}

/* Returns the value of a number that is already in the list. */
static double number_of(const json_t *numbers, const char *key)
{
    json_t *number;
    size_t i;

    json_array_foreach((json_t *)(uintptr_t)numbers, i, number)
    {
        if (strcmp(json_string_value(json_object_get(number, "key")), key) == 0)
            return json_number_value(json_object_get(number, "value"));
    }
    return 1;
}

static void add(json_t *numbers, const char *table, const char *key, double value, const char *note)
{
    json_array_append_new(numbers, json_pack("{s:s, s:s, s:f, s:s}", "table", table, "key", key,
                                             "value", value, "note", note));
}

/* Returns the value to assume if it cannot be measured. */
static double assume(const struct row *row, const char *class, const json_t *numbers,
                     char note[MACHINE_NOTE])
{
    char key[64], why[MACHINE_NOTE];

    snprintf(why, sizeof why, "%s",
             strncmp(note, "measured", 8) == 0 ? "" : note); /* the measurement has failed */
    snprintf(note, MACHINE_NOTE, "assumed: %s%s%.80s", row->why, why[0] ? ", since " : "", why);
    snprintf(key, sizeof key, "%s%s%s", row->of ? row->of : "", class[0] ? "." : "", class);
    return row->part * (row->of ? number_of(numbers, strchr(row->of, '.') ? row->of : key) : 1);
}

/* Returns whether a number may be zero, because it is added to another number. */
static bool may_be_none(enum over over)
{
    return over == HOMES || over == ADDED || over == ADDED_ONCE;
}

static void miss(json_t *unmeasured, const char *table, const char *key, const char *note)
{
    json_array_append_new(unmeasured,
                          json_pack("{s:s, s:s, s:s}", "table", table, "key", key, "note", note));
}

/* Measures or assumes a number of a row. */
static void measure_one(const struct measured *on, const struct row *row, int class,
                        const char *name, json_t *numbers, json_t *unmeasured)
{
    char note[MACHINE_NOTE] = "", key[64];
    double value = row->measure(on, class, note);
    bool none = value < 0 || (value <= 0 && !may_be_none(row->over));

    if (none && !row->why) {
        miss(unmeasured, row->table, row->key, note);
        return;
    }
    if (none)
        value = assume(row, name, numbers, note);
    snprintf(key, sizeof key, "%s%s%s", row->key, name[0] ? "." : "", name);
    add(numbers, row->table, key, value, note);
}

static void measure_classes(const struct measured *on, const struct row *row, json_t *numbers,
                            json_t *unmeasured)
{
    const char *class;

    for (int c = 0; c < on->m->classes; c++)
        if (has_class(on->m, row->over, c, &class) &&
            (strcmp(row->key, "socket_gbps") != 0 || on->m->sockets > 1))
            measure_one(on, row, c, class, numbers, unmeasured);
}

/* Measures a row for 2, 3, 4, 6, 8, 12 ... cores of a node, but not for all of them. */
static void measure_numbers(const struct measured *on, const struct row *row, json_t *numbers,
                            json_t *unmeasured)
{
    int cores = 0;
    char name[16];

    for (int c = 0; c < on->m->cores; c++)
        cores += on->m->node[c] == on->m->node[0];
    if (cores <= 2)
        miss(unmeasured, row->table, row->key, "between one core and all of a node there is none");
    for (int low = 2; low < cores && low <= MACHINE_STREAMS; low *= 2)
        for (int n = low; n < 2 * low && n < cores && n <= MACHINE_STREAMS; n += low / 2) {
            snprintf(name, sizeof name, "%d", n);
            measure_one(on, row, n, name, numbers, unmeasured);
        }
}

static const char MEASURED[] = "measured: "; /* head of a note about a measured row */

static void measure_words(const struct measured *on, json_t *found, json_t *unmeasured)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char note[MACHINE_NOTE] = "";
        const char *word = words[i].measure(on, note);
        if (word)
            json_array_append_new(found,
                                  json_pack("{s:s, s:s, s:s, s:s}", "table", words[i].table, "key",
                                            words[i].key, "value", word, "note", note));
        else
            miss(unmeasured, words[i].table, words[i].key,
                 note + (strncmp(note, MEASURED, strlen(MEASURED)) == 0 ? strlen(MEASURED) : 0));
    }
}

/* ---- the description ---- */

/* Adds the sizes of caches, from hwloc and the system. */
static void find_caches(hwloc_topology_t topology, struct measured *on, json_t *numbers)
{
    long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE), first = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    size_t l2 = cache_bytes(topology, HWLOC_OBJ_L2CACHE),
           l3 = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
    bool l2_private =
        l2 != 0 && hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L2CACHE) == on->m->cores;

    on->nearest_bytes = l2_private && first > 0 ? (size_t)first : 0;
    on->private_bytes = l2_private ? l2 : first > 0 ? (size_t)first : 32 << 10;
    on->shared_bytes = l3 != 0 ? l3 : l2 != 0 ? l2 : on->private_bytes;
    on->m->caches.shared_level = hud_topo_level_of(on->m->topo, l3 != 0 ? "l3" : "l2");
    add(numbers, "lines", "size_bytes", line > 0 ? (double)line : 64,
        line > 0 ? "the system's" : "assumed: the usual");
    if (on->nearest_bytes != 0)
        add(numbers, "caches", "nearest_bytes", (double)on->nearest_bytes, "the system's, L1");
    add(numbers, "caches", "private_bytes", (double)on->private_bytes,
        l2_private  ? "hwloc's, L2"
        : first > 0 ? "the system's, L1"
                    : "assumed");
    add(numbers, "caches", "shared_bytes", (double)on->shared_bytes,
        l3 != 0 ? "hwloc's, L3: the size that the system reports; a virtual machine may have less "
                  "of it"
        : l2 != 0 ? "hwloc's, L2"
                  : "assumed: the same as the private cache");
}

static json_t *measure_all(hwloc_topology_t topology, struct measured *on)
{
    int level;
    json_t *numbers = json_array(), *found = json_array(), *unmeasured = json_array();

    find_caches(topology, on, numbers);
    level = on->m->caches.shared_level;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        (rows[i].over == STREAMS ? measure_numbers : measure_classes)(on, &rows[i], numbers,
                                                                      unmeasured);
    measure_words(on, found, unmeasured);
    return json_pack("{s:s, s:o, s:o, s:o}", "shared_level",
                     level < 0 ? "machine" : hud_topo_level_name(on->m->topo, level), "numbers",
                     numbers, "words", found, "unmeasured", unmeasured);
}

/* Reads the positions of the machine's cores.  hud_machine_place reads XML from a file, so XML is
 * written to a temporary file. */
static struct sim_machine *place(const char *synthetic, const char *xml, char *error,
                                 size_t error_bytes)
{
    char path[] = "/tmp/huddle-machine-XXXXXX.xml";
    int file = xml ? mkstemps(path, 4) : -1;
    struct sim_machine *m = NULL;

    if (!xml)
        return hud_machine_place(synthetic, error, error_bytes);
    if (file >= 0 && write(file, xml, strlen(xml)) == (ssize_t)strlen(xml))
        m = hud_machine_place(path, error, error_bytes);
    else
        snprintf(error, error_bytes, "%s: cannot be written", path);
    if (file >= 0) {
        close(file);
        unlink(path);
    }
    return m;
}

static int fail(const char *why)
{
    fprintf(stderr, "huddle: tune: this machine cannot be described: %s\n", why);
    return 1;
}

int main(void)
{
    hwloc_topology_t topology;
    char synthetic[1024], error[256] = "", name[128] = "", *xml;

    if (load_topology(&topology) != 0 || describe(topology, synthetic, sizeof synthetic, &xml) != 0)
        return fail("hwloc does not report where its cores are");
    struct measured on = { .m = place(synthetic, xml, error, sizeof error) };
    if (!on.m || on.m->cores < 2)
        return fail(on.m ? "it has only one core" : error);
    on.os = on.m->cpu; /* both kinds of description use the system's numbers of processors */
    json_t *all = measure_all(topology, &on);
    if (!all)
        return fail("out of memory");
    hud_topo_cpu_name(name, sizeof name);
    json_object_set_new(all, "name", json_string(name[0] ? name : "this machine"));
    json_object_set_new(all, "cores", json_integer(on.m->cores));
    json_object_set_new(all, "topology", json_string(synthetic));
    json_object_set_new(all, "xml", xml ? json_string(xml) : json_null());
    json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(all);
    if (xml)
        hwloc_free_xmlbuffer(topology, xml);
    hud_machine_free(on.m);
    hwloc_topology_destroy(topology);
    return 0;
}
