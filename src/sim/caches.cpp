/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caches.cpp - a directory of segments, stretches of bytes that the same caches have, and per cache a queue of uses.
 *
 * A use stamps all that it touches.  The oldest entry of a cache's queue therefore says where its least recently used bytes are: those in that
 * stretch which still bear the entry's stamp; the others have been used, or lost, since.
 */
#include "sim/caches.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace
{

enum { MEMORY = -1 };

struct Copy {
    int cache; /* private ones by core, then shared ones by unit */
    uint64_t stamp;
};

struct Segment {
    uintptr_t end = 0;
    int newest = MEMORY; /* the cache that is newer than memory */
    std::vector<Copy> copies;

    Copy *of(int cache)
    {
        for (Copy &copy : copies)
            if (copy.cache == cache)
                return &copy;
        return nullptr;
    }

    bool alike(const Segment &other) const
    {
        return newest == other.newest && std::equal(copies.begin(), copies.end(), other.copies.begin(), other.copies.end(),
                                                    [](const Copy &a, const Copy &b) { return a.cache == b.cache && a.stamp == b.stamp; });
    }
};

using Segments = std::map<uintptr_t, Segment>; /* by their first byte; disjoint */

struct Use {
    uintptr_t first, end;
    uint64_t stamp;
};

struct Cache {
    int core = 0; /* one that has it: as far from any other as the cache is */
    size_t room = 0, held = 0;
    std::deque<Use> uses;
    size_t tidy_at = 64; /* as many uses */
};

} // namespace

struct sim_caches {
    caches_shape shape;
    std::vector<Cache> caches;
    Segments segments;
    std::map<uintptr_t, int> homes; /* the node of what begins there */
    uint64_t stamp = 0;

    Cache &cache_at(int number)
    {
        return caches[(size_t)number];
    }

    int shared_of(int core) const
    {
        return shape.cores + shape.unit[core];
    }

    /* ---- segments ---- */

    /* The first segment at or after `at`; none holds that byte in its middle any more. */
    Segments::iterator cut(uintptr_t at)
    {
        auto next = segments.lower_bound(at);

        if (next == segments.begin())
            return next;
        auto before = std::prev(next);
        if (before->second.end <= at)
            return next;
        Segment right = before->second;
        before->second.end = at;
        return segments.emplace_hint(next, at, std::move(right));
    }

    /* Segments that cover [first, end) and no more; what nobody had is one. */
    std::pair<Segments::iterator, Segments::iterator> segments_of(uintptr_t first, uintptr_t end)
    {
        cut(first);
        auto after = cut(end);
        auto next = segments.lower_bound(first);

        for (uintptr_t at = first; at < end; at = next->second.end, ++next)
            if (next == after || next->first > at) {
                next = segments.emplace_hint(next, at, Segment());
                auto follows = std::next(next);
                next->second.end = follows == after ? end : follows->first;
            }
        return { segments.lower_bound(first), after };
    }

    /* Neighbours that are alike become one, and those that nobody has none. */
    void join(uintptr_t first, uintptr_t end)
    {
        auto s = segments.lower_bound(first);

        if (s != segments.begin())
            --s;
        while (s != segments.end() && s->first <= end) {
            if (s->second.copies.empty()) {
                s = segments.erase(s);
                continue;
            }
            auto next = std::next(s);
            if (next == segments.end() || next->first != s->second.end || !s->second.alike(next->second)) {
                s = next;
                continue;
            }
            s->second.end = next->second.end;
            segments.erase(next);
        }
    }

    void hold(Segments::iterator segment, int cache)
    {
        Copy *copy = segment->second.of(cache);

        if (copy) {
            copy->stamp = stamp;
            return;
        }
        segment->second.copies.push_back({ cache, stamp });
        cache_at(cache).held += segment->second.end - segment->first;
    }

    void drop(Segments::iterator segment, int cache)
    {
        auto &copies = segment->second.copies;

        copies.erase(copies.begin() + (segment->second.of(cache) - copies.data()));
        cache_at(cache).held -= segment->second.end - segment->first;
    }

    /* Memory has it. */
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

    /* Forgets uses of which nothing is left. */
    void tidy(Cache &cache, int number)
    {
        auto gone = [&](const Use &use) {
            auto s = segments.upper_bound(use.first);
            if (s != segments.begin())
                --s;
            for (; s != segments.end() && s->first < use.end; ++s) {
                const Copy *copy = s->second.end > use.first ? s->second.of(number) : nullptr;
                if (copy && copy->stamp == use.stamp)
                    return false;
            }
            return true;
        };

        cache.uses.erase(std::remove_if(cache.uses.begin(), cache.uses.end(), gone), cache.uses.end());
        cache.tidy_at = 2 * cache.uses.size() + 64;
    }

    /* A cache loses a segment. */
    void give_up(Segments::iterator segment, int cache, caches_given_up *given_up)
    {
        double bytes = (double)(segment->second.end - segment->first);

        drop(segment, cache);
        if (segment->second.newest != cache)
            return;
        if (cache >= shape.cores) {
            segment->second.newest = MEMORY;
            given_up->node_bytes[node_of(segment->first)] += bytes;
            return;
        }
        int shared = shared_of(cache);
        segment->second.newest = shared;
        hold(segment, shared);
        note_use(shared, segment->first, segment->second.end);
        given_up->shared_bytes += bytes;
    }

    void make_room(int number, caches_given_up *given_up)
    {
        while (cache_at(number).held > cache_at(number).room) {
            Use oldest = cache_at(number).uses.front();
            cache_at(number).uses.pop_front();
            cut(oldest.first);
            cut(oldest.end);
            for (auto s = segments.lower_bound(oldest.first); s != segments.end() && s->first < oldest.end; ++s) {
                const Copy *copy = s->second.of(number);
                size_t surplus = cache_at(number).held - std::min(cache_at(number).held, cache_at(number).room);
                if (!copy || copy->stamp != oldest.stamp)
                    continue;
                if (surplus == 0) {
                    cache_at(number).uses.push_front({ s->first, oldest.end, oldest.stamp });
                    break;
                }
                if (surplus < s->second.end - s->first)
                    cut(s->first + surplus);
                give_up(s, number, given_up);
            }
            join(oldest.first, oldest.end);
        }
    }

    /* ---- where bytes are ---- */

    int node_of(uintptr_t at) const
    {
        auto next = homes.upper_bound(at);

        return next == homes.begin() ? 0 : std::prev(next)->second;
    }

    caches_place place_of(int core, int cache) const
    {
        if (cache >= shape.cores)
            return { CACHES_UNIT, cache - shape.cores };
        return { cache == core ? CACHES_OWN : CACHES_CORE, cache };
    }

    caches_place to_read(int core, Segment &s, uintptr_t first) const
    {
        if (s.of(core))
            return place_of(core, core);
        if (s.newest != MEMORY)
            return place_of(core, s.of(shared_of(core)) ? shared_of(core) : s.newest);
        if (s.of(shared_of(core)))
            return place_of(core, shared_of(core));
        return { CACHES_NODE, node_of(first) };
    }

    caches_place to_write(int core, Segment &s, uintptr_t first)
    {
        int farthest = MEMORY, far = -1;

        for (const Copy &copy : s.copies) {
            bool own = copy.cache == core || copy.cache == shared_of(core);
            int apart = own ? 0 : shape.apart(shape.where, core, cache_at(copy.cache).core);
            if (apart > far || (apart == far && copy.cache < farthest)) {
                far = apart;
                farthest = copy.cache;
            }
        }
        return farthest == MEMORY ? caches_place{ CACHES_NODE, node_of(first) } : place_of(core, farthest);
    }
};

/* ---- the calls ---- */

sim_caches *hud_caches_create(const caches_shape *shape)
{
    sim_caches *c = new sim_caches;

    c->shape = *shape;
    c->caches.resize((size_t)(shape->cores + shape->units));
    for (int core = 0; core < shape->cores; core++) {
        c->cache_at(core).core = c->cache_at(c->shared_of(core)).core = core;
        c->cache_at(core).room = shape->private_bytes;
        c->cache_at(c->shared_of(core)).room = shape->shared_bytes;
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

size_t hud_caches_find(sim_caches *c, int core, uintptr_t first, size_t bytes, bool write, caches_place *place)
{
    Segments &segments = c->segments;
    auto s = segments.upper_bound(first);
    auto home = c->homes.upper_bound(first);
    uintptr_t at = first, end = std::min(first + bytes, home == c->homes.end() ? UINTPTR_MAX : home->first);

    if (s != segments.begin() && std::prev(s)->second.end > first)
        --s;
    while (at < end) {
        Segment nobody, &here = s == segments.end() || s->first > at ? nobody : s->second;
        caches_place found = write ? c->to_write(core, here, at) : c->to_read(core, here, at);
        if (at == first)
            *place = found;
        else if (found.kind != place->kind || found.of != place->of)
            break;
        if (&here == &nobody) {
            at = s == segments.end() ? end : s->first;
        } else {
            at = here.end;
            ++s;
        }
    }
    return std::min(at, end) - first;
}

void hud_caches_read(sim_caches *c, int core, uintptr_t first, size_t bytes, caches_given_up *given_up)
{
    int shared = c->shared_of(core);
    auto range = c->segments_of(first, first + bytes);
    std::vector<int> touched = { core, shared };

    c->stamp++;
    for (auto s = range.first; s != range.second; ++s) {
        int newest = s->second.newest;
        if (newest != MEMORY && newest != core && newest < c->shape.cores) {
            s->second.newest = c->shared_of(newest);
            c->hold(s, s->second.newest);
            if (std::find(touched.begin(), touched.end(), s->second.newest) == touched.end())
                touched.push_back(s->second.newest);
        }
        if (!s->second.of(core))
            c->hold(s, shared);
        c->hold(s, core);
    }
    c->join(first, first + bytes);
    for (int cache : touched)
        c->note_use(cache, first, first + bytes);
    for (int cache : touched)
        c->make_room(cache, given_up);
    c->make_room(shared, given_up); /* what the private cache has given up came to it */
}

void hud_caches_write(sim_caches *c, int core, uintptr_t first, size_t bytes, caches_given_up *given_up)
{
    auto range = c->segments_of(first, first + bytes);

    c->stamp++;
    for (auto s = range.first; s != range.second; ++s) {
        c->drop_all(s);
        c->hold(s, core);
        s->second.newest = core;
    }
    c->join(first, first + bytes);
    c->note_use(core, first, first + bytes);
    c->make_room(core, given_up);
    c->make_room(c->shared_of(core), given_up);
}

void hud_caches_write_past(sim_caches *c, uintptr_t first, size_t bytes)
{
    auto range = c->segments_of(first, first + bytes);

    for (auto s = range.first; s != range.second; ++s)
        c->drop_all(s);
    c->join(first, first + bytes);
}

size_t hud_caches_private_bytes(const sim_caches *c, int core)
{
    return c->caches[(size_t)core].held;
}

size_t hud_caches_shared_bytes(const sim_caches *c, int unit)
{
    return c->caches[(size_t)(c->shape.cores + unit)].held;
}
