/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reuse.c - the memory of a team that has ended is zero again, whatever calls it has made. */
#include "calls.h"
#include "core/team/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, TEAMS = 6, MOST = 1 << 20 };

static struct hud_op sum = {
    .element_bytes = 4, .commutative = 1, .exact = 1, .combine = add_words
};

/* Returns whether all bytes of an arena from an offset on are zeros, as far as they exist. */
static bool is_zero_from(const struct arena *a, size_t offset)
{
    const char *at = (const char *)a->head + offset;
    size_t bytes = a->committed_bytes - offset;

    return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

/* Makes calls of all collectives, of sizes that are different in each team. */
static void use(struct rank *r, int team)
{
    for (size_t bytes = 8; bytes <= (size_t)MOST >> 3 * team; bytes *= 8)
        for (int kind = 0; kind < COLL_KINDS; kind++)
            call_make(r, kind, coll_has(kind, COLL_REDUCES) ? &sum : NULL, bytes, false);
    rank_handled(r, hud_barrier(r->team));
}

static void reuse(struct rank *r)
{
    struct arena *arena = &r->context->memory.arena;

    for (int t = 0; t < r->team_count; t++) {
        r->team = r->teams[t].team;
        use(r, t);
        size_t offset = r->team->shm.offset;
        MUST(r, !is_zero_from(arena, offset));
        ranks_free_team(&r->teams[t]);
        ranks_meet(r); /* all have left */
        pthread_mutex_lock(&r->context->lock);
        MUST(r, hud_arena_free_bytes(arena) >= MOST);
        pthread_mutex_unlock(&r->context->lock);
        MUST(r, is_zero_from(arena, offset));
    }
}

static void freed_memory_is_zero(void **state)
{
    static const char *const on[] = { "HUDDLE_WISDOM=on", NULL },
                             *const off[] = { "HUDDLE_WISDOM=off", NULL },
                             *const checked[] = { "HUDDLE_CHECK=on", NULL },
                             *const *const settings[] = { on, off, checked };

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ranks_run(&(struct ranks){ .ranks = RANKS,
                                   .teams = TEAMS,
                                   .blocking = true,
                                   .settings = settings[i],
                                   .body = reuse });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_memory_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
