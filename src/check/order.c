/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - vector clocks made of shared leaves. */
#include "check/order.h"
#include "check/grow.h"

#include <string.h>

struct sim_order *hud_order_create(int ranks)
{
    int leaves = (ranks + ORDER_LEAF - 1) / ORDER_LEAF;
    struct sim_order *o =
        hud_must(calloc(1, sizeof *o + (size_t)leaves * sizeof(struct order_leaf *)));

    o->leaves = leaves;
    return o;
}

static void leave(struct order_leaf *leaf)
{
    if (leaf && --leaf->owners == 0)
        free(leaf);
}

static void share(struct order_leaf **mine, struct order_leaf *leaf)
{
    leaf->owners++;
    leave(*mine);
    *mine = leaf;
}

void hud_order_free(struct sim_order *o)
{
    for (int i = 0; o && i < o->leaves; i++)
        leave(o->leaf[i]);
    free(o);
}

struct sim_order *hud_order_copy(const struct sim_order *o)
{
    size_t bytes = sizeof *o + (size_t)o->leaves * sizeof(struct order_leaf *);
    struct sim_order *copy = memcpy(hud_must(malloc(bytes)), o, bytes);

    for (int i = 0; i < copy->leaves; i++)
        if (copy->leaf[i])
            copy->leaf[i]->owners++;
    return copy;
}

/* Returns a leaf without other owners, which may be written.  Copies the leaf if it is shared. */
static struct order_leaf *own(struct order_leaf **mine)
{
    if (*mine && (*mine)->owners == 1)
        return *mine;
    struct order_leaf *leaf = hud_must(calloc(1, sizeof *leaf));
    if (*mine)
        memcpy(leaf->time, (*mine)->time, sizeof leaf->time);
    share(mine, leaf);
    return leaf;
}

void hud_order_set(struct sim_order *o, int rank, uint32_t time)
{
    own(&o->leaf[rank / ORDER_LEAF])->time[rank % ORDER_LEAF] = time;
}

static void join(struct order_leaf **mine, struct order_leaf *other)
{
    unsigned later = 0, earlier = 0;

    for (int i = 0; i < ORDER_LEAF; i++) {
        later |= (*mine)->time[i] > other->time[i];
        earlier |= (*mine)->time[i] < other->time[i];
    }
    if (!earlier)
        return;
    if (!later) {
        share(mine, other);
        return;
    }
    uint32_t *time = own(mine)->time;
    for (int i = 0; i < ORDER_LEAF; i++)
        time[i] = time[i] > other->time[i] ? time[i] : other->time[i];
}

void hud_order_join(struct sim_order *o, const struct sim_order *other)
{
    for (int i = 0; i < o->leaves; i++) {
        if (!other->leaf[i] || other->leaf[i] == o->leaf[i])
            continue;
        if (o->leaf[i])
            join(&o->leaf[i], other->leaf[i]);
        else
            share(&o->leaf[i], other->leaf[i]);
    }
}
