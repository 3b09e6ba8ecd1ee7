/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - a rank's record: its file, the calls counted there, and the clock read around them. */
#define _GNU_SOURCE
#include "host/record/quick.h"

#include "base/launcher_env.h"
#include "base/one_per_node.h"
#include "base/process_atomics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PERIOD_NS = 100000000, FIRST_LOOK = 64, MAX_LEVEL = 4, MAX_STAMP_LEVEL = 40 };
/* Time of reading the clock twice and processing the result, and the inverse of its maximum
 * share. */
enum { CLOCKED_NS = 60, SHARE = 100 };

struct record *hud_record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
bool hud_record_threads, hud_record_steady;
unsigned hud_record_level, hud_record_calls;
uint64_t hud_record_mask;
static const char *record_folder; /* value of HUDDLE_RECORD */
static double ns_per_tick;
static uint64_t next_snapshot, look_ticks; /* ticks */
static unsigned look_calls;

/* Returns libhuddle's statistics.  NULL if libhuddle is not in this process, like core_reason. */
static int (*core_statistics)(uint64_t *values, int max);
static _Atomic(void *) core_reason; /* int *(*)(void) */
_Thread_local __attribute__((tls_model("initial-exec"))) int *hud_record_reason;
static int no_reason; /* used while this process has no core */

/* ---- the file ---- */

static void write_program(struct record *r)
{
    ssize_t bytes = readlink("/proc/self/exe", r->program, sizeof r->program - 1);

    r->program[bytes > 0 ? bytes : 0] = '\0';
}

/* Creates and maps the file.  Returns NULL, with errno set, on failure.  If the folder has no
 * space, an empty file remains. */
static struct record *open_file(const char *folder)
{
    char path[PATH_MAX];
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    if (snprintf(path, sizeof path, "%s/%s.%d", folder, host, (int)getpid()) >= (int)sizeof path)
        return NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    int error = posix_fallocate(fd, 0, sizeof(struct record)); /* posix_fallocate does not set
                                                                  errno */
    if (error == 0) {
        at = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = errno;
    }
    bool full = error == ENOSPC || error == EDQUOT;
    if (at == MAP_FAILED && (!full || ftruncate(fd, 0) != 0))
        unlink(path);
    close(fd);
    errno = error;
    return at != MAP_FAILED ? at : NULL;
}

static void look_at_clocks(uint64_t *ticks, uint64_t *ns)
{
    *ns = clock_ns();
    *ticks = ticks_now(hud_record_steady);
}

static struct record *create(const char *folder)
{
    struct record *r = open_file(folder);

    if (!r)
        return NULL;
    hud_record_steady = ticks_are_steady();
    r->names_max = RECORD_NAMES;
    r->comms_max = RECORD_COMMS;
    r->callers_max = RECORD_CALLERS;
    r->cells_max = RECORD_CELLS;
    r->stamps_max = RECORD_STAMPS;
    r->core_max = RECORD_CORE;
    r->pid = (int32_t)getpid();
    r->comms = 1; /* entry 0 is for communicators without an entry */
    r->launched_size = (int32_t)launched_size();
    hud_record_about_process(r);
    hud_record_threads = r->threads != 0;
    hud_record_write_names(r);
    gethostname(r->host, sizeof r->host - 1);
    write_program(r);
    look_at_clocks(&r->ticks_at_start, &r->ns_at_start);
    r->ticks_at_end = r->ticks_at_start;
    r->ns_at_end = r->ns_at_start;
    r->state = RECORD_RUNNING;
    memcpy(r->magic, "hudrec03", sizeof r->magic);
    return r;
}

/* ---- huddle's core ---- */

static void find_core(void)
{
    struct object core;

    if (local_get(&core_reason) || !hud_object_named("libhuddle.so.0", &core))
        return;
    core_statistics = (int (*)(uint64_t *, int))hud_object_address(&core, "hud_statistics_here");
    local_set(&core_reason, hud_object_address(&core, "hud_reason_here"));
}

static void snapshot(void)
{
    struct record *r = hud_record;

    find_core();
    if (core_statistics)
        r->core = (uint32_t)core_statistics(r->core_value, RECORD_CORE);
    look_at_clocks(&r->ticks_at_end, &r->ns_at_end);
    uint64_t ns = r->ns_at_end - r->ns_at_start;
    if (ns > 1000000)
        ns_per_tick = (double)ns / (double)(r->ticks_at_end - r->ticks_at_start);
    next_snapshot =
        r->ticks_at_end + (uint64_t)(ns_per_tick > 0 ? PERIOD_NS / ns_per_tick : PERIOD_NS / 100.0);
}

/* Returns why huddle did not handle this thread's last call, or 0 if unknown, and resets the
 * reason. */
static uint8_t take_reason(void)
{
    int *(*find)(void) = (int *(*)(void))local_get(&core_reason);

    if (__builtin_expect(!hud_record_reason || hud_record_reason == &no_reason, 0))
        hud_record_reason = find ? find() : &no_reason;
    int reason = *hud_record_reason;
    if (reason != 0)
        *hud_record_reason = 0;
    return (uint8_t)reason;
}

/* ---- begin and end ---- */

/* Prints why this rank has no file, or nothing if another rank of the node has printed a line. */
static void report_failure(int why)
{
    if (launched_rank() < 0 || one_per_node("task"))
        fprintf(stderr,
                "huddle: HUDDLE_RECORD=%s: cannot create a file in this folder: %s; calls of ranks "
                "without a file are not recorded\n",
                record_folder, strerror(why));
}

/* Starts recording, after MPI_Init has returned. */
static void start(void)
{
    pthread_mutex_lock(&lock);
    hud_record = create(record_folder);
    if (hud_record)
        snapshot();
    else
        report_failure(errno);
    pthread_mutex_unlock(&lock);
}

hud_record_entry huddle_record_attach __attribute__((visibility("default")));

const char *huddle_record_attach(const struct object *mpi, const struct hud_front **front)
{
    static const struct hud_front ours = { .wrappers = { hud_record_wrappers },
                                           .initialised = start };

    record_folder = getenv("HUDDLE_RECORD");
    if (!record_folder || !hud_record_find_mpi(mpi))
        return "its handles are not known";
    *front = &ours;
    return NULL;
}

void hud_record_finish(void)
{
    pthread_mutex_lock(&lock);
    if (hud_record) {
        snapshot();
        hud_record->state = RECORD_FINALIZED;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- calls ---- */

void hud_record_enter(struct record_visit *v, const struct record_about *about,
                      const struct record_args *args, const void *caller)
{
    v->cell = NULL;
    if (__builtin_expect(!hud_record, 0))
        return;
    local_lock(&lock, hud_record_threads);
    v->cell = hud_record_cell(about, args, caller, &v->comm, &v->bytes);
    if (v->cell)
        record_begin(v, about, args);
    else
        hud_record->lost++;
    local_unlock(&lock, hud_record_threads);
    if (v->cell && v->enter)
        v->enter = ticks_now(hud_record_steady);
}

static uint64_t chosen_by(unsigned level)
{
    return ((uint64_t)1 << level) - 1;
}

/* Drops the stamps that the next level would not choose, about half, to make space. */
static void thin(struct record *r)
{
    uint32_t kept = 0;

    r->stamp_level++;
    for (uint32_t i = 0; i < r->stamps; i++)
        if (record_chosen(r->stamp[i].number, chosen_by(r->stamp_level)))
            r->stamp[kept++] = r->stamp[i];
    r->stamps = kept;
}

static void stamp(const struct record_visit *v, uint64_t ticks)
{
    struct record *r = hud_record;

    while (r->stamps == RECORD_STAMPS && r->stamp_level < MAX_STAMP_LEVEL)
        thin(r);
    if (r->stamps == RECORD_STAMPS || !record_chosen(v->number, chosen_by(r->stamp_level)))
        return;
    r->stamp[r->stamps++] = (struct record_stamp){ .number = v->number,
                                                   .cell = (uint32_t)(v->cell - r->cell),
                                                   .root = v->root,
                                                   .enter = v->enter,
                                                   .ticks = ticks };
}

/* Adjusts the level so that reading the clock takes at most 1/SHARE of the time between calls. */
static void adjust(uint64_t now)
{
    if (++look_calls < FIRST_LOOK)
        return;
    if (look_ticks != 0 && ns_per_tick > 0) {
        double period = (double)(now - look_ticks) * ns_per_tick / hud_record_calls;
        unsigned wanted = 0;
        while (wanted < MAX_LEVEL && CLOCKED_NS * SHARE > period * (1 << wanted))
            wanted++;
        hud_record_level = wanted;
        hud_record_mask = chosen_by(wanted);
    }
    look_ticks = now;
    look_calls = hud_record_calls = 0;
}

/* Ends a call whose clock was read. */
static void exit_timed(struct record_visit *v, struct record_cell *cell, uint64_t now)
{
    uint64_t ticks = now - v->enter;

    cell->timed++;
    cell->represents += (uint64_t)1 << v->level;
    cell->ticks += ticks << v->level;
    cell->max_ticks = ticks > cell->max_ticks ? ticks : cell->max_ticks;
    if (v->number != 0)
        stamp(v, ticks);
    adjust(now);
    if (__builtin_expect(now >= next_snapshot, 0))
        snapshot();
}

void hud_record_exit(struct record_visit *v)
{
    uint64_t now = v->enter ? ticks_now(hud_record_steady) : 0;

    local_lock(&lock, hud_record_threads);
    struct record_cell *cell = v->cell;
    uint8_t reason = take_reason();
    if (__builtin_expect(reason != 0, 0)) {
        struct record_cell *other = hud_record_cell_because(cell, reason);
        cell = other ? other : cell;
    }
    cell->calls++;
    cell->bytes += v->bytes;
    if (now)
        exit_timed(v, cell, now);
    hud_record->inside = 0;
    local_unlock(&lock, hud_record_threads);
}

/* Ends a call that was only counted and not handled by huddle. */
void hud_record_exit_other(struct record_cell *cell, uint64_t bytes)
{
    struct record_visit v = { .cell = cell, .bytes = bytes };

    hud_record_exit(&v);
}
