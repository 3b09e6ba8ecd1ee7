/* SPDX-License-Identifier: BSD-3-Clause */
/* net_sim.h - implements net.h with messages between fibers, which the race checker of src/check
 * sees.  Included only by net.h.  As in mem_sim.h, every call first records its place in the
 * source. */

void hud_sim_send(struct mem *m, struct net *n, int id, int rank, unsigned tag, const void *from,
                  size_t bytes);
void hud_sim_receive(struct mem *m, struct net *n, int id, int rank, unsigned tag, void *to,
                     size_t bytes);
void hud_sim_sent(struct mem *m, struct net *n, int id);
void hud_sim_arrived(struct mem *m, struct net *n, int id);
void hud_sim_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own);
const struct net_map *hud_sim_map(const struct net *n);

NET_FN const struct net_map *net_map(const struct net *n)
{
    return hud_sim_map(n);
}

NET_FN void net_send(struct mem *m, struct net *n, int id, int rank, unsigned tag, const void *from,
                     size_t bytes)
{
    hud_sim_send(m, n, id, rank, tag, from, bytes);
}

NET_FN void net_receive(struct mem *m, struct net *n, int id, int rank, unsigned tag, void *to,
                        size_t bytes)
{
    hud_sim_receive(m, n, id, rank, tag, to, bytes);
}

NET_FN void net_sent(struct mem *m, struct net *n, int id)
{
    hud_sim_sent(m, n, id);
}

NET_FN void net_arrived(struct mem *m, struct net *n, int id)
{
    hud_sim_arrived(m, n, id);
}

NET_FN void net_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own)
{
    hud_sim_refuse(m, n, theirs, own);
}

#define net_send(...) (hud_sim_at(__FILE__, __LINE__), net_send(__VA_ARGS__))
#define net_receive(...) (hud_sim_at(__FILE__, __LINE__), net_receive(__VA_ARGS__))
#define net_sent(...) (hud_sim_at(__FILE__, __LINE__), net_sent(__VA_ARGS__))
#define net_arrived(...) (hud_sim_at(__FILE__, __LINE__), net_arrived(__VA_ARGS__))
