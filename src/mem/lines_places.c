/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines_places.c - notices that ranks have moved closer together or further apart.
 *
 * A virtual machine may move a processor at any time.  The way in use (lines.c) may then take twice
 * as long as another one, while its own time hardly changes: non-temporal stores take as long
 * everywhere.  So the rank measures the distance itself.
 *
 * Source    this project.  On an AMD EPYC (Zen 3) a hop takes 60 ns if two cores share a cache, and
 *           220 ns if they do not.
 * Shape     The line of the published ways is read by every reader in each long copy.  After
 *           PLACES_PAUSE long writes, the rank stores to that line and measures the time.  The
 *           median of LINES_HOPS times ignores interruptions, and stores before which nobody had
 *           read the line.  A median that differs from the present place's by more than half means
 *           another place: the other remembered one if it has such a time, or else a new place,
 *           which replaces the other one.  Changes that follow each other quickly are ignored for
 *           longer and longer: this rank's lines then have readers at several distances.
 * Cost      Two readings of the clock and a store in PLACES_PAUSE long writes: 1 % of copies of
 *           4 KB at most, and less of longer ones.
 */
#include "mem/mem.h"

enum {
    PLACES_PAUSE = 32, /* long writes between two measurements */
    REST_MIN = 512,    /* long writes between two changes */
    REST_MAX = 8192
};

static bool near(uint32_t a, uint32_t b)
{
    uint32_t noise = hud_lines_noise();

    return a <= b + b / 2 + noise && b <= a + a / 2 + noise;
}

/* Returns the median of the times, which are sorted. */
static uint32_t median(uint32_t hop[LINES_HOPS])
{
    for (int i = 1; i < LINES_HOPS; i++)
        for (int k = i; k > 0 && hop[k - 1] > hop[k]; k--) {
            uint32_t smaller = hop[k];
            hop[k] = hop[k - 1];
            hop[k - 1] = smaller;
        }
    return hop[LINES_HOPS / 2];
}

/* Makes the other remembered place the present one. */
static void change(struct lines_places *p)
{
    bool soon = p->since < 8 * REST_MIN && p->numbers > 1;

    p->now ^= 1;
    p->rest = !soon ? REST_MIN : p->rest < REST_MAX ? 2 * p->rest : REST_MAX;
    p->since = 0;
}

/* Returns true if the place has changed. */
static bool decide(struct lines_places *p, uint32_t hop)
{
    unsigned char other = p->now ^ 1;

    if (p->typical[p->now] == 0) {
        p->typical[p->now] = hop;
    } else if (near(p->typical[p->now], hop)) {
        p->typical[p->now] = (uint32_t)(((uint64_t)p->typical[p->now] * 3 + hop) / 4);
    } else if (p->since >= p->rest) {
        if (p->typical[other] == 0 || !near(p->typical[other], hop)) {
            p->typical[other] = hop;
            p->number[other] = ++p->numbers;
        }
        change(p);
        return true;
    }
    return false;
}

bool hud_lines_places_watch(struct lines_places *p, _Atomic uint32_t *word)
{
    if (++p->writes < PLACES_PAUSE && !p->hurry)
        return false;
    uint64_t hop = hud_lines_hop(word);
    p->since += p->writes;
    p->writes = 0;
    p->hop[p->hops++] = 1 + (hop < UINT32_MAX / 4 ? (uint32_t)hop : UINT32_MAX / 4);
    if (p->hops < LINES_HOPS)
        return false;
    p->hops = 0;
    p->hurry = false;
    return decide(p, median(p->hop));
}
