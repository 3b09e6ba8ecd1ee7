/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caches.cpp - a directory of segments, which are ranges of bytes that the same caches have, and a
 * queue of uses per cache.
 *
 * A use stamps all bytes that it touches.  So the oldest entry of a cache's queue leads to its
 * least recently used bytes: the bytes of the entry that still have its stamp.  The others have
 * been used again, or evicted, since.
 */
#include "lab/sim/caches.h"
#include "lab/sim/segments.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

using sim::Copy;
using sim::MEMORY;
using sim::Segment;
using sim::Segments;

namespace
{

struct Use {
    uintptr_t first, end;
    uint64_t stamp;
};

struct Cache {
    int core = 0; /* a core that has it: as far from any other core as the cache is */
    size_t room = 0, held = 0;
    std::deque<Use> uses;
    size_t tidy_at = 64; /* number of uses */
};

} // namespace

struct sim_caches {
    caches_shape shape;
    std::vector<Cache> caches;
    Segments segments;
    std::map<uintptr_t, int> homes; /* node of the bytes from this address on */
    uint64_t stamp = 0;

    Cache &cache_at(int number)
    {
        return caches[(size_t)number];
    }

    /* Returns the number of a private cache.  Nearest caches by core come first, then private
     * caches by core, then shared caches by unit. */
    int private_of(int core) const
    {
        return shape.cores + core;
    }

    int shared_of(int core) const
    {
        return 2 * shape.cores + shape.unit[core];
    }

    bool is_private(int cache) const
    {
        return cache >= shape.cores && cache < 2 * shape.cores;
    }

    void hold(Segments::iterator segment, int cache)
    {
        Copy *copy = segment->second.of(cache);

        if (copy) {
            copy->stamp = stamp;
            return;
        }
        segment->second.copies.insert(segment->second.place_of(cache), { cache, stamp });
        cache_at(cache).held += segment->second.end - segment->first;
    }

    void drop(Segments::iterator segment, int cache)
    {
        segment->second.copies.erase(segment->second.place_of(cache));
        cache_at(cache).held -= segment->second.end - segment->first;
    }

    /* Drops all copies of a segment, so that only memory has the segment. */
    void drop_all(Segments::iterator segment)
    {
        while (!segment->second.copies.empty())
            drop(segment, segment->second.copies.back().cache);
        segment->second.newest = MEMORY;
    }

    /* ---- room ---- */

    void note_use(int cache, uintptr_t first, uintptr_t end)
    {
        Cache &c = cache_at(cache);

        c.uses.push_back({ first, end, stamp });
        if (c.uses.size() > c.tidy_at)
            tidy(c, cache);
    }

    /* Removes uses without any bytes left. */
    void tidy(Cache &cache, int number)
    {
        auto gone = [&](const Use &use) {
            auto s = segments.map.upper_bound(use.first);
            if (s != segments.map.begin())
                --s;
            for (; s != segments.map.end() && s->first < use.end; ++s) {
                const Copy *copy = s->second.end > use.first ? s->second.of(number) : nullptr;
                if (copy && copy->stamp == use.stamp)
                    return false;
            }
            return true;
        };

        cache.uses.erase(std::remove_if(cache.uses.begin(), cache.uses.end(), gone),
                         cache.uses.end());
        cache.tidy_at = 2 * cache.uses.size() + 64;
    }

    /* Evicts a segment from a cache. */
    void give_up(Segments::iterator segment, int cache, caches_given_up *given_up)
    {
        double bytes = (double)(segment->second.end - segment->first);

        bool newest = segment->second.newest == cache;
        drop(segment, cache);
        if (newest && !is_private(cache))
            write_back(segment, given_up);
        if (!is_private(cache) || (!newest && !shape.victim))
            return;
        int shared = shared_of(cache_at(cache).core);
        hold(segment, shared);
        note_use(shared, segment->first, segment->second.end);
        if (newest) {
            segment->second.newest = shared;
            given_up->shared_bytes += bytes;
        }
    }

    void write_back(Segments::iterator segment, caches_given_up *given_up)
    {
        segment->second.newest = MEMORY;
        given_up->node_bytes[node_of(segment->first)] +=
            (double)(segment->second.end - segment->first);
    }

    /* Handles a read of bytes that the private cache of another core has newer than memory. */
    void hand_on(Segments::iterator segment, int reader, std::vector<int> &used,
                 caches_given_up *given_up)
    {
        int writer = cache_at(segment->second.newest).core;

        if (shape.dirty == CACHES_KEEP)
            return;
        if (shape.dirty == CACHES_WRITE_BACK && shape.unit[writer] != shape.unit[reader]) {
            write_back(segment, given_up);
            return;
        }
        int shared = segment->second.newest = shared_of(writer);
        hold(segment, shared);
        if (std::find(used.begin(), used.end(), shared) == used.end())
            used.push_back(shared);
    }

    void make_room(int number, caches_given_up *given_up)
    {
        while (cache_at(number).held > cache_at(number).room) {
            Use oldest = cache_at(number).uses.front();
            cache_at(number).uses.pop_front();
            segments.cut(oldest.first);
            segments.cut(oldest.end);
            for (auto s = segments.map.lower_bound(oldest.first);
                 s != segments.map.end() && s->first < oldest.end; ++s) {
                const Copy *copy = s->second.of(number);
                size_t surplus =
                    cache_at(number).held - std::min(cache_at(number).held, cache_at(number).room);
                if (!copy || copy->stamp != oldest.stamp)
                    continue;
                if (surplus == 0) {
                    cache_at(number).uses.push_front({ s->first, oldest.end, oldest.stamp });
                    break;
                }
                if (surplus < s->second.end - s->first)
                    segments.cut(s->first + surplus);
                give_up(s, number, given_up);
            }
            segments.join(oldest.first, oldest.end);
        }
    }

    /* ---- where bytes are ---- */

    int node_of(uintptr_t at) const
    {
        auto next = homes.upper_bound(at);

        return next == homes.begin() ? 0 : std::prev(next)->second;
    }

    caches_place place_of(int core, Segment &s, int cache) const
    {
        int of = cache - shape.cores;

        if (!is_private(cache))
            return { CACHES_UNIT, of - shape.cores, false, 0 };
        return { of == core ? CACHES_OWN : CACHES_CORE, of, s.of(of) != nullptr, 0 };
    }

    caches_place to_read(int core, Segment &s, uintptr_t first) const
    {
        if (s.of(private_of(core)))
            return place_of(core, s, private_of(core));
        if (s.of(shared_of(core)))
            return place_of(core, s, shared_of(core));
        if (s.newest != MEMORY)
            return place_of(core, s, s.newest);
        return { CACHES_NODE, node_of(first), false, 0 };
    }

    caches_place to_write(int core, Segment &s, uintptr_t first)
    {
        int farthest = MEMORY, far = -1;

        for (const Copy &copy : s.copies) {
            bool own = copy.cache == private_of(core) || copy.cache == shared_of(core);
            int distance = own ? 0 : shape.distance(shape.where, core, cache_at(copy.cache).core);
            if (copy.cache >= shape.cores &&
                (distance > far || (distance == far && copy.cache < farthest))) {
                far = distance;
                farthest = copy.cache;
            }
        }
        caches_place place = { CACHES_NODE, node_of(first), false, 0 };
        if (farthest != MEMORY)
            place = place_of(core, s, farthest);
        int all = s.count(shape.cores, 2 * shape.cores);
        bool written = all == 1 && is_private(s.newest);
        place.readers = s.of(private_of(core)) ? all - 1 : written ? 0 : all;
        return place;
    }

    /* Puts a segment into the core's own caches. */
    void hold_own(Segments::iterator segment, int core)
    {
        if (shape.nearest_bytes != 0)
            hold(segment, core);
        hold(segment, private_of(core));
    }

    /* Notes the use of bytes by the core's own caches and the caches in `used`, and evicts other
     * bytes. */
    void end_use(int core, std::vector<int> used, uintptr_t first, size_t bytes,
                 caches_given_up *given_up)
    {
        used.push_back(private_of(core));
        if (shape.nearest_bytes != 0)
            used.push_back(core);
        segments.join(first, first + bytes);
        for (int cache : used)
            note_use(cache, first, first + bytes);
        for (int cache : used)
            make_room(cache, given_up);
        /* The private cache may have evicted bytes to the shared cache. */
        make_room(shared_of(core), given_up);
    }
};

/* ---- the calls ---- */

sim_caches *hud_caches_create(const caches_shape *shape)
{
    sim_caches *c = new sim_caches;

    c->shape = *shape;
    c->caches.resize((size_t)(2 * shape->cores + shape->units));
    for (int core = 0; core < shape->cores; core++) {
        Cache &nearest = c->cache_at(core), &own = c->cache_at(c->private_of(core)),
              &shared = c->cache_at(c->shared_of(core));
        nearest.core = own.core = shared.core = core;
        nearest.room = shape->nearest_bytes;
        own.room = shape->private_bytes;
        shared.room = shape->shared_bytes;
    }
    return c;
}

void hud_caches_free(sim_caches *c)
{
    delete c;
}

void hud_caches_home(sim_caches *c, uintptr_t first, size_t bytes, int node)
{
    int after = c->node_of(first + bytes);

    c->homes.erase(c->homes.lower_bound(first), c->homes.lower_bound(first + bytes));
    c->homes[first] = node;
    c->homes[first + bytes] = after;
}

int hud_caches_node(const sim_caches *c, uintptr_t at)
{
    return c->node_of(at);
}

size_t hud_caches_find(sim_caches *c, int core, uintptr_t first, size_t bytes, bool write,
                       caches_place *place)
{
    auto &map = c->segments.map;
    auto s = map.upper_bound(first);
    auto home = c->homes.upper_bound(first);
    uintptr_t at = first,
              end = std::min(first + bytes, home == c->homes.end() ? UINTPTR_MAX : home->first);

    if (s != map.begin() && std::prev(s)->second.end > first)
        --s;
    while (at < end) {
        Segment nobody, &here = s == map.end() || s->first > at ? nobody : s->second;
        caches_place found = write ? c->to_write(core, here, at) : c->to_read(core, here, at);
        if (at == first)
            *place = found;
        else if (found.kind != place->kind || found.of != place->of || found.near != place->near ||
                 found.readers != place->readers)
            break;
        if (&here == &nobody) {
            at = s == map.end() ? end : s->first;
        } else {
            at = here.end;
            ++s;
        }
    }
    return std::min(at, end) - first;
}

void hud_caches_read(sim_caches *c, int core, uintptr_t first, size_t bytes,
                     caches_given_up *given_up)
{
    int own = c->private_of(core), shared = c->shared_of(core);
    auto range = c->segments.cover(first, first + bytes);
    std::vector<int> used = { shared };

    c->stamp++;
    for (auto s = range.first; s != range.second; ++s) {
        if (s->second.newest != own && c->is_private(s->second.newest))
            c->hand_on(s, core, used, given_up);
        if (!s->second.of(own) && (!c->shape.victim || s->second.of(shared)))
            c->hold(s, shared);
        c->hold_own(s, core);
    }
    c->end_use(core, used, first, bytes, given_up);
}

void hud_caches_write(sim_caches *c, int core, uintptr_t first, size_t bytes,
                      caches_given_up *given_up)
{
    auto range = c->segments.cover(first, first + bytes);

    c->stamp++;
    for (auto s = range.first; s != range.second; ++s) {
        c->drop_all(s);
        c->hold_own(s, core);
        s->second.newest = c->private_of(core);
    }
    c->end_use(core, {}, first, bytes, given_up);
}

void hud_caches_write_nontemporal(sim_caches *c, uintptr_t first, size_t bytes)
{
    auto range = c->segments.cover(first, first + bytes);

    for (auto s = range.first; s != range.second; ++s)
        c->drop_all(s);
    c->segments.join(first, first + bytes);
}

size_t hud_caches_nearest_bytes(const sim_caches *c, int core)
{
    return c->caches[(size_t)core].held;
}

size_t hud_caches_private_bytes(const sim_caches *c, int core)
{
    return c->caches[(size_t)c->private_of(core)].held;
}

size_t hud_caches_shared_bytes(const sim_caches *c, int unit)
{
    return c->caches[(size_t)(2 * c->shape.cores + unit)].held;
}
