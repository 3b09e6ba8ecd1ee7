/* SPDX-License-Identifier: BSD-3-Clause */
/* net_host.h - implements net.h with messages of the host (struct hud_messages).  Included only by
 * net.h. */

/* A message of this rank. */
struct net_message {
    void *pending; /* the host's request */
    size_t bytes;
    bool active, receives;
};

struct net {
    struct net_map map;
    const struct hud_messages *host;
    void *arg; /* argument of the host's functions */
    struct net_message *message;
    int messages;                 /* length of `message` */
    void (*meanwhile)(void *arg); /* called in every turn of a wait, to advance other work */
    void *meanwhile_arg;
    enum hud_message_kind kind;         /* kind of the messages that are started */
    int64_t max_wait_ns;                /* a wait that lasts longer fails; 0: no limit */
    bool gave_up;                       /* a rank of another node makes no further calls */
    void (*leave)(int status);          /* leaves the call, and does not return */
    uint64_t sent_messages, sent_bytes; /* numbers so far */
};

/* Starts a message.  hud_net_wait() waits until the message is complete (net.c). */
void hud_net_start(struct net *n, int id, bool sends, int rank, void *at, size_t bytes);
void hud_net_wait(struct mem *m, struct net *n, int id, const char *file, int line);
/* Sends the ranks of other nodes the status with which this rank ends: it makes no further calls.
 * */
void hud_net_send_end(struct net *n, int status);
/* Ends the messages of a call that was left.  They never become complete, and no other call
 * follows. */
void hud_net_end(struct net *n);
/* Returns the status with which a rank of another node has ended its calls, and 0 if none is known
 * to have done so. */
int hud_net_ended(struct net *n);

NET_FN const struct net_map *net_map(const struct net *n)
{
    return &n->map;
}

NET_FN void net_send(struct mem *m, struct net *n, int id, int rank, unsigned tag, const void *from,
                     size_t bytes)
{
    (void)m, (void)tag;
    hud_net_start(n, id, true, rank, (void *)(uintptr_t)from, bytes);
    n->sent_messages++;
    n->sent_bytes += bytes;
}

NET_FN void net_receive(struct mem *m, struct net *n, int id, int rank, unsigned tag, void *to,
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

/* Each wait knows its place in the source, as a wait of mem.h does. */
#define net_sent(m, n, id) hud_net_wait(m, n, id, __FILE__, __LINE__)
#define net_arrived(m, n, id) hud_net_wait(m, n, id, __FILE__, __LINE__)
