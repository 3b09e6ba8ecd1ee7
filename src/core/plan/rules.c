/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - reads tables of choices, line by line. */
#define _GNU_SOURCE
#include "base/hash.h"
#include "core/config/text.h"
#include "core/plan/compiled.h"
#include "core/plan/machine.h"
#include "core/plan/network.h"
#include "core/plan/rules_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compares the machine of the file with this machine.  Other values are for people: when, by
 * whom. */
static int read_machine(struct reader *r)
{
    struct word word;
    int rc;

    while ((rc = hud_rules_reader_word(r, &word)) == 1) {
        if (!word.value)
            return hud_rules_reader_complain(
                r, "%.60s: no value (accepted: machine processors=128 cpu=\"NAME\")", word.name);
        r->rules->elsewhere |= !hud_machine_is(hud_machine(), word.name, word.value);
        if (strcmp(word.name, "mpi") == 0)
            hud_text_copy(r->rules->mpi, sizeof r->rules->mpi, word.value);
    }
    return rc;
}

static int read_network(struct reader *r)
{
    struct cost_network *network = &r->rules->network;
    char why[SET_TEXT];
    struct word word;
    int rc;

    if (network->alpha_ns != 0)
        return hud_rules_reader_complain(r, "network: a second line (accepted: one)");
    hud_network_begin(network);
    while ((rc = hud_rules_reader_word(r, &word)) == 1)
        if (!hud_network_take(network, word.name, word.value ? word.value : "", why, sizeof why))
            return hud_rules_reader_complain(r, "%s", why);
    if (rc == 0 && !hud_network_end(network, why, sizeof why))
        return hud_rules_reader_complain(r, "%s", why);
    return rc;
}

static int read_words(struct reader *r)
{
    struct word first;
    int rc = hud_rules_reader_word(r, &first), kind = rc == 1 ? hud_coll_kind(first.name) : -1;

    if (rc < 0)
        return rc;
    if (first.name[0] == '[')
        return hud_rules_reader_complain(
            r,
            "%.60s: this is the TOML format of earlier versions (accepted: a line per rule; run "
            "`huddle tune` again)",
            first.name);
    if (!first.value && strcmp(first.name, "machine") == 0)
        return read_machine(r);
    if (!first.value && strcmp(first.name, "network") == 0)
        return read_network(r);
    if (!first.value && kind >= 0)
        return hud_rules_reader_rule(r, kind);
    return hud_rules_reader_complain(
        r,
        "%.120s: not understood (accepted: lines that begin with machine, network, barrier, bcast, "
        "allreduce...)",
        hud_text_is_plain(first.name) ? first.name : "bytes that are not text");
}

/* Reads one line of the text, which is not changed. */
static int read_line(struct reader *r, const char *text, size_t bytes)
{
    while (bytes > 0 && (*text == ' ' || *text == '\t' || *text == '\r'))
        text++, bytes--;
    if (bytes == 0 || *text == '#')
        return 0;
    if (bytes >= sizeof r->text)
        return hud_rules_reader_complain(r, "a line of %zu bytes (accepted: at most %zu)", bytes,
                                         sizeof r->text - 1);
    if (memchr(text, '\0', bytes))
        return hud_rules_reader_complain(r, "a zero byte in the line (accepted: text)");
    memcpy(r->text, text, bytes);
    r->text[bytes] = '\0';
    r->at = r->text;
    return read_words(r);
}

/* Returns a digest of a text, by words, since a table has tens of thousands of characters. */
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

static struct reader begin(struct rules *rules, const char *file, const char *text, size_t bytes)
{
    *rules = (struct rules){ .digest = digest_of(text, bytes) };
    snprintf(rules->file, sizeof rules->file, "%s", file);
    hud_text_make_plain(rules->file); /* is printed, but not opened */
    return (struct reader){ .rules = rules };
}

/* Reads the line that begins at byte *at, and sets *at to the next line. */
static int read_next(struct reader *r, const char *text, size_t bytes, size_t *at)
{
    const char *newline = memchr(text + *at, '\n', bytes - *at);
    size_t begin = *at, end = newline ? (size_t)(newline - text) : bytes;

    r->line++;
    r->unknown = false;
    *at = end + 1;
    return read_line(r, text + begin, end - begin);
}

bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes)
{
    struct reader reader = begin(rules, file, text, bytes);
    int rc = 0;

    reader.error = error;
    reader.error_bytes = error_bytes;
    for (size_t at = 0; rc == 0 && at < bytes;)
        rc = read_next(&reader, text, bytes, &at);
    if (rc == 0)
        return true;
    hud_rules_free(rules);
    return false;
}

bool hud_rules_read_some(struct rules *rules, const char *file, const char *text, size_t bytes,
                         char *error, size_t error_bytes)
{
    struct reader reader = begin(rules, file, text, bytes);
    char later[SET_TEXT];

    error[0] = '\0';
    reader.error = error;
    reader.error_bytes = error_bytes;
    for (size_t at = 0; at < bytes && rules->wrong < RULES_WRONG;) {
        int before = rules->count;
        if (read_next(&reader, text, bytes, &at) == 0)
            continue;
        rules->count = before;
        if (reader.unknown && rules->wrong == 0)
            error[0] = '\0';
        rules->wrong += !reader.unknown;
        reader.error = rules->wrong > 0 ? later : error;
        reader.error_bytes = rules->wrong > 0 ? sizeof later : error_bytes;
    }
    return !reader.out_of_memory;
}

void hud_rules_free(struct rules *rules)
{
    free((void *)(uintptr_t)rules->rule);
    *rules = (struct rules){ .rule = NULL };
}

/* ---- the built-in table ---- */

extern const char hud_builtin_rules[];

static bool take_builtin(struct rules *builtin)
{
    static const char name[] = "built-in table";
    char error[SET_TEXT];

    if (!hud_compiled.rule)
        return hud_rules_read(builtin, name, hud_builtin_rules, strlen(hud_builtin_rules), error,
                              sizeof error);
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

    return builtin ? builtin->digest : digest_of(hud_builtin_rules, strlen(hud_builtin_rules));
}
