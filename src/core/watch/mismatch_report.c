/* SPDX-License-Identifier: BSD-3-Clause */
/* mismatch_report.c - see mismatch_report.h. */
#include "core/watch/mismatch_report.h"
#include "core/config/log.h"
#include "core/watch/longwait.h"

#include <stdio.h>
#include <string.h>

enum { CALL_TEXT = 192 };

struct mismatch_call hud_mismatch_of_note(const struct wait_note *note)
{
    int kind = hud_coll_kind(note->collective);

    return (struct mismatch_call){ .kind = kind,
                                   .root = note->root,
                                   .sized = kind >= 0 && !coll_has(kind, COLL_UNSIZED),
                                   .bytes = note->bytes };
}

struct mismatch_call hud_mismatch_of_shape(int slot, uint64_t shape)
{
    int kind = slot >= 0 ? member_shape_kind(shape) : -1;
    bool falls_back = slot == MEMBER_FELL_BACK;

    if (kind < 0 || kind >= COLL_KINDS)
        return (struct mismatch_call){ .kind = -1, .root = -1 };
    /* (where blocks have any sizes that all ranks know, a call that is handled has their hash) */
    return (struct mismatch_call){ .kind = kind,
                                   .root = member_shape_root(shape),
                                   .sized = !coll_has(kind, COLL_UNSIZED) &&
                                            (falls_back || !coll_has(kind, COLL_COUNTS)),
                                   .falls_back = falls_back,
                                   .bytes = member_shape_size(shape) };
}

/* Writes "gather with blocks of 40 bytes and root 3". */
static void describe(const struct hud_team *team, const struct mismatch_call *call,
                     char text[CALL_TEXT])
{
    char size[48] = "", root[32] = "", owner[64] = "";

    if (call->kind < 0) {
        snprintf(text, CALL_TEXT, "a different collective, or the same one with a different size");
        return;
    }
    bool blocks = call->sized && coll_has(call->kind, COLL_BLOCKS);
    if (call->sized)
        snprintf(size, sizeof size, " %s%llu bytes", blocks ? "with blocks of " : "of ",
                 (unsigned long long)call->bytes);
    if (call->root >= 0)
        snprintf(root, sizeof root, "%s root %d", blocks ? " and" : " with", call->root);
    if (call->falls_back)
        snprintf(owner, sizeof owner, ", which falls back to %.40s", team->context->id.owner);
    snprintf(text, CALL_TEXT, "%s%s%s%s", coll_name(call->kind), size, root, owner);
}

/* Returns the difference that the descriptions do not show. */
static const char *distinguish(const struct mismatch_pair *calls, const char *own,
                               const char *other)
{
    const struct mismatch_call *a = &calls->own, *b = &calls->other;

    if (a->kind >= 0 && a->kind == b->kind && coll_has(a->kind, COLL_COUNTS) &&
        !(a->sized && b->sized && a->bytes != b->bytes))
        return " with other blocks";
    return strcmp(own, other) == 0 ? " by another algorithm" : "";
}

void hud_mismatch_report(struct hud_team *team, int rank, const struct mismatch_pair *calls)
{
    char own[CALL_TEXT], other[CALL_TEXT], name[64];

    if (!hud_longwait_claim_report(team))
        return;
    hud_longwait_name(team, name, sizeof name);
    describe(team, &calls->own, own);
    describe(team, &calls->other, other);
    hud_log(&team->context->config, LOG_ERROR,
            "ranks of %s (%d ranks) make different calls: rank %d calls %s, rank %d calls %s%s; "
            "the call fails, and later calls fall back to %s (HUDDLE_CHECK=on reports more)",
            name, team->id.size, team->id.rank, own, rank, other, distinguish(calls, own, other),
            team->context->id.owner);
}

/* Returns the words after the size of sent blocks, and after the size of received blocks. */
static const char *receivers(unsigned flags)
{
    return flags & (COLL_SAME_TO_ALL | COLL_TO_ROOT) ? "" : " to each rank";
}

static const char *senders(unsigned flags)
{
    return coll_from_root(flags) || (flags & COLL_VIEWS) ? " from itself" : " from each rank";
}

void hud_mismatch_report_sizes(struct hud_team *team, int kind, size_t sent, size_t received)
{
    unsigned flags = hud_collectives[kind].flags;
    char name[64];

    if (!hud_longwait_claim_report(team))
        return;
    hud_longwait_name(team, name, sizeof name);
    hud_log(&team->context->config, LOG_ERROR,
            "%s of %s (%d ranks): rank %d sends %zu bytes%s and receives %zu%s; the call fails, "
            "and later calls fall back to %s",
            coll_name(kind), name, team->id.size, team->id.rank, sent, receivers(flags), received,
            senders(flags), team->context->id.owner);
}
