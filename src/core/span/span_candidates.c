/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_candidates.c - the choices for the calls of a cell of a span.
 *
 * Trial     The first algorithm that accepts the call; the other algorithms of the collective;
 *           trees and fragments of a broadcast next to those of the network's model; a single ring;
 *           the MPI's own collective.  Baselines are no candidates.  A parameter that the user has
 *           set keeps its value.
 * Bits      The MPI's own reduction is tried only with HUDDLE_LAB_TRY_ALL (core/plan/others.c).  If
 *           it is known, it is the only candidate.
 * Known     A choice that was learned earlier may also be another one of the same kind.
 */
#include "alg/rings/rings.h"
#include "core/span/span_learn.h"

struct list {
    struct span *span;
    const struct coll *call;
    enum coll_kind kind;
    struct span_choice *choice;
    int count, room;
    uint32_t wanted; /* name of the only choice to add, or 0 */
};

static const struct {
    enum shape_kind kind;
    int degree, min_nodes; /* fewer nodes give the same tree as another row */
} trees[] = {
    { SHAPE_CHAIN, 1, 3 }, { SHAPE_KARY, 2, 4 }, { SHAPE_KNOMIAL, 2, 4 }, { SHAPE_FLAT, 2, 3 }
};
enum { TREES = sizeof trees / sizeof *trees };

static void add(struct list *l, const struct span_choice *choice)
{
    struct span_run run;

    if (l->count < l->room && (l->wanted == 0 || hud_span_choice_number(choice) == l->wanted) &&
        hud_span_accepts(l->span, l->kind, l->call, choice, &run))
        l->choice[l->count++] = *choice;
}

static bool sets(const struct list *l, enum set setting, long automatic)
{
    return l->span->whole->context->config.number[setting] != automatic;
}

static void add_tree(struct list *l, int tree, long fragment_bytes)
{
    const struct span_choice choice = { NET_BCAST,
                                        { tree < 0 ? SPAN_AUTO : (long)trees[tree].kind,
                                          tree < 0 ? SPAN_AUTO : trees[tree].degree,
                                          fragment_bytes } };

    if (tree < 0 || l->span->map.nodes >= trees[tree].min_nodes)
        add(l, &choice);
}

/* Adds trees that are not the model's, and the fragments next to the model's. */
static void add_routes(struct list *l)
{
    const struct span_route model =
        *hud_span_route(l->span, l->call->bytes, hud_span_by_model.param);
    long max_bytes = (long)l->span->buffer_bytes, longer = max_bytes;

    for (int tree = 0; tree < TREES - 1 && !sets(l, SET_NODES_TREE, TREE_AUTO); tree++)
        if (trees[tree].kind != model.tree || trees[tree].degree != model.degree)
            add_tree(l, tree, SPAN_AUTO);
    if (sets(l, SET_NODES_FRAGMENT, -1))
        return;
    for (long bytes = max_bytes; bytes > model.fragment_bytes; bytes /= 2)
        longer = bytes;
    if (longer > model.fragment_bytes && (size_t)model.fragment_bytes < l->call->bytes)
        add_tree(l, -1, longer);
    while (longer >= model.fragment_bytes)
        longer /= 2;
    if (longer >= NODES_FRAGMENT_MIN)
        add_tree(l, -1, longer);
}

static void add_ring(struct list *l)
{
    struct span_choice choice = hud_span_by_model;
    struct span_run run;

    for (choice.tag = 0; choice.tag < NET_TAGS; choice.tag++)
        if (hud_shm_nodes_algs[choice.tag]->family == &hud_shm_rings_family &&
            hud_span_accepts(l->span, l->kind, l->call, &choice, &run) &&
            run.param[RINGS_COUNT] > 1 && l->span->map.rings > 1) {
            choice.param[RINGS_COUNT] = 1;
            add(l, &choice);
            choice.param[RINGS_COUNT] = SPAN_AUTO;
        }
}

static void add_algorithms(struct list *l)
{
    struct span_choice choice = hud_span_by_model;

    for (choice.tag = 0; choice.tag < NET_TAGS; choice.tag++)
        add(l, &choice);
}

/* Adds all trees with all fragments. */
static void add_all_routes(struct list *l)
{
    for (int tree = -1; tree < TREES; tree++) {
        add_tree(l, tree, SPAN_AUTO);
        for (long bytes = NODES_FRAGMENT_MIN; bytes <= (long)l->span->buffer_bytes; bytes *= 2)
            add_tree(l, tree, bytes);
    }
}

/* Finds a choice by its name, which is not 0.  Returns false if a call cannot have this choice. */
static bool find_known(const struct list *l, uint32_t name, struct span_choice *choice)
{
    struct list one = { l->span, l->call, l->kind, choice, 0, 1, name };

    *choice = (struct span_choice){ SPAN_MPI, { SPAN_AUTO, SPAN_AUTO, SPAN_AUTO } };
    if (hud_span_choice_number(choice) == name)
        return true;
    add_algorithms(&one);
    add_ring(&one);
    if (span_has_route(l->kind))
        add_all_routes(&one);
    return one.count == 1;
}

/* Returns whether all candidates give the same bits, and all ranks know the size of a call. */
static bool is_free(const struct span *span, int at, const struct coll *call)
{
    int axis = at / PLAN_CLASSES, kind = axis % COLL_KINDS;

    return axis < COLL_KINDS && !(call->reduction && hud_span_is_fixed(span)) &&
           !(coll_has(kind, COLL_VIEWS) && coll_has(kind, COLL_UNSIZED));
}

static int index_of(const struct list *l, const struct span_choice *choice)
{
    int i = 0;

    while (i < l->count && hud_span_choice_number(&l->choice[i]) != hud_span_choice_number(choice))
        i++;
    return i < l->count ? i : -1;
}

int hud_span_candidates(struct span *span, int at, enum coll_kind kind, const struct coll *call,
                        uint32_t known, struct span_choice choice[LEARNER_CANDIDATES], int *mpi,
                        int *is_known)
{
    struct list l = { span, call, kind, choice, 0, LEARNER_CANDIDATES - 2, 0 };
    bool all = is_free(span, at, call), ends = span->whole->context->host.ends_own_calls != 0;
    bool may_pass = !(call->reduction && hud_span_is_fixed(span)),
         tries_mpi =
             all && ends &&
             (!call->reduction || span->whole->context->config.number[SET_TRY_ALL] == SWITCH_ON);
    struct span_choice it;

    *mpi = *is_known = -1;
    add_algorithms(&l);
    if (l.count == 0)
        return 0;
    if (!all)
        l.count = 1;
    if (all && span_has_route(kind))
        add_routes(&l);
    if (all)
        add_ring(&l);
    if (tries_mpi) {
        *mpi = l.count;
        choice[l.count++] = (struct span_choice){ SPAN_MPI, { SPAN_AUTO, SPAN_AUTO, SPAN_AUTO } };
    }
    if (known == 0 || !find_known(&l, known, &it) || (it.tag == SPAN_MPI && !(ends && may_pass)))
        return l.count;
    *is_known = index_of(&l, &it);
    if (*is_known < 0) {
        *is_known = all && it.tag != SPAN_MPI ? l.count : 0;
        choice[*is_known] = it;
        l.count = *is_known + 1;
    }
    return l.count;
}

uint32_t hud_span_choice_number(const struct span_choice *choice)
{
    long param[ALG_PARAMS];

    for (int p = 0; p < ALG_PARAMS; p++)
        param[p] = p < SPAN_PARAMS ? choice->param[p] : SPAN_AUTO;
    return hud_wisdom_name(choice->tag, param);
}
