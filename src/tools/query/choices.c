/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choices.c - all choices of a collective: the plans of teams of many numbers of ranks, where
 * neighbours that choose the same are one band.
 */
#include "tools/query/pieces.h"
#include "tools/query/query.h"

#include <limits.h>

/* Removes from pieces the bytes of slots and the places of windows, which differ from one number of
 * ranks to the next, and are no choice. */
static json_t *choices_of(json_t *pieces)
{
    size_t i;
    json_t *piece;

    json_array_foreach(pieces, i, piece)
    {
        json_t *serves = json_object_get(piece, "serves");
        json_object_del(serves, "slot_bytes");
        json_object_del(serves, "shared");
        json_object_del(serves, "doc");
        json_object_del(piece, "others");
    }
    return pieces;
}

static json_t *band_json(const struct query *a)
{
    return json_pack("{s:b, s:o, s:o}", "oversubscribed", a->facts.oversubscribed, "pieces",
                     choices_of(hud_pieces_json(&a->plan, &a->config, a->kind)), "ordered",
                     choices_of(hud_ordered_json(&a->plan, &a->config, a->kind)));
}

/* Appends the choices of a number of ranks.  last: the choices of the number before, or NULL.
 * Returns the appended choices. */
static json_t *add_band(const struct query *a, json_t *last, json_t *bands)
{
    json_t *band = band_json(a), *entry;

    if (last && json_equal(band, last)) {
        entry = json_array_get(bands, json_array_size(bands) - 1);
    } else {
        entry = json_copy(band);
        json_object_set_new(entry, "min_ranks", json_integer(a->ranks));
        json_array_append_new(bands, entry);
    }
    json_object_set_new(entry, "max_ranks", json_integer(a->ranks));
    json_decref(last);
    return band;
}

static json_t *bands_json(struct query *a, int max_ranks)
{
    json_t *bands = json_array(), *last = NULL;
    bool good = true;

    for (int ranks = a->q->ranks; good && ranks <= max_ranks; ranks++) {
        good = hud_query_plan(a, ranks);
        last = good ? add_band(a, last, bands) : last;
    }
    json_decref(last);
    if (good)
        return bands;
    json_decref(bands);
    return NULL;
}

int hud_choices_json(const struct hud_question *q, int max_ranks, char **json)
{
    struct query *a = NULL;

    if (!json)
        return HUD_ERR_ARGUMENT;
    *json = NULL;
    if (q && (max_ranks < q->ranks || max_ranks > INT16_MAX))
        return HUD_ERR_ARGUMENT;
    int status = hud_query_open(q, &a);
    json_t *bands = status == HUD_OK ? bands_json(a, max_ranks) : NULL;
    if (bands) {
        json_t *answer =
            json_pack("{s:s, s:s, s:i, s:b, s:b, s:o, s:o}", "collective", q->collective, "map",
                      q->map, "processors", a->processors, "direct", a->facts.direct, "quick",
                      a->facts.quick, "bands", bands, "error",
                      a->config.error[0] != '\0' ? json_string(a->config.error) : json_null());
        *json = answer ? json_dumps(answer, JSON_INDENT(2)) : NULL;
        json_decref(answer);
    }
    hud_query_close(a);
    return status == HUD_OK && !*json ? HUD_ERR_MEMORY : status;
}
