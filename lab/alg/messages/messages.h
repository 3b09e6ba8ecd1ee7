/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.h - the family `messages`: send and receive between two ranks, through a queue of each
 * pair.  This file has the slot, and the path of a message into a cell and out of it.  The
 * collectives are in barrier.c, messages.c (trees: down.h, up.h) and alltoall.c (blocks.h,
 * bruck.h).
 *
 * Messages of a pair are numbered over all operations of the slot.
 *
 * Line                                     written by  read by  value k means
 *   slot[r].pair[d].cell[i].full           r           d        r's message k to d is in this cell,
 *                                                               with its length
 *   slot[d].pair[r].acknowledged           d           r        d has consumed r's first k messages
 *   slot[r].pair[d].sent, consumed, known  r           r        (plain) messages to d and from d so
 *                                                               far; those that d is known to have
 *                                                               acknowledged
 *   slot[r].pair[d].open                   r           r        (plain) alltoall: blocks.h
 *   slot[r].came, .sum                     r           r        (plain) reductions: up.h
 *   slot[r] behind the pairs               r           r        (plain) alltoall: bruck.h
 *
 * Edges     R1 -> A1   a copy into a cell      happens before  the copies out of it; accesses
 *                      before a message, before those after it
 *           R2 -> A2   the copies out of cell  happen before   the next copy into it
 *
 * Not needed
 *   R2, A2 by barrier/messages: its messages have no bytes, so a cell holds nothing that is read
 *
 * Safety
 *   1. A cell is written again only after its last message has been acknowledged (R2 -> A2).
 */
#ifndef HUD_ALG_MESSAGES_H
#define HUD_ALG_MESSAGES_H

#include "alg/fragment.h"

enum {
    MESSAGES_BEFORE = HUD_LINE - MEM_PAYLOAD + 8
}; /* bytes of a cell before the message: the counter and the length */

/* Sizes of a slot: maximum bytes of a fragment, number of cells of a pair's queue, bytes behind the
 * pairs. */
struct messages_form {
    size_t max_bytes, cells, more_bytes;
};

struct messages_pair {
    mem_flag acknowledged;
    _Alignas(HUD_LINE) uint64_t sent, consumed, known, open;
    _Alignas(HUD_LINE) unsigned char cells[];
};

/* An operation on one rank. */
struct messages {
    struct mem *m;
    struct shape_tree tree;
    size_t max_bytes, cell_bytes, pair_bytes; /* bytes of a fragment, of a cell, of a pair's
                                                 queue */
    uint64_t cells;
};

static inline size_t messages_cell_bytes(const struct messages_form *form)
{
    return mem_lines(MESSAGES_BEFORE + form->max_bytes);
}

/* Returns the number of cells of each pair's queue in a slot, whose head is two cells, and 0 if
 * there is no room. */
static inline size_t messages_cells(const struct messages_form *form, int ranks, size_t slot_bytes)
{
    size_t cell = messages_cell_bytes(form), head = 2 * cell + mem_lines(form->more_bytes),
           room = slot_bytes > head ? (slot_bytes - head) / (size_t)ranks : 0;
    size_t fit =
        room > sizeof(struct messages_pair) ? (room - sizeof(struct messages_pair)) / cell : 0;

    return fit < form->cells ? fit : form->cells;
}

static inline size_t messages_bytes(const struct messages_form *form, int ranks, size_t max_bytes)
{
    size_t cell = messages_cell_bytes(form), cells = messages_cells(form, ranks, max_bytes);

    return cells == 0 ? 0
                      : 2 * cell + (size_t)ranks * (sizeof(struct messages_pair) + cells * cell) +
                            mem_lines(form->more_bytes);
}

ALG_INLINE struct messages messages_begin(struct mem *m, const struct coll *c,
                                          const struct messages_form *form,
                                          const struct shape_tree *tree)
{
    struct messages x = {
        .m = m, .tree = *tree, .max_bytes = form->max_bytes, .cell_bytes = messages_cell_bytes(form)
    };

    x.cells = messages_cells(form, mem_size(m), c->place->slot_bytes);
    x.pair_bytes = sizeof(struct messages_pair) + x.cells * x.cell_bytes;
    return x;
}

static inline struct messages_pair *messages_pair(const struct messages *x, int of, int with)
{
    char *slot = mem_slot(x->m, of);

    return (struct messages_pair *)(slot + 2 * x->cell_bytes + (size_t)with * x->pair_bytes);
}

static inline mem_flag *messages_cell(const struct messages *x, struct messages_pair *p,
                                      uint64_t at)
{
    return (mem_flag *)(p->cells + at % x->cells * x->cell_bytes);
}

/* Returns the data of a message in a cell, which follow the length or the header (fragment.h). */
static inline char *messages_data(mem_flag *cell)
{
    return (char *)cell + MESSAGES_BEFORE;
}

/* Returns the cell of the next message to a rank, after its last message has been consumed. */
ALG_INLINE mem_flag *messages_free_cell(const struct messages *x, int to)
{
    struct messages_pair *mine = messages_pair(x, mem_rank(x->m), to),
                         *theirs = messages_pair(x, to, mem_rank(x->m));
    uint64_t sent = mem_get(x->m, &mine->sent), known = mem_get(x->m, &mine->known);

    if (sent - known == x->cells)
        mem_put(x->m, &mine->known, mem_await(x->m, &theirs->acknowledged, known + 1)); /* A2 */
    return messages_cell(x, mine, sent);
}

/* Sends the message that is in a cell. */
ALG_INLINE void messages_send(const struct messages *x, int to, mem_flag *cell, uint64_t header)
{
    struct messages_pair *mine = messages_pair(x, mem_rank(x->m), to);
    uint64_t sent = mem_get(x->m, &mine->sent) + 1;

    mem_put(x->m, cell->payload, header);
    mem_post(x->m, cell, sent); /* R1 */
    mem_put(x->m, &mine->sent, sent);
}

/* Waits for the next message from a rank, and returns its cell. */
ALG_INLINE mem_flag *messages_await(const struct messages *x, int from)
{
    struct messages_pair *mine = messages_pair(x, mem_rank(x->m), from);
    uint64_t consumed = mem_get(x->m, &mine->consumed);
    mem_flag *cell = messages_cell(x, messages_pair(x, from, mem_rank(x->m)), consumed);

    mem_await(x->m, cell, consumed + 1); /* A1 */
    return cell;
}

/* Acknowledges the message returned by messages_await(), after the caller has consumed the data. */
ALG_INLINE void messages_acknowledge(const struct messages *x, int from)
{
    struct messages_pair *mine = messages_pair(x, mem_rank(x->m), from);
    uint64_t consumed = mem_get(x->m, &mine->consumed) + 1;

    mem_post(x->m, &mine->acknowledged, consumed); /* R2 */
    mem_put(x->m, &mine->consumed, consumed);
}

#endif
