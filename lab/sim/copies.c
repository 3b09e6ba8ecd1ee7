/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - divides calls on bytes into legs, and runs legs as flows. */
#include "lab/sim/copies.h"
#include "check/grow.h"
#include "lab/sim/rates.h"

#include <math.h>
#include <string.h>

enum stage { IDLE, STARTS, MOVES, FOLLOWS, ARRIVES };

static const double MAX_GBPS = 1e9; /* rate of a leg without cost */

/* The call in progress of a core. */
struct job {
    struct copies_call call;
    size_t done, leg_bytes;
    enum stage stage;
    /* The leg brings this source into the shared cache of the core's unit. */
    bool fills[MEM_SOURCES];
    bool found[MEM_SOURCES]; /* the leg has found this source there, perhaps still on its way */
    uint64_t leg;            /* number of the leg among all legs */
    /* The core for which this core waits, because that core's leg still brings bytes that this leg
     * has found. */
    int awaited;
    int followers; /* cores that wait for the end of this leg */
};

struct sim_copies {
    const struct sim_machine *machine;
    struct sim_rates *rates;
    struct sim_caches *caches;
    struct sim_bandwidth *bandwidth;
    struct job *jobs; /* [cores] */
    size_t leg_max;
    double *given_up;      /* [nodes] bytes evicted by the leg that begins */
    struct flow_path path; /* path of the leg that begins */
    uint64_t legs;         /* legs begun so far */
};

/* ---- a leg ---- */

struct leg {
    size_t bytes;
    struct caches_place from[MEM_SOURCES], to[COPIES_TO];
};

/* Returns a leg whose operands are all in the core's nearest cache. */
static struct leg leg_at_hand(int core)
{
    struct leg leg = { 0 };

    for (int i = 0; i < MEM_SOURCES; i++)
        leg.from[i] = (struct caches_place){ CACHES_OWN, core, true, 0 };
    for (int i = 0; i < COPIES_TO; i++)
        leg.to[i] = (struct caches_place){ CACHES_OWN, core, true, 0 };
    return leg;
}

/* Returns the next leg of a call: the bytes of which each operand is in one place. */
static struct leg find_leg(const struct sim_copies *c, int core, const struct job *job)
{
    const struct copies_call *call = &job->call;
    struct leg leg = leg_at_hand(core);

    leg.bytes = call->bytes - job->done < c->leg_max ? call->bytes - job->done : c->leg_max;
    for (int i = 0; i < call->froms + call->tos; i++) {
        bool write = i >= call->froms;
        uintptr_t at = write ? call->to[i - call->froms] : call->from[i];
        struct caches_place *place = write ? &leg.to[i - call->froms] : &leg.from[i];
        if (at != 0)
            leg.bytes = hud_caches_find(c->caches, core, at + job->done, leg.bytes, write, place);
        if (at != 0 && write && call->kind == COPIES_NONTEMPORAL)
            *place = (struct caches_place){ CACHES_NODE, hud_caches_node(c->caches, at + job->done),
                                            false, 0 };
    }
    for (int i = 0; i < call->froms; i++)
        for (int t = 0; t < call->tos; t++)
            if (call->from[i] == call->to[t])
                leg.from[i] = leg_at_hand(core).from[i]; /* fetched once, for the write */
    return leg;
}

static bool combines(const struct copies_call *call)
{
    return call->kind == COPIES_REDUCE && call->froms > 1;
}

/* Returns the time per byte in ns, by the places of all operands. */
static double byte_ns(const struct sim_copies *c, int core, const struct copies_call *call,
                      const struct leg *leg)
{
    const struct machine_copy *copy = &c->machine->copy;
    double half = .5 / copy->cached_gbps[MACHINE_OWN],
           nontemporal_ns = copy->nontemporal_gbps > 0 ? 1 / copy->nontemporal_gbps - half : 0,
           ns = 0;
    bool extra = combines(call) || call->kind == COPIES_CLAIM || call->kind == COPIES_KERNEL;
    double (*end_ns)(const struct sim_rates *, int, const struct caches_place *) =
        call->kind == COPIES_RETURN ? hud_rates_return_ns
        : extra                     ? hud_rates_extra_ns
                                    : hud_rates_byte_ns;

    for (int i = 0; i < call->froms + call->tos; i++) {
        const struct caches_place *place =
            i < call->froms ? &leg->from[i] : &leg->to[i - call->froms];
        bool nontemporal = i >= call->froms && call->kind == COPIES_NONTEMPORAL &&
                           c->machine->node[core] == place->of;
        ns += nontemporal && nontemporal_ns > 0 ? nontemporal_ns : end_ns(c->rates, core, place);
    }
    if (combines(call))
        ns += call->froms / c->machine->reduce.core_gbps;
    if (call->kind == COPIES_KERNEL)
        ns += 1 / copy->kernel_gbps;
    if (call->tos > 1)
        ns += combines(call) ? 2 * half : half; /* copied from the first destination */
    return ns;
}

static bool by_kernel(const struct sim_copies *c, int core)
{
    return c->jobs[core].stage != IDLE && c->jobs[core].call.kind == COPIES_KERNEL;
}

/* Returns the time of a kernel call before the first byte. */
static double kernel_ns(const struct sim_copies *c, int core, const struct copies_call *call)
{
    const struct machine_copy *copy = &c->machine->copy;
    double ns = copy->kernel_call_ns;

    for (int other = 0; copy->kernel_other_ns > 0 && other < c->machine->cores; other++) {
        int process = c->jobs[other].call.process;
        if (other != core && by_kernel(c, other) &&
            (process == call->process || process == core || other == call->process))
            ns += copy->kernel_other_ns;
    }
    return ns;
}

/* Reports whether another core copies by the kernel from or to this process. */
static bool shares_process(const struct sim_copies *c, int core, int process)
{
    for (int other = 0; other < c->machine->cores; other++)
        if (other != core && by_kernel(c, other) && c->jobs[other].call.process == process)
            return true;
    return false;
}

/* Returns the time until the first line of a call has come. */
static double first_line(const struct sim_copies *c, int core, const struct job *job)
{
    const struct machine_lines *lines = &c->machine->lines;
    struct leg leg = find_leg(c, core, job);
    double max = lines->hit_ns;

    if (job->call.kind == COPIES_CLAIM || job->call.kind == COPIES_RETURN)
        return 0; /* no rank waits for the line, or the core has it */
    for (int i = 0; i < job->call.froms + job->call.tos; i++) {
        const struct caches_place *place =
            i < job->call.froms ? &leg.from[i] : &leg.to[i - job->call.froms];
        if (i >= job->call.froms && job->call.kind == COPIES_NONTEMPORAL)
            continue; /* written without a fetch */
        if (place->kind == CACHES_NODE)
            max =
                fmax(max, c->machine->memory.latency_ns[machine_away(c->machine, core, place->of)]);
        else if (place->kind != CACHES_OWN)
            max = fmax(max, lines->transfer_ns[hud_rates_class(c->rates, core, place)]);
    }
    return max + (job->call.kind == COPIES_KERNEL ? kernel_ns(c, core, &job->call) : 0);
}

static void use_bytes(struct sim_copies *c, int core, const struct job *job, size_t bytes,
                      struct caches_given_up *given_up)
{
    const struct copies_call *call = &job->call;

    for (int i = 0; i < call->froms; i++)
        if (call->from[i] != 0)
            hud_caches_read(c->caches, core, call->from[i] + job->done, bytes, given_up);
    for (int i = 0; i < call->tos; i++)
        if (call->to[i] != 0 && call->kind == COPIES_NONTEMPORAL)
            hud_caches_write_nontemporal(c->caches, call->to[i] + job->done, bytes);
        else if (call->to[i] != 0)
            hud_caches_write(c->caches, core, call->to[i] + job->done, bytes, given_up);
}

/* Reports whether a leg in progress brings some of [first, end) into the shared cache of this
 * unit. */
static bool brings(const struct sim_copies *c, const struct job *j, int unit, uintptr_t first,
                   uintptr_t end)
{
    if (j->stage != MOVES || c->rates->unit[j - c->jobs] != unit)
        return false;
    for (int i = 0; i < j->call.froms; i++) {
        uintptr_t comes = j->call.from[i] + j->done;
        if (j->fills[i] && comes < end && first < comes + j->leg_bytes)
            return true;
    }
    return false;
}

/* Records the sources found by the leg in the shared cache of its unit, and the sources brought
 * there. */
static void look_into_unit(struct sim_copies *c, int core, const struct leg *leg)
{
    struct job *job = &c->jobs[core];

    for (int i = 0; i < job->call.froms; i++) {
        job->found[i] = leg->from[i].kind == CACHES_UNIT && leg->from[i].of == c->rates->unit[core];
        job->fills[i] = leg->from[i].kind != CACHES_OWN && !job->found[i] &&
                        c->machine->caches.shared_fill == MACHINE_FILL_READ;
    }
}

static void begin_leg(struct sim_copies *c, int core, double now_ns)
{
    struct job *job = &c->jobs[core];
    const struct copies_call *call = &job->call;
    struct leg leg = find_leg(c, core, job);
    struct caches_given_up given_up = { 0, c->given_up };
    struct flow_path *path = &c->path;
    /* Time per byte in ns, and bytes of the leg. */
    double ns = byte_ns(c, core, call, &leg), bytes = (double)leg.bytes;

    path->uses = 0;
    look_into_unit(c, core, &leg);
    for (int i = 0; i < call->froms + call->tos; i++) {
        const struct caches_place *place =
            i < call->froms ? &leg.from[i] : &leg.to[i - call->froms];
        if (place->kind == CACHES_OWN || call->kind == COPIES_RETURN)
            continue;
        hud_rates_cross(c->rates, core, place, i >= call->froms && call->kind == COPIES_NONTEMPORAL,
                        1, path);
    }
    memset(c->given_up, 0, (size_t)c->machine->nodes * sizeof *c->given_up);
    use_bytes(c, core, job, leg.bytes, &given_up);
    for (int n = 0; n < c->machine->nodes; n++)
        if (c->given_up[n] > 0)
            hud_rates_cross(c->rates, core, &(struct caches_place){ CACHES_NODE, n, false, 0 },
                            true, c->given_up[n] / bytes, path);
    if (call->kind == COPIES_KERNEL && c->machine->copy.kernel_process_gbps > 0 &&
        shares_process(c, core, call->process))
        hud_rates_process(c->rates, call->process, path);
    path->max_gbps = fmin(MAX_GBPS, 1 / ns);
    job->stage = MOVES;
    job->leg_bytes = leg.bytes;
    job->leg = ++c->legs;
    hud_bandwidth_begin(c->bandwidth, path, bytes, now_ns, core);
}

/* ---- calls ---- */

/* Returns a core whose leg began earlier and still brings bytes found by this leg in the shared
 * cache, or -1 if all have come.  Sources found there by the other leg itself do not count. */
static int leader_of(const struct sim_copies *c, const struct job *job)
{
    int unit = c->rates->unit[job - c->jobs];

    for (int i = 0; i < job->call.froms; i++) {
        uintptr_t first = job->call.from[i] + job->done;
        for (int other = 0; job->found[i] && other < c->machine->cores; other++)
            if (c->jobs[other].leg < job->leg &&
                brings(c, &c->jobs[other], unit, first, first + job->leg_bytes))
                return other;
    }
    return -1;
}

/* Releases the cores that waited for this core's leg.  They may have to wait for other legs. */
static void release(struct sim_copies *c, int core, double now_ns)
{
    const struct flow_path at_once = { .max_gbps = 1 };

    for (int i = 0; c->jobs[core].followers > 0; i++) {
        struct job *job = &c->jobs[i];
        if (job->stage != FOLLOWS || job->awaited != core)
            continue;
        job->stage = ARRIVES;
        c->jobs[core].followers--;
        hud_bandwidth_begin(c->bandwidth, &at_once, 0, now_ns, i);
    }
}

double hud_copies_alone(const struct sim_copies *c, int core, const struct copies_call *call)
{
    const struct leg leg = leg_at_hand(core);

    return call->kind == COPIES_CLAIM
               ? 0
               : c->machine->lines.hit_ns + byte_ns(c, core, call, &leg) * (double)call->bytes;
}

bool hud_copies_returns(const struct sim_copies *c, int core, int owner, uintptr_t first,
                        size_t bytes)
{
    struct caches_place read, kept, own;

    hud_caches_find(c->caches, core, first, bytes, true, &read);
    hud_caches_find(c->caches, owner, first, bytes, true, &kept);
    hud_caches_find(c->caches, core, first, bytes, false, &own);
    const struct caches_place returned = { CACHES_CORE, core, own.near, 0 };
    return hud_rates_return_ns(c->rates, core, &read) <
           hud_rates_byte_ns(c->rates, owner, &kept) -
               hud_rates_byte_ns(c->rates, owner, &returned);
}

void hud_copies_begin(struct sim_copies *c, int core, const struct copies_call *call, double now_ns)
{
    const struct flow_path wait = { .max_gbps = 1 }; /* a byte takes 1 ns at 1 GB/s */
    struct job *job = &c->jobs[core];

    job->call = *call;
    job->done = 0;
    job->stage = STARTS;
    hud_bandwidth_begin(c->bandwidth, &wait, first_line(c, core, job), now_ns, core);
}

double hud_copies_next(struct sim_copies *c)
{
    return hud_bandwidth_next(c->bandwidth);
}

int hud_copies_step(struct sim_copies *c)
{
    double now_ns = hud_bandwidth_next(c->bandwidth);
    int core = hud_bandwidth_end(c->bandwidth);
    struct job *job = &c->jobs[core];

    if (job->stage != STARTS && (job->awaited = leader_of(c, job)) >= 0) {
        job->stage = FOLLOWS;
        c->jobs[job->awaited].followers++;
        return -1;
    }
    if (job->stage != STARTS)
        job->done += job->leg_bytes;
    job->stage = IDLE;
    release(c, core, now_ns);
    if (job->done == job->call.bytes)
        return core;
    begin_leg(c, core, now_ns);
    return -1;
}

void hud_copies_home(struct sim_copies *c, uintptr_t first, size_t bytes, int node)
{
    hud_caches_home(c->caches, first, bytes, node);
}

void hud_copies_touch(struct sim_copies *c, int core, uintptr_t first, size_t bytes)
{
    struct caches_given_up given_up = { 0, c->given_up };

    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < c->leg_max ? bytes - done : c->leg_max;
        hud_caches_write(c->caches, core, first + done, n, &given_up);
    }
}

struct sim_copies *hud_copies_create(const struct sim_machine *machine,
                                     const struct sim_links *links)
{
    struct sim_copies *c = hud_must(calloc(1, sizeof *c));
    size_t some = (size_t)machine->caches.private_bytes / 4 + 1;

    c->machine = machine;
    c->leg_max = some < COPIES_LEG ? some : COPIES_LEG;
    c->rates = hud_rates_create(machine, links);
    c->caches = hud_rates_caches(c->rates);
    c->bandwidth = hud_rates_flows(c->rates);
    c->jobs = hud_must(calloc((size_t)machine->cores, sizeof *c->jobs));
    c->given_up = hud_must(calloc((size_t)machine->nodes, sizeof *c->given_up));
    return c;
}

void hud_copies_free(struct sim_copies *c)
{
    if (!c)
        return;
    hud_caches_free(c->caches);
    hud_bandwidth_free(c->bandwidth);
    hud_rates_free(c->rates);
    free(c->jobs);
    free(c->given_up);
    hud_flow_free(&c->path);
    free(c);
}

const struct sim_rates *hud_copies_rates(const struct sim_copies *c)
{
    return c->rates;
}

double hud_copies_carried(const struct sim_copies *c, int resource)
{
    return hud_bandwidth_carried(c->bandwidth, resource);
}

void hud_copies_forget(struct sim_copies *c)
{
    hud_bandwidth_forget(c->bandwidth);
}
