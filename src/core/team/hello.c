/* SPDX-License-Identifier: BSD-3-Clause */
/* hello.c - the first round of a team's set-up: facts about this rank, and the verdict on all
 * ranks' facts. */
#include "core/team/hello.h"
#include "base/hash.h"
#include "core/config/log.h"

#include <stdio.h>

_Static_assert(sizeof(((union hello *)0)->fields) <= HELLO_BYTES, "a hello has a fixed size");

/* Lists settings that must agree and were set, a line each. */
static void list_values(const struct config *config, char values[HELLO_VALUES])
{
    int count;
    const struct setting *table = hud_settings(&count);
    size_t used = 0;

    for (int i = 0; i < count; i++) {
        if (config->digest[i] == 0 || strcmp(config->origin[i], "default") == 0)
            continue;
        int bytes =
            snprintf(values + used, HELLO_VALUES - used, "%s=%s\n", table[i].name, config->text[i]);
        if (bytes < 0 || used + (size_t)bytes >= HELLO_VALUES)
            break;
        used += (size_t)bytes;
    }
    values[used] = '\0';
}

/* Adds the tuning file as a setting: its name and a digest of its contents. */
static void add_tuning(const struct rules *rules, char values[HELLO_VALUES])
{
    size_t used = strlen(values);

    if (rules->file[0] != '\0')
        snprintf(values + used, HELLO_VALUES - used, "HUDDLE_TUNING=%.80s (%08x)\n", rules->file,
                 (unsigned)rules->digest);
}

void hud_hello_value(const union hello *hello, const struct setting *setting, char text[SET_TEXT])
{
    size_t name = strlen(setting->name);
    const char *at = hello->fields.values, *end = at + strnlen(at, HELLO_VALUES);

    while (at < end) { /* the last line may have been cut: it need not end with a newline */
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((newline ? newline : end) - at);
        if (bytes > name && strncmp(at, setting->name, name) == 0 && at[name] == '=') {
            snprintf(text, SET_TEXT, "%.*s", (int)bytes, at);
            return;
        }
        at += bytes + (newline != NULL);
    }
    snprintf(text, SET_TEXT, "%s=%s", setting->name, *setting->preset ? setting->preset : "(none)");
}

void hud_hello_make(struct hud_team *team, union hello *hello)
{
    struct hud_context *c = team->context;

    memset(hello, 0, sizeof *hello);
    hello->fields.version = c->id.version;
    hello->fields.world_rank = c->host.world_rank;
    hello->fields.host_id = c->id.host_id;
    hello->fields.boot_id = c->id.boot_id;
    hello->fields.quota = c->machine.quota;
    hello->fields.single_call_axis =
        team->plan.single_call.enabled ? team->plan.single_call.axis : -1;
    hello->fields.single_call_bytes = team->plan.single_call.bytes;
    hud_topo_allowed(&hello->fields.cpus);
    hello->fields.settings = hash_number(c->config.agree, c->plan.rules.digest);
    list_values(&c->config, hello->fields.values);
    add_tuning(&c->plan.rules, hello->fields.values);
    if (c->config.error[0] != '\0') {
        hello->fields.reason = REASON_SETTING;
        hello->fields.complaint = (uint32_t)hash_text(HASH_START, c->config.error) | 1;
    } else if (c->config.number[SET_ON] == SWITCH_OFF) {
        hello->fields.reason = REASON_OFF;
    } else if (team->state.calls < c->config.number[SET_FIRST]) {
        hello->fields.reason = REASON_EARLY;
    } else if (!c->plan.planner || !hud_rules_builtin()) {
        hello->fields.reason = REASON_PRIVATE;
    } else if (hud_context_arena(c, team->id.size) != 0) {
        hello->fields.reason = REASON_ARENA;
    } else if (hud_peers_lost(&c->memory.peers)) {
        hello->fields.reason = REASON_REACH;
    } else {
        hello->fields.pages = c->memory.arena.pages;
        hello->fields.node =
            c->memory.arena.node >= 0 ? c->memory.arena.node : hud_topo_node_here();
        hud_peers_card(&c->memory.peers, &c->memory.arena, &hello->fields.card);
        pthread_mutex_lock(&c->lock);
        size_t bytes = hud_arena_free_bytes(&c->memory.arena);
        hello->fields.offer_bytes =
            team->plan.single_call.enabled
                ? hud_plan_single_call_offer(c->memory.arena.bytes, bytes)
                : hud_plan_offer(c->plan.planner, team->id.size, c->memory.arena.bytes, bytes);
        pthread_mutex_unlock(&c->lock);
    }
}

void hud_hello_explain_pages(struct hud_team *team, const union hello *all)
{
    struct hud_context *c = team->context;
    int without = 0, first = 0;

    for (int r = team->id.size - 1; r >= 0; r--)
        if (all[r].fields.pages == PAGES_ORDINARY) {
            without++;
            first = r;
        }
    if (without == 0 || team->id.rank != 0 || c->host.world_rank != 0 ||
        c->config.number[SET_HUGE_PAGES] == SWITCH_OFF || !hud_context_first(c, &c->reported.pages))
        return;
    hud_log(
        &c->config, LOG_WARN,
        "HUDDLE_HUGE_PAGES=on: %d of %d ranks, the first of them rank %d, have ordinary pages: %s",
        without, team->id.size, first,
        hud_context_huge(c) ? "the pool has too few pages of 2 MB, and the kernel provided none"
                            : "HUDDLE_LAB_PLACEMENT is off");
}

/* Returns whether the rank offers a possible arena, room in the arena, a node, and names that
 * end.  Other statements of the rank are checked later. */
static bool can_be(const union hello *h)
{
    const struct peer_card *card = &h->fields.card;

    return card->bytes >= 2 * HELLO_PAGE && card->bytes % HELLO_PAGE == 0 &&
           card->bytes <= HELLO_ARENA_MAX && h->fields.offer_bytes <= card->bytes &&
           memchr(card->socket, '\0', HANDOVER_NAME) && card->pid > 0 && h->fields.node >= -1;
}

/* Returns whether the rank's words can be read and, if the rank takes part, believed. */
static bool makes_sense(const union hello *h)
{
    return h->fields.reason < REASON_COUNT && memchr(h->fields.values, '\0', HELLO_VALUES) &&
           (h->fields.reason != REASON_NONE || can_be(h));
}

/* Compares the words of ranks, once nodes are told apart. */
static enum reason verdict_of_words(const union hello *all, int ranks, size_t *bytes, int *who)
{
    *bytes = SIZE_MAX;
    for (int r = 0; r < ranks; r++) {
        *who = r;
        if (!makes_sense(&all[r]))
            return REASON_EXCHANGE;
    }
    for (int r = 0; r < ranks; r++) {
        *who = r;
        if (all[r].fields.reason != REASON_NONE && all[r].fields.reason != REASON_EARLY)
            return (enum reason)all[r].fields.reason;
    }
    for (int r = 0; r < ranks; r++) {
        *who = r;
        if (all[r].fields.settings != all[0].fields.settings)
            return REASON_DIFFER;
        if (all[r].fields.single_call_axis != all[0].fields.single_call_axis)
            return REASON_UNLIKE;
        *bytes = all[r].fields.offer_bytes < *bytes ? (size_t)all[r].fields.offer_bytes : *bytes;
    }
    if (all[0].fields.reason == REASON_EARLY) /* all are early: their settings are the same */
        return REASON_EARLY;
    return *bytes != 0 ? REASON_NONE : REASON_LEASE;
}

enum reason hud_hello_verdict(const union hello *all, int ranks, size_t *bytes, int *who)
{
    uint64_t boot = 0; /* boot of the first rank that knows it */

    for (int r = 0; r < ranks; r++) {
        *who = r;
        if (all[r].fields.version != all[0].fields.version)
            return REASON_VERSION;
        if (all[r].fields.host_id != all[0].fields.host_id ||
            (all[r].fields.boot_id != 0 && boot != 0 && all[r].fields.boot_id != boot))
            return REASON_NODES;
        boot = boot != 0 ? boot : all[r].fields.boot_id;
    }
    return verdict_of_words(all, ranks, bytes, who);
}

enum reason hud_hello_verdict_nodes(const union hello *all, int ranks, size_t *bytes, int *who)
{
    for (int r = 0; r < ranks; r++) {
        *who = r;
        if (all[r].fields.version != all[0].fields.version)
            return REASON_VERSION;
    }
    return verdict_of_words(all, ranks, bytes, who);
}

/* Returns whether what rank 0 knows is in its arena. */
static bool known_fits(const struct reply_known *known, uint64_t arena)
{
    uint64_t bytes = sizeof(struct wisdom_area) + known->lines * sizeof(struct wisdom_line);

    return known->lines == 0 ||
           (known->offset >= sizeof(struct arena_head) && known->offset % HUD_LINE == 0 &&
            known->offset <= arena && bytes <= arena - known->offset && known->lines <= INT_MAX);
}

enum reason hud_reply_verdict(const struct reply *all, const union hello *hello, int ranks,
                              size_t bytes, int *who)
{
    for (int r = 0; r < ranks; r++) {
        uint64_t arena = hello[r].fields.card.bytes, offset = all[r].offset;
        *who = r;
        if (all[r].reason >= REASON_COUNT)
            return REASON_EXCHANGE;
        if (all[r].reason != REASON_NONE)
            return (enum reason)all[r].reason;
        if (offset < sizeof(struct arena_head) || offset % HUD_LINE != 0 || offset > arena ||
            bytes > arena - offset || (r == 0 && !known_fits(&all[0].known, arena)))
            return REASON_EXCHANGE;
    }
    return REASON_NONE;
}

/* Returns a rank's number in the job, which the user knows, or without an MPI the number in the
 * team. */
static int named(const union hello *all, int rank, bool in_job)
{
    return in_job && all[rank].fields.world_rank >= 0 ? all[rank].fields.world_rank : rank;
}

void hud_hello_describe_difference(const union hello *all, int other, bool in_job, char *line,
                                   size_t bytes)
{
    int i = -1, settings, a = named(all, 0, in_job), b = named(all, other, in_job);
    const struct setting *table = hud_settings(&settings);
    char value[2][SET_TEXT];

    do {
        i++;
        hud_hello_value(&all[0], &table[i], value[0]);
        hud_hello_value(&all[other], &table[i], value[1]);
    } while (i < settings - 1 && strcmp(value[0], value[1]) == 0);
    if (strcmp(value[0], value[1]) != 0)
        snprintf(line, bytes, "%s on rank %d, %s on rank %d (accepted: one value on all ranks)",
                 value[0], a, value[1], b);
    else
        snprintf(line, bytes,
                 "ranks %d and %d have different settings (accepted: the same values on all ranks)",
                 a, b);
}
