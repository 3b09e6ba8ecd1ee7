/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.c - the program bench-team: measures huddle's collectives without MPI, on a team of forked
 * processes, and bare collectives (bare.h) for comparison.
 *
 *   bench-team [--ranks N] [--bind core|none] [--ring FRAGMENT:BUFFERS] [options of session.h]
 *
 * The environment (HUDDLE_*) chooses algorithms and parameters, as for any program.  The bare
 * collectives are "bare_barrier", "bare_bcast", "bare_allreduce" and "bare_alltoall".  --ring sets
 * the bytes that bare_bcast copies at once and its number of buffers (default 32768:4).
 * Nonblocking and persistent calls are waited for at once.  A call that is not handled counts as
 * refused.  Exit status: 0, 1 wrong bytes or a process that died, 2 bad arguments.
 */
#include "bare.h"
#include "data.h"
#include "fork_team/fork_team.h"
#include "session.h"
#include "teams.h"

#include <stdlib.h>
#include <string.h>

struct job {
    struct session session;
    struct shots_page *page;
    struct bare_rank bare;
    int ranks;
    bool bind;
};

/* The process's data for a call. */
struct host {
    struct teams_host of;
    struct bare_rank bare;
};

/* Measures the clock and the common start alone. */
static int call_nothing(const struct shots_call *c)
{
    (void)c;
    return 0;
}

static int call_bare(const struct shots_call *c)
{
    return bare_call(&((struct host *)c->host)->bare, c);
}

/* Returns huddle's collectives, then the bare ones, which use the data of huddle's. */
static const struct shots_coll *all_colls(void)
{
    static const struct {
        const char *name;
        enum coll_kind kind;
    } bare[] = { { "bare_barrier", COLL_BARRIER },
                 { "bare_bcast", COLL_BCAST },
                 { "bare_allreduce", COLL_ALLREDUCE },
                 { "bare_alltoall", COLL_ALLTOALL } };
    static struct shots_coll colls[SESSION_COLLS];
    int count = 0;

    for (const struct shots_coll *c = teams_colls(); c->name; c++)
        colls[count++] = *c;
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        colls[count] = teams_colls()[bare[i].kind];
        colls[count].name = bare[i].name;
        colls[count++].call = call_bare;
    }
    colls[count] = (struct shots_coll){ .name = "nothing", .call = call_nothing };
    return colls;
}

static bool chooses_bare(const struct session *session)
{
    bool chooses = false;

    for (int i = 0; session->table[i].name; i++)
        chooses = chooses || (session->chosen[i] && session->table[i].call == call_bare);
    return chooses;
}

/* Runs in a forked process: measures the session. */
static int measure(struct fork_rank *self, void *arg)
{
    const struct job *job = arg;
    struct host host = { .of.way = job->session.way, .bare = job->bare };
    struct shots shots;
    char program[64];

    if (fork_team_join(self, NULL) != HUD_OK)
        return 1;
    host.of.team = self->team;
    (void)hud_barrier(self->team); /* sets up the team */
    snprintf(program, sizeof program, "huddle %s", hud_version());
    shots_join(&shots, job->page, self->rank, self->ranks, NULL);
    host.bare.spins = shots.oversubscribed ? 1 : BARE_SPINS;
    int status = session_run(&job->session, &shots, program, &host);
    hud_request_free(host.of.kept.request);
    fork_team_leave(self);
    return status;
}

static bool parse_ring(struct bare_rank *bare, const char *text)
{
    return sscanf(text, "%zu:%d", &bare->fragment_bytes, &bare->buffers) == 2 &&
           bare->fragment_bytes > 0 && bare->fragment_bytes % 128 == 0 &&
           bare->fragment_bytes <= 1 << 26 && bare->buffers > 0 &&
           bare->buffers <= BARE_MAX_BUFFERS;
}

/* Parses this program's own options and removes them from argv; the session parses the rest.
 * Returns NULL, or the word that is not valid. */
static const char *parse_options(struct job *job, int *argc, char **argv)
{
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        const char *value = i + 1 < *argc ? argv[i + 1] : "";
        bool fine = true, mine = true;
        if (!strcmp(argv[i], "--ranks"))
            fine = (job->ranks = atoi(value)) >= 2 && job->ranks <= FORK_TEAM_MAX;
        else if (!strcmp(argv[i], "--bind"))
            fine = (job->bind = !strcmp(value, "core")) || !strcmp(value, "none");
        else if (!strcmp(argv[i], "--ring"))
            fine = parse_ring(&job->bare, value);
        else
            mine = false;
        if (!fine)
            return argv[i];
        if (mine)
            i++;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    return NULL;
}

int main(int argc, char **argv)
{
    struct job job = { .ranks = 2,
                       .bind = true,
                       .bare = { .fragment_bytes = 32768, .buffers = 4 } };
    const char *unknown = parse_options(&job, &argc, argv);

    if (!unknown)
        unknown = session_parse(&job.session, all_colls(), argc, argv);
    if (!unknown && job.session.integers) /* teams and bare collectives add doubles */
        unknown = "--integers";
    if (unknown)
        return fprintf(stderr, "huddle: bench-team: %s: not an option, or not a valid value\n",
                       unknown),
               2;
    job.page = fork_team_shared(shots_page_bytes(job.ranks));
    if (chooses_bare(&job.session))
        job.bare.shared = fork_team_shared(bare_bytes(&job.bare, job.ranks));
    if (!job.page || (chooses_bare(&job.session) && !job.bare.shared))
        return fprintf(stderr, "huddle: bench-team: out of memory\n"), 1;
    int status = fork_team_run(
        &(struct fork_team){ .ranks = job.ranks, .bind = job.bind, .body = measure, .arg = &job });
    if (status == 1)
        fprintf(stderr, "huddle: bench-team: a process died, or bytes were wrong\n");
    return status;
}
