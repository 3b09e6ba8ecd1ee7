/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - reads a request.  An error is one line with the key, the value and the accepted
 * values. */
#include "lab/sim/run/request.h"

#include "alg/nodes/nodes.h"
#include "check/grow.h"
#include "coll/coll.h"
#include "lab/sim/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30, MAX_REPETITIONS = 1000000, MAX_NODES = 1024 };

const char *const request_methods[] = { "single", "loop", NULL };
const char *const request_placements[] = { "on", "off", NULL };

struct reader {
    const json_t *json;
    char *error;
    size_t error_bytes;
};

static __attribute__((format(printf, 2, 3))) bool complain(struct reader *r, const char *format,
                                                           ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(r->error, r->error_bytes, format, list);
    va_end(list);
    plain_make(r->error);
    return false;
}

static bool read_whole(struct reader *r, const char *key, json_int_t min, json_int_t max,
                       json_int_t preset, json_int_t *value)
{
    const json_t *given = json_object_get(r->json, key);

    *value = given ? json_integer_value(given) : preset;
    return (given && !json_is_integer(given)) || *value < min || *value > max
               ? complain(r, "%s: %lld (accepted: %lld to %lld)", key, (long long)*value,
                          (long long)min, (long long)max)
               : true;
}

static bool read_int(struct reader *r, const char *key, int min, int max, int preset, int *value)
{
    json_int_t whole;
    bool good = read_whole(r, key, min, max, preset, &whole);

    *value = (int)whole;
    return good;
}

static bool read_size(struct reader *r, const char *key, json_int_t min, json_int_t max,
                      json_int_t preset, size_t *value)
{
    json_int_t whole;
    bool good = read_whole(r, key, min, max, preset, &whole);

    *value = (size_t)whole;
    return good;
}

/* Complains about a word, or a value of another type, that is not among the `count` accepted
 * words. */
static bool complain_word(struct reader *r, const char *where, const char *key, const char *word,
                          const char *const *words, long count)
{
    char accepted[160] = "";

    for (long i = 0; i < count; i++)
        snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted), "%s%s",
                 i ? ", " : "", words[i]);
    return complain(r, "%s%s: %s (accepted: %s)", where, key, word ? word : "no text", accepted);
}

/* Reads a word of a list, whose first word is the default.  Sets *at to its index. */
static bool read_word(struct reader *r, const char *key, const char *const *words, int *at)
{
    const json_t *given = json_object_get(r->json, key);
    const char *word = given ? json_string_value(given) : words[0];

    for (*at = 0; words[*at]; ++*at)
        if (word && strcmp(words[*at], word) == 0)
            return true;
    return complain_word(r, "", key, word, words, *at);
}

static bool read_param(struct reader *r, const struct alg_param *p, const json_t *given,
                       long *value)
{
    if (p->words && json_is_string(given)) {
        for (*value = p->min; *value <= p->max; ++*value)
            if (strcmp(p->words[*value - p->min], json_string_value(given)) == 0)
                return true;
        return complain_word(r, "parameters.", p->name, json_string_value(given), p->words,
                             p->max - p->min + 1);
    }
    *value = (long)json_integer_value(given);
    return json_is_integer(given) && *value >= p->min && *value <= p->max
               ? true
               : complain(r, "parameters.%s: %ld (accepted: %ld to %ld)", p->name, *value, p->min,
                          p->max);
}

static bool read_params(struct reader *r, struct request *q)
{
    const json_t *table = json_object_get(r->json, "parameters");
    const struct alg_param *params = q->alg->family->params;
    bool good = true;
    size_t known = 0;

    for (int p = 0; params && params[p].name; p++)
        q->param[p] = params[p].preset;
    if (q->nodes > 1)
        request_preset(q, q->param);
    for (int p = 0; good && params && params[p].name; p++) {
        const json_t *given = json_object_get(table, params[p].name);
        known += given != NULL;
        good = !given || read_param(r, &params[p], given, &q->param[p]);
    }
    return good && known != json_object_size(table)
               ? complain(r, "parameters: %s/%s does not have all of these", q->alg->coll,
                          q->alg->name)
               : good;
}

static bool find_algorithm(struct reader *r, struct request *q)
{
    const char *coll = json_string_value(json_object_get(r->json, "collective"));
    const char *name = json_string_value(json_object_get(r->json, "algorithm"));

    const struct alg *const *algs = q->nodes > 1 ? hud_sim_nodes_algs : hud_sim_algs;

    for (int a = 0; coll && name && algs[a]; a++)
        if (strcmp(algs[a]->coll, coll) == 0 && strcmp(algs[a]->name, name) == 0)
            q->alg = algs[a];
    if (q->nodes > 1 && !name)
        q->alg = request_between_nodes(q, coll);
    return q->alg ? true
                  : complain(r, "algorithm: huddle has no %s/%s%s", coll ? coll : "?",
                             name ? name : "?", q->nodes > 1 ? " between nodes" : "");
}

static bool read_levels_off(struct reader *r, const char **list)
{
    const json_t *given = json_object_get(r->json, "levels_off");

    *list = given ? json_string_value(given) : "";
    return *list && hud_topo_names_valid(*list)
               ? true
               : complain(r, "levels_off: %s (accepted: names of levels)",
                          *list ? *list : "no text");
}

static bool read_skew(struct reader *r, double *skew_ns)
{
    const json_t *given = json_object_get(r->json, "skew_ns");

    *skew_ns = json_number_value(given);
    return !given || (json_is_number(given) && *skew_ns >= 0)
               ? true
               : complain(r, "skew_ns: accepted is a number of 0 or more");
}

static bool read_drop(struct reader *r, const char **file, int *line)
{
    const json_t *given = json_object_get(r->json, "drop"),
                 *number = json_object_get(given, "line");

    *file = json_string_value(json_object_get(given, "file"));
    *line = (int)json_integer_value(number);
    return !given || (*file && *line > 0) ? true
                                          : complain(r, "drop: accepted is the end of a path and a "
                                                        "line, {\"file\": .., \"line\": ..}");
}

/* Reads the collective, its bytes, an algorithm, its parameters and its memory. */
static bool read_algorithm(struct reader *r, struct request *q)
{
    const char *coll = json_string_value(json_object_get(r->json, "collective"));
    int kind = coll ? hud_coll_kind(coll) : -1; /* find_algorithm complains without a collective */
    json_int_t sized = kind < 0 || coll_has(kind, COLL_BLOCKS) || !coll_has(kind, COLL_UNSIZED);

    q->kind = kind;
    q->alg = NULL;
    q->shared = json_is_true(json_object_get(r->json, "shared"));
    return read_size(r, "bytes", sized, sized * MAX_BYTES, sized, &q->bytes) &&
           find_algorithm(r, q) && read_params(r, q) &&
           read_size(r, "slot_bytes", HUD_LINE, MAX_BYTES, 1 << 20, &q->slot_bytes);
}

static bool one_slot(const struct alg *a, const struct alg *b)
{
    return a->family == b->family;
}

/* Reads the number of ranks, equal on all nodes, with one core per rank. */
static bool read_ranks(struct reader *r, struct request *q)
{
    const struct machine_network *network = &q->machine->network;
    int cores = q->machine->cores;

    if (!read_int(r, "nodes", 1, MAX_NODES, 1, &q->nodes) ||
        !read_int(r, "ranks", 2, q->nodes * cores, q->nodes * cores, &q->ranks))
        return false;
    if (q->nodes > 1 && network->latency_ns <= 0)
        return complain(r, "machine: network.latency_ns: missing, which several nodes need");
    if (network->message_ns > network->latency_ns)
        return complain(r, "machine: network.message_ns: %g (accepted: up to latency_ns)",
                        network->message_ns);
    return q->ranks % q->nodes == 0
               ? true
               : complain(r, "ranks: %d (accepted: multiples of the %d nodes)", q->ranks, q->nodes);
}

/* Reads the alternate call.  Its other keys are those of the measured calls. */
static bool read_other(struct reader *r, struct request *q)
{
    const json_t *given = json_object_get(r->json, "alternate");

    if (!given)
        return true;
    if (q->nodes > 1)
        return complain(r, "alternate: not simulated on several nodes");
    int used = snprintf(r->error, r->error_bytes, "alternate: ");
    struct reader inner = { given, r->error + used, r->error_bytes - (size_t)used };
    struct request *other = hud_must(malloc(sizeof *other));
    *other = *q;
    other->other = NULL;
    q->other = other;
    if (!read_algorithm(&inner, other))
        return false;
    return !one_slot(q->alg, other->alg)
               ? true
               : complain(&inner, "%s/%s shares the slot of %s/%s, so nothing is handed over",
                          other->alg->coll, other->alg->name, q->alg->coll, q->alg->name);
}

/* Reads root_shift, which requires a loop of at least two calls.  All ranks of a loop send the same
 * data, and with two roots all ranks receive. */
static bool read_root_shift(struct reader *r, struct request *q)
{
    q->root_shift = json_is_true(json_object_get(r->json, "root_shift"));
    return !q->root_shift || (q->method == METHOD_LOOP && !q->other &&
                              q->warmup + q->repetitions > 1 && coll_has(q->kind, COLL_ONE_BUFFER))
               ? true
               : complain(r, "root_shift: accepted is a broadcast, in a loop of two calls or more");
}

static bool read_call(struct reader *r, struct request *q)
{
    static const char *const maps[] = { "core", "numa", "socket", NULL };
    json_int_t seed;
    int map;
    bool good =
        read_ranks(r, q) && read_algorithm(r, q) &&
        read_int(r, "root", 0, q->ranks - 1, 0, &q->root) && read_word(r, "map", maps, &map) &&
        read_word(r, "method", request_methods, &q->method) &&
        read_word(r, "placement", request_placements, &q->placement) &&
        read_int(r, "repetitions", 1, MAX_REPETITIONS, 5, &q->repetitions) &&
        read_int(r, "warmup", 0, MAX_REPETITIONS, 1, &q->warmup) &&
        read_whole(r, "seed", 0, INT64_MAX, 1, &seed) && read_levels_off(r, &q->levels_off) &&
        read_skew(r, &q->skew_ns) && read_drop(r, &q->drop_file, &q->drop_line);

    if (good) {
        q->trace = json_is_true(json_object_get(r->json, "trace"));
        q->map = maps[map];
        q->seed = (uint64_t)seed;
    }
    return good && read_other(r, q) && read_root_shift(r, q);
}

bool request_read(const json_t *json, struct request *request, char *error, size_t error_bytes)
{
    struct reader r = { .json = json, .error = error, .error_bytes = error_bytes };
    size_t used = (size_t)snprintf(error, error_bytes, "machine: ");

    *request = (struct request){ .machine = hud_machine_read(json_object_get(json, "machine"),
                                                             error + used, error_bytes - used) };
    if (!request->machine || (json_object_get(json, "collective") && !read_call(&r, request))) {
        request_free(request);
        return false;
    }
    return true;
}

void request_free(struct request *request)
{
    hud_machine_free(request->machine);
    request->machine = NULL;
    free(request->other);
    request->other = NULL;
}
