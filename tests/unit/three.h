/* SPDX-License-Identifier: BSD-3-Clause */
/* three.h - three ranks of a team as threads of a test program, and how they reach each other. */
#ifndef HUD_TESTS_THREE_H
#define HUD_TESTS_THREE_H

#include "huddle/huddle.h"

#include <pthread.h>
#include <string.h>

enum { RANKS = 3, CELL_BYTES = 2048 };

/* The first member of what a test knows about a rank. */
struct one_of_three {
    int rank, gathers; /* allgathers so far */
};

static pthread_barrier_t meet; /* the test initializes it, and may use it */
static char cell[RANKS][CELL_BYTES];

static int three_rank(void *arg)
{
    return ((struct one_of_three *)arg)->rank;
}

static int three_size(void *arg)
{
    (void)arg;
    return RANKS;
}

static int three_allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    struct one_of_three *one = (struct one_of_three *)arg;

    one->gathers++;
    memcpy(cell[one->rank], mine, bytes);
    pthread_barrier_wait(&meet);
    for (int r = 0; r < RANKS; r++)
        memcpy((char *)all + (size_t)r * bytes, cell[r], bytes);
    pthread_barrier_wait(&meet);
    return 0;
}

static inline struct hud_exchange three_exchange(struct one_of_three *one)
{
    return (struct hud_exchange){
        .rank = three_rank, .size = three_size, .allgather = three_allgather, .arg = one
    };
}

#endif
