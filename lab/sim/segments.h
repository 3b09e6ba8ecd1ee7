/* SPDX-License-Identifier: BSD-3-Clause */
/* segments.h - for caches.cpp: disjoint ranges of bytes that the same caches have, ordered by their
 * first byte.  C++. */
#ifndef HUD_SIM_SEGMENTS_H
#define HUD_SIM_SEGMENTS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace sim
{

enum { MEMORY = -1 };

struct Copy {
    int cache; /* nearest and private caches by core, then shared caches by unit */
    uint64_t stamp;
};

struct Segment {
    uintptr_t end = 0;
    int newest = MEMORY;      /* the cache that is newer than memory */
    std::vector<Copy> copies; /* ordered by cache */

    std::vector<Copy>::iterator place_of(int cache)
    {
        return std::lower_bound(copies.begin(), copies.end(), cache,
                                [](const Copy &copy, int number) { return copy.cache < number; });
    }

    Copy *of(int cache)
    {
        auto at = place_of(cache);

        return at != copies.end() && at->cache == cache ? &*at : nullptr;
    }

    /* Returns how many of the caches [low, high) have it. */
    int count(int low, int high)
    {
        return (int)(place_of(high) - place_of(low));
    }

    bool alike(const Segment &other) const
    {
        return newest == other.newest &&
               std::equal(copies.begin(), copies.end(), other.copies.begin(), other.copies.end(),
                          [](const Copy &a, const Copy &b) {
                              return a.cache == b.cache && a.stamp == b.stamp;
                          });
    }
};

struct Segments {
    using iterator = std::map<uintptr_t, Segment>::iterator;

    std::map<uintptr_t, Segment> map;

    /* Splits the segment that contains `at`.  Returns the first segment at or after `at`. */
    iterator cut(uintptr_t at)
    {
        auto next = map.lower_bound(at);

        if (next == map.begin())
            return next;
        auto before = std::prev(next);
        if (before->second.end <= at)
            return next;
        Segment right = before->second;
        before->second.end = at;
        return map.emplace_hint(next, at, std::move(right));
    }

    /* Returns segments that cover exactly [first, end).  Bytes without a segment get a new
     * segment. */
    std::pair<iterator, iterator> cover(uintptr_t first, uintptr_t end)
    {
        cut(first);
        auto after = cut(end);
        auto next = map.lower_bound(first);

        for (uintptr_t at = first; at < end; at = next->second.end, ++next)
            if (next == after || next->first > at) {
                next = map.emplace_hint(next, at, Segment());
                auto follows = std::next(next);
                next->second.end = follows == after ? end : follows->first;
            }
        return { map.lower_bound(first), after };
    }

    /* Joins equal neighbours, and removes segments without a copy. */
    void join(uintptr_t first, uintptr_t end)
    {
        auto s = map.lower_bound(first);

        if (s != map.begin())
            --s;
        while (s != map.end() && s->first <= end) {
            if (s->second.copies.empty()) {
                s = map.erase(s);
                continue;
            }
            auto next = std::next(s);
            if (next == map.end() || next->first != s->second.end ||
                !s->second.alike(next->second)) {
                s = next;
                continue;
            }
            s->second.end = next->second.end;
            map.erase(next);
        }
    }
};

} // namespace sim

#endif
