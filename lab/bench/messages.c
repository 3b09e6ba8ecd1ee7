/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - measures broadcasts by send and receive alone, as paper 04 (Kurnosov, Analysis and
 * optimization of pipelined broadcast algorithms) describes them: trees of messages between nodes,
 * on a simulated network (SMPI) or a real one.
 *
 *   messages-smpi TREE:DEGREE:SEGMENT:BYTES...        TREE: flat, chain, kary, balanced, knomial;
 *                                                     SEGMENT 0: the message in one piece
 *
 * A rank receives from its parent, then sends to its children, from the left.  With segments, a
 * rank receives the next segment while it forwards the current segment.  Sends are synchronous: a
 * port carries one message at a time, as in the Hockney model.  All ranks start together; the end
 * of the slowest rank counts.
 *
 * Rank 0 writes one JSON object on standard output: "ranks" and "points", each with tree, degree,
 * segment, bytes, ns and the number of wrong bytes.  Exit status: 0, 1 wrong bytes, 2 bad
 * arguments.
 */
#include "shape/shape.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 1 };
#define HEAD_START_S 1e-3 /* time until all ranks know the start time */

struct point {
    struct shape_tree tree;
    int segment, bytes;
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void pass_on(const struct point *p, int rank, const unsigned char *from, int bytes)
{
    for (int i = 0, child; (child = hud_shape_child(&p->tree, rank, i)) >= 0; i++)
        MPI_Ssend(from, bytes, MPI_BYTE, child, TAG, MPI_COMM_WORLD);
}

static void broadcast(const struct point *p, int rank, unsigned char *data)
{
    int parent = hud_shape_parent(&p->tree, rank),
        piece = p->segment > 0 ? smaller(p->segment, p->bytes) : p->bytes;
    MPI_Request next = MPI_REQUEST_NULL;

    if (parent >= 0)
        MPI_Irecv(data, piece, MPI_BYTE, parent, TAG, MPI_COMM_WORLD, &next);
    for (int at = 0; at < p->bytes; at += piece) {
        int rest = p->bytes - at - piece;
        MPI_Wait(&next, MPI_STATUS_IGNORE);
        if (parent >= 0 && rest > 0)
            MPI_Irecv(data + at + piece, smaller(piece, rest), MPI_BYTE, parent, TAG,
                      MPI_COMM_WORLD, &next);
        pass_on(p, rank, data + at, smaller(piece, p->bytes - at));
    }
}

/* Waits until the same moment on all ranks.  Returns the common start time. */
static double start_together(void)
{
    double now = MPI_Wtime(), start;

    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += HEAD_START_S;
    double wait = start - MPI_Wtime();
    struct timespec nap = { .tv_sec = (time_t)wait,
                            .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9) };
    if (wait > 0)
        nanosleep(&nap, NULL);
    return start;
}

static long wrong_bytes(const unsigned char *data, int bytes, int round)
{
    long wrong = 0;

    for (int i = 0; i < bytes; i++)
        wrong += data[i] != (unsigned char)(i * 7 + round);
    return wrong;
}

/* Measures a point.  Returns the number of wrong bytes on all ranks; *ns is valid on rank 0. */
static long measure(const struct point *p, int rank, int round, unsigned char *data, double *ns)
{
    long wrong, all;

    for (int i = 0; i < p->bytes; i++)
        data[i] = rank == p->tree.root ? (unsigned char)(i * 7 + round) : 0;
    double start = start_together();
    broadcast(p, rank, data);
    double took = (MPI_Wtime() - start) * 1e9;
    wrong = wrong_bytes(data, p->bytes, round);
    MPI_Reduce(&took, ns, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int parse(const char *word, int ranks, struct point *p)
{
    char name[16];
    int degree, kind = 0;

    if (sscanf(word, "%15[a-z]:%d:%d:%d", name, &degree, &p->segment, &p->bytes) != 4 ||
        degree < 2 || p->segment < 0 || p->bytes < 1)
        return -1;
    while (hud_shape_names[kind] && strcmp(hud_shape_names[kind], name) != 0)
        kind++;
    p->tree =
        (struct shape_tree){ .kind = (enum shape_kind)kind, .degree = degree, .ranks = ranks };
    return hud_shape_names[kind] && !shape_by_groups(p->tree.kind) ? 0 : -1;
}

static int run(int points, char **word, int rank, int ranks)
{
    long wrong = 0;

    for (int i = 0; i < points; i++) {
        struct point p;
        double ns = 0;
        if (parse(word[i], ranks, &p) != 0)
            return rank == 0 ? fprintf(stderr,
                                       "huddle: messages: %s: not understood (accepted: "
                                       "TREE:DEGREE:SEGMENT:BYTES)\n",
                                       word[i]),
                   2         : 2;
        unsigned char *data = malloc((size_t)p.bytes);
        if (!data)
            return 2;
        long now = measure(&p, rank, i, data, &ns);
        wrong += now;
        free(data);
        if (rank == 0)
            printf("%s\n{\"tree\": \"%s\", \"degree\": %d, \"segment\": %d, \"bytes\": %d, \"ns\": "
                   "%.1f, \"wrong\": %ld}",
                   i > 0 ? "," : "", hud_shape_names[p.tree.kind], p.tree.degree, p.segment,
                   p.bytes, ns, now);
    }
    return wrong != 0;
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        printf("{\"ranks\": %d, \"points\": [", ranks);
    int status = run(argc - 1, argv + 1, rank, ranks);
    if (rank == 0)
        printf("\n]}\n");
    MPI_Finalize();
    return status;
}
