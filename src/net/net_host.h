/* SPDX-License-Identifier: BSD-3-Clause */
/* net_host.h - messages of the host (struct hud_messages).  Included only by net.h. */

/* One of this rank's messages. */
struct net_message {
    void *pending; /* the host's */
    size_t bytes;
    bool active, receives;
};

struct net {
    struct net_map map;
    const struct hud_messages *host;
    void *arg; /* for it */
    struct net_message *message;
    int messages;                 /* of them */
    void (*meanwhile)(void *arg); /* in every turn of a wait: what else must advance */
    void *meanwhile_arg;
    enum hud_message_kind kind;         /* of those that are started */
    int64_t max_wait_ns;                /* a wait that lasts longer fails; 0: it has no end */
    bool gave_up;                       /* a rank of another node makes no further calls */
    void (*leave)(int status);          /* leaves the call; does not return */
    uint64_t sent_messages, sent_bytes; /* so far */
};

/* net.c */
void hud_net_start(struct net *n, int id, bool sends, int rank, void *at, size_t bytes);
void hud_net_wait(struct mem *m, struct net *n, int id, const char *file, int line);
/* Tells the ranks of other nodes that this one makes no further calls, for that reason. */
void hud_net_tell(struct net *n, int status);
/* Ends the messages of a call that was left: none of them is complete.  There is no other call. */
void hud_net_end(struct net *n);
/* With which status a rank of another node has ended its calls; 0: none is known to. */
int hud_net_ended(struct net *n);

NET_FN const struct net_map *net_map(const struct net *n)
{
    return &n->map;
}

NET_FN void net_send(struct mem *m, struct net *n, int id, int rank, enum net_tag tag,
                     const void *from, size_t bytes)
{
    (void)m, (void)tag;
    hud_net_start(n, id, true, rank, (void *)(uintptr_t)from, bytes);
    n->sent_messages++;
    n->sent_bytes += bytes;
}

NET_FN void net_receive(struct mem *m, struct net *n, int id, int rank, enum net_tag tag, void *to,
                        size_t bytes)
{
    (void)m, (void)tag;
    hud_net_start(n, id, false, rank, to, bytes);
}

NET_FN void net_sent(struct mem *m, struct net *n, int id)
{
    hud_net_wait(m, n, id, __FILE__, __LINE__);
}

NET_FN void net_arrived(struct mem *m, struct net *n, int id)
{
    hud_net_wait(m, n, id, __FILE__, __LINE__);
}

NET_FN void net_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own)
{
    (void)m;
    n->leave(theirs > own ? HUD_ERR_TRUNCATE : HUD_ERR_UNLIKE);
}

/* A wait knows its place in the source, as one of mem.h does. */
#define net_sent(m, n, id) hud_net_wait(m, n, id, __FILE__, __LINE__)
#define net_arrived(m, n, id) hud_net_wait(m, n, id, __FILE__, __LINE__)
