/* SPDX-License-Identifier: BSD-3-Clause */
/* deaths.c - see deaths.h. */
#define _GNU_SOURCE
#include "core/watch/deaths.h"
#include "base/process.h"
#include "core/config/log.h"

#include <stdlib.h>
#include <unistd.h>

enum { ASKED_AT_ONCE = 16 }; /* members whose processes an observation asks about */

static void report_death(struct hud_team *team, int rank, const struct mem_wait *wait,
                         const struct wait_note *mine)
{
    char host[64] = "this node";
    bool aborts = team->context->config.number[SET_ON_DEATH] == DEATH_ABORT;

    if (!mem_count_claim(&deaths_head(team, rank)->obituary))
        return;
    gethostname(host, sizeof host - 1);
    hud_log(&team->context->config, LOG_ERROR,
            "rank %d of %s (%d ranks), process %d on %s, has ended; rank %d has waited in %s for "
            "%.1f s%s",
            rank, mine->communicator, team->id.size, team->peers.process[rank].pid, host,
            team->id.rank, mine->collective, (double)(wait->now_ns - wait->begin_ns) * 1e-9,
            aborts ? "; aborting (HUDDLE_ON_DEATH=abort)" : "");
}

void hud_deaths_end_job(struct hud_team *team)
{
    const struct hud_host *host = &team->context->host;

    mem_count_claim(&deaths_head(team, team->id.rank)
                         ->obituary); /* this rank's own end must not be reported by the others */
    if (host->abort)
        host->abort(host->arg);
    abort();
}

/* Asks the kernel.  Reads when a process started only here, the first time that the process is
 * found alive: in another time namespace its own reading differs. */
static bool ask(struct team_process *process)
{
    process->ended = process->ended || hud_process_ended(process->pid, process->started);
    if (!process->ended && process->started == 0 && process->pid != 0)
        process->started = hud_process_started(process->pid);
    return process->ended;
}

bool hud_deaths_find(struct hud_team *team, const struct mem_wait *wait,
                     const struct wait_note *mine)
{
    int asked = team->id.size < ASKED_AT_ONCE ? team->id.size : ASKED_AT_ONCE;
    bool died = false;

    for (int i = 0; i < asked; i++)
        ask(&team->peers.process[(team->peers.next_checked + i) % team->id.size]);
    team->peers.next_checked = (team->peers.next_checked + asked) % team->id.size;
    for (int r = 0; r < team->id.size; r++) {
        if (!team->peers.process[r].ended || mem_count_observe(&team_member(team, r)->left) != 0)
            continue;
        report_death(team, r, wait, mine);
        died = true;
    }
    if (died && team->context->config.number[SET_ON_DEATH] == DEATH_ABORT)
        hud_deaths_end_job(team);
    return died;
}

bool hud_deaths_has_ended(void *team, int rank)
{
    return ask(&((struct hud_team *)team)->peers.process[rank]);
}
