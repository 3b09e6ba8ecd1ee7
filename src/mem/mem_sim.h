/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem_sim.h - implements the functions of mem.h as events on the rank's fiber, which the race
 * checker of src/check sees.  Included only by mem.h.
 *
 * Every call first records its place in the source, so that a report names both lines of a race.
 * The macros at the end wrap the functions of the same names, as a macro does not expand within
 * itself.
 */

void hud_sim_at(const char *file, int line); /* names the place of the next call */
int hud_sim_rank(const struct mem *m);
int hud_sim_size(const struct mem *m);
void *hud_sim_slot(struct mem *m,
                   int rank); /* an address for these functions only: a plain access faults */
void *hud_sim_window(struct mem *m, int rank); /* an address like that of hud_sim_slot */
void hud_sim_post(struct mem *m, mem_flag *f, uint64_t v);
void hud_sim_post_cell(struct mem *m, mem_cell *c, uint64_t v);
uint64_t hud_sim_await_cell(struct mem *m, mem_cell *c, uint64_t min);
uint64_t hud_sim_peek(struct mem *m, mem_flag *f);
uint64_t hud_sim_await(struct mem *m, mem_flag *f, uint64_t min);
uint64_t hud_sim_add(struct mem *m, mem_flag *f, uint64_t v);
uint64_t hud_sim_get(struct mem *m, const uint64_t *word);
void hud_sim_claim(struct mem *m, const void *at, size_t bytes); /* has an effect only if there
                                                                    is a simulated clock */
void hud_sim_put(struct mem *m, uint64_t *word, uint64_t v);
size_t hud_sim_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                  size_t max_bytes);
void hud_sim_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                 size_t bytes, bool last);
void hud_sim_copy(struct mem *m, void *dst, const void *src, size_t bytes, bool last);
void hud_sim_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last);
void hud_sim_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                  size_t bytes);
uint64_t hud_sim_expose(struct mem *m, const struct hud_view *view);
size_t hud_sim_pull(struct mem *m, const struct mem_span *to, int rank, uint64_t exposed,
                    size_t offset_bytes, size_t bytes);
size_t hud_sim_push(struct mem *m, const struct mem_span *from, int rank, uint64_t exposed,
                    size_t offset_bytes, size_t bytes);

MEM_FN int mem_rank(const struct mem *m)
{
    return hud_sim_rank(m);
}

MEM_FN int mem_size(const struct mem *m)
{
    return hud_sim_size(m);
}

MEM_FN void *mem_slot(struct mem *m, int rank)
{
    return hud_sim_slot(m, rank);
}

MEM_FN void *mem_window(struct mem *m, int rank)
{
    return hud_sim_window(m, rank);
}

MEM_FN void mem_post(struct mem *m, mem_flag *f, uint64_t v)
{
    hud_sim_post(m, f, v);
}

MEM_FN uint64_t mem_peek(struct mem *m, mem_flag *f)
{
    return hud_sim_peek(m, f);
}

MEM_FN uint64_t mem_await(struct mem *m, mem_flag *f, uint64_t min)
{
    return hud_sim_await(m, f, min);
}

MEM_FN uint64_t mem_add(struct mem *m, mem_flag *f, uint64_t v)
{
    return hud_sim_add(m, f, v);
}

MEM_FN void mem_post_cell(struct mem *m, mem_cell *c, uint64_t v)
{
    hud_sim_post_cell(m, c, v);
}

MEM_FN uint64_t mem_await_cell(struct mem *m, mem_cell *c, uint64_t min)
{
    return hud_sim_await_cell(m, c, min);
}

MEM_FN uint64_t mem_get(struct mem *m, const uint64_t *word)
{
    return hud_sim_get(m, word);
}

MEM_FN void mem_put(struct mem *m, uint64_t *word, uint64_t v)
{
    hud_sim_put(m, word, v);
}

MEM_FN size_t mem_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                     size_t max_bytes)
{
    return hud_sim_in(m, dst, from, offset_bytes, max_bytes);
}

MEM_FN void mem_out_as(struct mem *m, const struct hud_view *to, const void *src,
                       size_t offset_bytes, size_t bytes, bool last)
{
    hud_sim_out(m, to, src, offset_bytes, bytes, last);
}

MEM_FN void mem_copy_as(struct mem *m, void *dst, const void *src, size_t bytes, bool last)
{
    hud_sim_copy(m, dst, src, bytes, last);
}

MEM_FN void mem_reduce_as(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                          const struct mem_span *also, const struct mem_span *from, int count,
                          size_t bytes, bool last)
{
    hud_sim_reduce(m, op, to, also, from, count, bytes, last);
}

MEM_FN void mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                     size_t bytes)
{
    hud_sim_move(m, to, from, bytes);
}

MEM_FN void mem_prefetch_own(struct mem *m, const void *at, size_t bytes)
{
    hud_sim_claim(m, at, bytes);
}

MEM_FN void mem_prefetch_message(struct mem *m, const void *at, size_t bytes)
{
    enum { WORTH_IT = 2048 };

    if (bytes >= WORTH_IT)
        hud_sim_claim(m, at, bytes);
}

/* Does nothing: back-to-back calls are simulated without this prefetch. */
MEM_FN void mem_prefetch_next(struct mem *m, mem_flag *f, uint64_t min, mem_flag *next,
                              uint64_t next_min, size_t bytes)
{
    (void)m, (void)f, (void)min, (void)next, (void)next_min, (void)bytes;
}

MEM_FN uint64_t mem_expose(struct mem *m, const struct hud_view *view)
{
    return hud_sim_expose(m, view);
}

MEM_FN size_t mem_pull(struct mem *m, const struct mem_span *to, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes)
{
    return hud_sim_pull(m, to, rank, exposed, offset_bytes, bytes);
}

MEM_FN size_t mem_push(struct mem *m, const struct mem_span *from, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes)
{
    return hud_sim_push(m, from, rank, exposed, offset_bytes, bytes);
}

#define mem_post(...) (hud_sim_at(__FILE__, __LINE__), mem_post(__VA_ARGS__))
#define mem_peek(...) (hud_sim_at(__FILE__, __LINE__), mem_peek(__VA_ARGS__))
#define mem_await(...) (hud_sim_at(__FILE__, __LINE__), mem_await(__VA_ARGS__))
#define mem_add(...) (hud_sim_at(__FILE__, __LINE__), mem_add(__VA_ARGS__))
#define mem_post_cell(...) (hud_sim_at(__FILE__, __LINE__), mem_post_cell(__VA_ARGS__))
#define mem_await_cell(...) (hud_sim_at(__FILE__, __LINE__), mem_await_cell(__VA_ARGS__))
#define mem_get(...) (hud_sim_at(__FILE__, __LINE__), mem_get(__VA_ARGS__))
#define mem_put(...) (hud_sim_at(__FILE__, __LINE__), mem_put(__VA_ARGS__))
#define mem_prefetch_own(...) (hud_sim_at(__FILE__, __LINE__), mem_prefetch_own(__VA_ARGS__))
#define mem_prefetch_message(...)                                                                  \
    (hud_sim_at(__FILE__, __LINE__), mem_prefetch_message(__VA_ARGS__))
#define mem_in(...) (hud_sim_at(__FILE__, __LINE__), mem_in(__VA_ARGS__))
#define mem_out_as(...) (hud_sim_at(__FILE__, __LINE__), mem_out_as(__VA_ARGS__))
#define mem_copy_as(...) (hud_sim_at(__FILE__, __LINE__), mem_copy_as(__VA_ARGS__))
#define mem_reduce_as(...) (hud_sim_at(__FILE__, __LINE__), mem_reduce_as(__VA_ARGS__))
#define mem_move(...) (hud_sim_at(__FILE__, __LINE__), mem_move(__VA_ARGS__))
#define mem_pull(...) (hud_sim_at(__FILE__, __LINE__), mem_pull(__VA_ARGS__))
#define mem_push(...) (hud_sim_at(__FILE__, __LINE__), mem_push(__VA_ARGS__))
