/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_returned_lines.c - verifies that returning lines does not pay on a machine as copies.h
 * models it, here the made-up machine (made_up.h): it costs the last reader at least the time that
 * it saves the owner. Therefore returning lines takes no simulated time and changes no cache
 * (hud_sim_end_read in check/access.c). If this test fails, simulated ranks would have to choose.
 */
#include "lab/sim/copies.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { K = 1024, DIE = 3, OTHER = 2 * DIE /* a core of the other socket */, BYTES = 4 * K };

/* Core 0 owns the bytes. The cores that read them, in order, ended by 0. */
static const int readers[][4] = {
    { 1 },        { DIE },      { OTHER },      { 1, DIE },      { DIE, 1 },
    { 1, OTHER }, { OTHER, 1 }, { OTHER, DIE }, { OTHER, 1, 2 },
};

static double now_ns;

static double takes_ns(struct sim_copies *copies, int core, enum copies_kind kind, uintptr_t from,
                       uintptr_t to)
{
    const struct copies_call call = {
        .kind = kind, .from = { from }, .froms = 1, .to = { to }, .tos = 1, .bytes = BYTES
    };
    double begin_ns = now_ns;

    hud_copies_begin(copies, core, &call, now_ns);
    while (hud_copies_next(copies) < INFINITY) {
        now_ns = hud_copies_next(copies);
        hud_copies_step(copies);
    }
    return now_ns - begin_ns;
}

/* Returns the time of the owner's next write. If `returned` is set, adds the time that the last
 * reader needs to claim the bytes before. */
static double return_and_write_ns(struct sim_copies *copies, const int *reader, bool returned,
                                  uintptr_t at)
{
    double ns = 0;

    hud_copies_touch(copies, 0, at, BYTES);
    for (; *reader != 0; reader++) {
        takes_ns(copies, *reader, COPIES_COPY, at, 0);
        if (returned && reader[1] == 0)
            ns = takes_ns(copies, *reader, COPIES_CLAIM, 0, at);
    }
    return ns + takes_ns(copies, 0, COPIES_COPY, 0, at);
}

static void returning_lines_does_not_pay(void **state)
{
    uintptr_t at = 1 << 20;

    (void)state;
    for (int nearest_bytes = 0; nearest_bytes <= BYTES; nearest_bytes += BYTES) {
        struct sim_machine *m = made_up_machine(2, DIE);
        m->caches.nearest_bytes = nearest_bytes;
        m->copy.nearest_gbps[MACHINE_OWN] = nearest_bytes ? 100 : 0;
        m->copy.nearest_gbps[MADE_UP_NUMA] = nearest_bytes ? 4 : 0;
        struct sim_links *links = hud_links_create(m);
        struct sim_copies *copies = hud_copies_create(m, links);
        now_ns = 0;
        for (size_t i = 0; i < sizeof readers / sizeof *readers; i++, at += 2 * BYTES) {
            double returned_ns = return_and_write_ns(copies, readers[i], true, at),
                   kept_ns = return_and_write_ns(copies, readers[i], false, at + BYTES);
            if (returned_ns < kept_ns * (1 - 1e-9))
                fail_msg("readers %zu: %g ns with returned lines, %g ns without", i, returned_ns,
                         kept_ns);
        }
        hud_copies_free(copies);
        hud_links_free(links);
        made_up_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(returning_lines_does_not_pay) };

    return cmocka_run_group_tests_name("returned_lines", tests, NULL, NULL);
}
