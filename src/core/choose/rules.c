/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - reads tables of choices. */
#define _GNU_SOURCE
#include "core/choose/compiled.h"
#include "core/choose/network.h"
#include "core/choose/reading.h"
#include "core/choose/toml.h"
#include "core/config/text.h"
#include "core/hash.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "FILE:LINE: what is wrong"; of a long path the end, so that a line holds what follows.  One line,
 * whatever the file holds. */
int hud_reading_complain(struct reader *r, int line, const char *format, ...)
{
    enum { SHOWN = 80 };
    va_list args;
    size_t length = strlen(r->rules->file), cut = length > SHOWN ? length - SHOWN : 0;
    int used = snprintf(r->error, r->error_bytes, "%s%s:%d: ", cut != 0 ? "..." : "",
                        r->rules->file + cut, line);

    va_start(args, format);
    if (used > 0 && (size_t)used < r->error_bytes)
        vsnprintf(r->error + used, r->error_bytes - (size_t)used, format, args);
    va_end(args);
    hud_text_make_plain(r->error);
    return -1;
}

static int take_machine(struct reader *r, const char *key, const char *value)
{
    if (strcmp(key, "cpu") == 0 && r->cpu[0] == '\0') /* once: a file may hold many of these lines,
                                                         and the answer is read from a file */
        hud_topo_cpu_name(r->cpu, sizeof r->cpu);
    if (strcmp(key, "processors") == 0)
        r->rules->elsewhere |= strtol(value, NULL, 10) != sysconf(_SC_NPROCESSORS_ONLN);
    if (strcmp(key, "cpu") == 0)
        r->rules->elsewhere |= strcmp(value, r->cpu) != 0;
    return 0; /* others are for people: when, by whom */
}

static int on_strange(void *arg, const char *what, int line)
{
    return hud_reading_complain(
        arg, line,
        "%.120s: not understood (accepted: tables [machine], [network], [[barrier]], [[bcast]], "
        "[[allreduce]]... with texts, numbers, true and false)",
        what);
}

static int check_whole(struct reader *r)
{
    char why[SET_TEXT];
    int network = r->network;

    r->network = 0;
    if (network != 0 && !hud_network_end(&r->rules->network, why, sizeof why))
        return hud_reading_complain(r, network, "%s", why);
    return r->bare
               ? hud_reading_complain(r, reading_last(r)->line,
                                      "the rule names no algorithm (accepted: algorithm = \"...\")")
               : 0;
}

static int on_table(void *arg, const char *name, int line)
{
    struct reader *r = arg;
    bool again = r->rules->count != 0 && strcmp(name, coll_name(reading_last(r)->kind)) == 0;
    int kind = again ? reading_last(r)->kind : hud_coll_kind(name);

    if (check_whole(r) != 0)
        return -1;
    r->machine = strcmp(name, "machine") == 0;
    r->network = strcmp(name, "network") == 0 ? line : 0;
    if (r->network != 0)
        hud_network_begin(&r->rules->network);
    r->bare = !r->machine && r->network == 0;
    if (!r->bare)
        return 0;
    if (kind < 0)
        return on_strange(arg, name, line);
    if (r->rules->count == r->room) {
        int room = 2 * r->room + 16;
        struct rule *more = realloc(r->rule, (size_t)room * sizeof *more);
        if (!more)
            return hud_reading_complain(r, line, "out of memory");
        r->rules->rule = r->rule = more;
        r->room = room;
    }
    r->rules->count++;
    *reading_last(r) = (struct rule){ .kind = kind,
                                      .row = -1,
                                      .than = -1,
                                      .line = line,
                                      .oversubscribed = -1,
                                      .direct = -1,
                                      .quick = -1,
                                      .intel = -1,
                                      .divided = -1,
                                      .max_ranks = INT_MAX,
                                      .max_bytes = SIZE_MAX };
    return 0;
}

static int on_pair(void *arg, const char *key, const char *value, int line)
{
    struct reader *r = arg;
    char why[SET_TEXT];

    if (r->machine)
        return take_machine(r, key, value);
    if (r->network != 0)
        return hud_network_take(&r->rules->network, key, value, why, sizeof why)
                   ? 0
                   : hud_reading_complain(r, line, "%s", why);
    return hud_reading_take(r, key, value, line);
}

/* By words: a table has a hundred thousand characters. */
static uint64_t digest_of(const char *text, size_t bytes)
{
    uint64_t digest = hash_number(HASH_START, bytes), word = 0;
    size_t i = 0;

    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        digest = (digest ^ word) * HASH_FACTOR;
        digest ^= digest >> 32; /* high bits of a word reach the low ones */
    }
    word = 0;
    memcpy(&word, text + i, bytes - i);
    return hash_number(digest, word);
}

typedef int read_toml(const char *text, size_t bytes, const struct toml_visitor *visitor);

static bool read_with(read_toml *read, struct rules *rules, const char *file, const char *text,
                      size_t bytes, char *error, size_t error_bytes)
{
    struct reader reader = { .rules = rules, .error = error, .error_bytes = error_bytes };
    const struct toml_visitor visitor = { on_table, on_pair, on_strange, &reader };

    *rules = (struct rules){ .digest = digest_of(text, bytes) };
    snprintf(rules->file, sizeof rules->file, "%s", file);
    hud_text_make_plain(rules->file); /* for people and JSON; nothing opens it */
    if (read(text, bytes, &visitor) == 0 && check_whole(&reader) == 0)
        return true;
    hud_rules_free(rules);
    return false;
}

bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes)
{
    return read_with(hud_toml_read, rules, file, text, bytes, error, error_bytes);
}

void hud_rules_free(struct rules *rules)
{
    free((void *)(uintptr_t)rules->rule);
    *rules = (struct rules){ .rule = NULL };
}

/* ---- the built-in table ---- */

extern const char hud_builtin_toml[];

static bool take_builtin(struct rules *builtin)
{
    static const char name[] = "built-in table";
    char error[SET_TEXT];

    if (!hud_compiled.rule)
        return read_with(hud_toml_read_plain, builtin, name, hud_builtin_toml,
                         strlen(hud_builtin_toml), error, sizeof error);
    builtin->rule = hud_compiled.rule;
    builtin->count = hud_compiled.count;
    builtin->digest = hud_compiled.digest;
    memcpy(builtin->file, name, sizeof name);
    return true;
}

const struct rules *hud_rules_builtin(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rules builtin;
    static bool known;

    pthread_mutex_lock(&lock);
    if (!known)
        known = take_builtin(&builtin);
    bool there = known;
    pthread_mutex_unlock(&lock);
    return there ? &builtin : NULL;
}

uint64_t hud_rules_builtin_digest(void)
{
    const struct rules *builtin = hud_rules_builtin();

    return builtin ? builtin->digest : digest_of(hud_builtin_toml, strlen(hud_builtin_toml));
}
