/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_kvs.c - ranks of all nodes under Hydra: a key of each rank in the job's key-value space.
 *
 * Hydra gives each process a socket to its proxy (PMI_FD), on which the MPI uses PMI 1.1: each line
 * of key=value gets a line as its answer.  The MPI begins in MPI_Init, with a handshake that may be
 * repeated.  Before that, this rank puts its key.  MPI_Init has a barrier of PMI, after which all
 * keys of all nodes can be read.  They are read once, when the context is created: as soon as
 * MPI_Init has returned, or in the first collective of a program that initialises by mpi_f08.  The
 * MPI does not use the socket then, unless another thread spawns or publishes.
 *
 * All ranks get the same answer for this reason: a rank is present if its key has the value of the
 * asking rank.  All ranks that could set up a team with it ask the same question.  A rank whose put
 * was refused is absent for all, including itself.  The server also answers that a key does not
 * exist.  A rank that gets no complete answer cannot decide as the others do, and the MPI would
 * read the rest of the answer; so this rank ends, and the job with it.
 */
#define _GNU_SOURCE
#include "host/pmpi/pmi_kvs.h"
#include "base/launcher_env.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { LINE = 1024, SPACE = 256, ANSWER_MS = 120 * 1000 };

static bool known, published;
static char space[SPACE], own_value[16];
static unsigned char there[LAUNCHED_RANKS / 8];

/* Returns the socket named by an environment variable, or -1 if there is none. */
static int socket_of(const char *variable)
{
    const char *text = secure_getenv(variable);
    char *end = NULL;
    long fd = text ? strtol(text, &end, 10) : -1;
    struct stat st;

    if (!text || end == text || fd < 0 || fd > INT32_MAX || fstat((int)fd, &st) != 0)
        return -1;
    return S_ISSOCK(st.st_mode) ? (int)fd : -1;
}

/* Returns Hydra's socket, or -1, if the MPI uses version 1 of PMI.  Slurm, whose sockets use
 * version 2, also sets the job's name; Hydra sets the number of ranks on the node. */
static int find_server(void)
{
    const char *version = secure_getenv("MPIR_CVAR_PMI_VERSION");
    bool hydra = secure_getenv("MPI_LOCALNRANKS") && !secure_getenv("PMI_JOBID");

    return hydra && (!version || strcmp(version, "1") == 0) ? socket_of("PMI_FD") : -1;
}

/* Sends a line and receives the answer, without its line end.  Returns false if there is no answer,
 * or if LINE - 1 bytes contain no line end: a value may be truncated then. */
static bool ask(int fd, const char *line, char answer[LINE])
{
    size_t length = strlen(line), got = 0;
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    if (send(fd, line, length, MSG_NOSIGNAL) != (ssize_t)length)
        return false;
    do {
        int rc = poll(&ready, 1, ANSWER_MS);
        ssize_t bytes = rc > 0 ? recv(fd, answer + got, LINE - 1 - got, 0) : rc;
        if (rc < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return false;
        got += (size_t)bytes;
    } while (got < LINE - 1 && (got == 0 || answer[got - 1] != '\n'));
    bool complete = answer[got - 1] == '\n';
    answer[got - 1] = '\0';
    return complete && got > 1;
}

/* Copies the value of a key in an answer.  Returns false if there is none, or if it is too long. */
static bool value_of(const char *answer, const char *key, char *value, size_t room)
{
    const char *at = strstr(answer, key);
    size_t length = at ? strcspn(at + strlen(key), " ") : room;

    if (!at || length >= room)
        return false;
    memcpy(value, at + strlen(key), length);
    value[length] = '\0';
    return true;
}

static bool begin(int fd)
{
    char answer[LINE], rc[8];

    return ask(fd, "cmd=init pmi_version=1 pmi_subversion=1\n", answer) &&
           value_of(answer, "rc=", rc, sizeof rc) && strcmp(rc, "0") == 0 &&
           ask(fd, "cmd=get_my_kvsname\n", answer) &&
           value_of(answer, "kvsname=", space, sizeof space);
}

static void ask_or_end(int fd, const char *line, char answer[LINE])
{
    if (ask(fd, line, answer))
        return;
    fprintf(stderr,
            "huddle: Hydra did not answer a PMI request about the ranks that use huddle, or with "
            "more than %d bytes; aborting\n",
            LINE - 1);
    abort();
}

void hud_pmi_kvs_announce(unsigned manner)
{
    static bool once;
    int fd = find_server();
    long rank = launched_rank(), size = launched_size();
    char line[LINE], answer[LINE], rc[8];

    if (once || fd < 0 || rank < 0 || rank >= LAUNCHED_RANKS)
        return;
    if (size > 0 && launched_local_size(size) == size)
        return; /* the ranks of this node are all ranks, and find each other without the server */
    once = known = true;
    snprintf(own_value, sizeof own_value, "%u", manner);
    if (!begin(fd))
        return;
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=huddle-%ld value=%s\n", space, rank,
             own_value);
    ask_or_end(fd, line, answer);
    published = value_of(answer, "rc=", rc, sizeof rc) && strcmp(rc, "0") == 0;
}

static bool has_key(int fd, int rank)
{
    char line[LINE], answer[LINE], rc[8], value[16];

    snprintf(line, sizeof line, "cmd=get kvsname=%s key=huddle-%d\n", space, rank);
    ask_or_end(fd, line, answer);
    return value_of(answer, "rc=", rc, sizeof rc) && strcmp(rc, "0") == 0 &&
           value_of(answer, "value=", value, sizeof value) && strcmp(value, own_value) == 0;
}

void hud_pmi_kvs_look_up(int world_size)
{
    static bool looked;
    int fd = find_server(), ranks = world_size < LAUNCHED_RANKS ? world_size : LAUNCHED_RANKS;

    if (looked || !published)
        return;
    looked = true;
    for (int r = 0; fd >= 0 && r < ranks; r++)
        if (has_key(fd, r))
            there[r / 8] |= (unsigned char)(1u << r % 8);
}

bool hud_pmi_kvs_announced(void)
{
    return known;
}

int hud_pmi_kvs_present(void *arg, int rank)
{
    (void)arg;
    return rank >= 0 && rank < LAUNCHED_RANKS && (there[rank / 8] & 1u << rank % 8) != 0;
}
