/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/combining.c - ranks count in small groups; the last rank of a group continues with the
 * group above and, on the way back, releases its own group.
 *
 * Source    Yew, Tzeng, Lawrie: Distributing hot-spot addressing in large-scale multiprocessors
 *           (1987), as in Mellor-Crummey, Scott (1991), Algorithm 8; paper 03's "combining tree" is
 *           degree = 2.  Paper 03 does not say how ranks wake: with wake = flag, one line wakes
 *           all, posted by the last rank to arrive at the top.  As in central.c, senses are numbers
 *           of operations and counters are never reset.
 * Shape     p ranks, h = ceil(log_k p) levels, k the degree.  At level i the ranks of a run of
 *           k^(i+1) have been counted in at most k runs of k^i.  (p - 1) / (k - 1) nodes where p =
 *           k^h: p - 1 more additions than nodes, and a post for each node.
 * Cost      T = h (k a + l + (k - 2) g)    ns; a an atomic addition to a line that another rank had
 *           last, l one line transfer, g one more overlapped.  flag: h k a + l + (p - 2) g
 * Accepts   any number of ranks; 2 <= k <= 64.
 *
 * A node joins k runs, and is in the slot of the first rank of its second run.  That rank is the
 * first rank of a later run in no other node, so every slot holds at most one node.  If there is no
 * second run, there is nothing to join and no node.
 *
 * Line            written by                         read by     value v means
 *   slot[r].count the last of each run, by addition  its adders  v additions: one for each run an
 *                                                                operation
 *   slot[r].sense the last of them                   the others  all have entered operation v
 *   slot[0].all   the last at the top                all others  flag: the same
 *
 * Edges     R1 -> A1   the entries below a rank that counts  happen before  the last arrival at the
 *                      node, which goes up
 *           R2 -> A2   all entries, as the last at the top has seen them  happen before  the exits;
 *                      and a post of `sense` before the next's
 *
 * Deadlock  At each node all ranks but the last wait, and the last goes up.  The last at the top
 *           waits for none.  A rank that is released at a node posts all nodes below it on its
 *           path, so each node is posted.
 * Safety    A rank adds for operation k + 1 after it has left k, so after all additions of k at
 *           that node.  So a counter reaches its multiple of k only by the last addition of k.
 */
#include "alg/alg.h"

enum param { DEGREE, WAKE };
enum wake { WAKE_TREE, WAKE_FLAG };

static const char *const wakes[] = { "tree", "flag", NULL };

static const struct alg_param params[] = {
    [DEGREE] = { "degree", "1", "ranks, or groups, that share a counter", 2, 64, 2, NULL,
                 .tune = "4,8" },
    [WAKE] = { "wake", "",
               "tree: release down the same tree; flag: by one flag that all ranks poll", WAKE_TREE,
               WAKE_FLAG, WAKE_TREE, wakes },
    { .name = NULL },
};

struct slot {
    mem_flag count, sense, all;
};

/* Returns the node that joins this rank's run of `run` ranks to its neighbours, and NULL if there
 * is none.  Stores the number of arrivals in an operation in *arrivals. */
static struct slot *node_of(struct mem *m, int run, int degree, uint64_t *arrivals)
{
    int first = mem_rank(m) / run / degree * run * degree,
        runs = (mem_size(m) - first + run - 1) / run;

    *arrivals = (uint64_t)(runs < degree ? runs : degree);
    return runs > 1 ? mem_slot(m, first + run) : NULL;
}

static void barrier_combining(struct mem *m, const struct coll *c)
{
    int degree = (int)c->param[DEGREE], run = 1;
    bool flag = c->param[WAKE] == WAKE_FLAG;
    struct slot *home = mem_slot(m, 0);
    uint64_t arrivals;

    for (; run < mem_size(m); run *= degree) { /* up, while this rank is the last to arrive */
        struct slot *node = node_of(m, run, degree, &arrivals);
        if (node && mem_add(m, &node->count, 1) != arrivals * c->op) { /* R1, A1 */
            mem_await(m, flag ? &home->all : &node->sense, c->op);     /* A2 */
            break;
        }
    }
    if (flag && run >= mem_size(m))
        mem_post(m, &home->all, c->op);     /* R2 */
    while (!flag && (run /= degree) >= 1) { /* down the same path */
        struct slot *node = node_of(m, run, degree, &arrivals);
        if (node)
            mem_post(m, &node->sense, c->op); /* R2 */
    }
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, combining) = {
    .coll = "barrier",
    .name = "combining",
    .doc = "ranks count in small groups; the last rank of a group counts in the group above",
    .source = "Yew, Tzeng, Lawrie 1987; paper 03, combining tree",
    .family = &family,
    .run = barrier_combining,
};
