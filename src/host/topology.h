/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - the number of a rank's neighbours.  The front end defines TOPOLOGY(name), the MPI's
 * own function of this name. */
#ifndef HUD_HOST_TOPOLOGY_H
#define HUD_HOST_TOPOLOGY_H

#include <mpi.h>
#include <stdbool.h>

/* Counts the blocks that the rank sends and receives in a neighbourhood collective.  Returns false
 * if the communicator has no topology, which the MPI reports. */
static inline bool topology_blocks(MPI_Comm comm, int rank, int *sent, int *got)
{
    int kind = MPI_UNDEFINED, weighted, code = MPI_ERR_TOPOLOGY;

    *sent = *got = 0;
    if (TOPOLOGY(Topo_test)(comm, &kind) != MPI_SUCCESS)
        return false;
    if (kind == MPI_DIST_GRAPH)
        return TOPOLOGY(Dist_graph_neighbors_count)(comm, got, sent, &weighted) == MPI_SUCCESS;
    if (kind == MPI_GRAPH)
        code = TOPOLOGY(Graph_neighbors_count)(comm, rank, sent);
    if (kind == MPI_CART) {
        code = TOPOLOGY(Cartdim_get)(comm, sent);
        *sent *= 2;
    }
    *got = *sent;
    return code == MPI_SUCCESS;
}

#endif
