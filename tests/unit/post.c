/* SPDX-License-Identifier: BSD-3-Clause */
/* post.c - see post.h. */
#include "post.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EAGER_BYTES = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Message number n from a sender to a receiver, of one kind, goes to the receive with the same
 * number. */
struct end {
    struct end *next;
    int team, from, to, kind, number;
    bool sends;
    bool taken; /* the receiver has taken the message of this send */
    bool told;  /* the sender knows that this send has ended */
    char *at;   /* a copy, for a send */
    size_t bytes;
};
static struct end *sent;
static int numbers[2][RANKS_TEAMS][RANKS_MAX][RANKS_MAX][HUD_MESSAGE_KINDS];
struct post_office post_office = { .broken_rank = -1 };

static struct end *start(void *arg, int other, int kind, const void *at, size_t bytes, bool sends)
{
    struct rank_team *t = arg;
    struct end *e = calloc(1, sizeof *e);
    int self = t->of->rank;

    if (!e || kind >= HUD_MESSAGE_KINDS)
        abort();
    *e = (struct end){ .team = t->number,
                       .from = sends ? self : other,
                       .to = sends ? other : self,
                       .kind = kind,
                       .sends = sends,
                       .at = (char *)(uintptr_t)at,
                       .bytes = bytes };
    pthread_mutex_lock(&lock);
    e->number = numbers[sends][e->team][e->from][e->to][kind]++;
    post_office.active++;
    if (sends) {
        e->at = malloc(bytes + 1);
        if (bytes != 0)
            memcpy(e->at, at, bytes);
        e->next = sent;
        sent = e;
    }
    pthread_mutex_unlock(&lock);
    return e;
}

static int start_send(void *arg, int rank, int kind, const void *from, size_t bytes, void **pending)
{
    *pending = start(arg, rank, kind, from, bytes, true);
    return 0;
}

static int start_receive(void *arg, int rank, int kind, void *to, size_t bytes, void **pending)
{
    *pending = start(arg, rank, kind, to, bytes, false);
    return 0;
}

/* Removes a send from the list and frees it. The lock must be held. */
static void drop(struct end *e)
{
    struct end **at = &sent;

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    free(e->at);
    free(e);
}

/* Frees a receive. A send stays in the list for its receiver. */
static void forget(struct end *e)
{
    if (!e->sends)
        free(e);
}

static bool take(struct end *e, size_t *bytes, bool *fits)
{
    struct end *s = sent;

    while (s && (s->team != e->team || s->from != e->from || s->to != e->to || s->kind != e->kind ||
                 s->number != e->number || s->taken))
        s = s->next;
    if (!s)
        return false;
    *bytes = s->bytes;
    *fits = s->bytes <= e->bytes;
    if (s->bytes != 0 && *fits)
        memcpy(e->at, s->at, s->bytes);
    s->taken = true;
    if (s->told)
        drop(s);
    free(e);
    return true;
}

/* Reports whether a send is complete. A long send is complete only after it was received. */
static bool is_sent(struct end *e)
{
    bool is = e->taken || e->bytes <= EAGER_BYTES;

    e->told = is;
    if (e->taken)
        drop(e);
    return is;
}

static int test(void *arg, void **pending, int *done, size_t *bytes)
{
    struct end *e = *pending;
    bool fits = true;

    const struct rank_team *t = arg;
    pthread_mutex_lock(&lock);
    int failed = post_office.broken &&
                 (post_office.broken_rank < 0 || post_office.broken_rank == t->of->rank);
    *done = 0;
    if (!failed)
        *done = e->sends ? is_sent(e) : take(e, bytes, &fits);
    else
        forget(e);
    post_office.active -= *done || failed;
    pthread_mutex_unlock(&lock);
    return failed ? HUD_ERR_FAILED : fits ? HUD_OK : HUD_ERR_TRUNCATE;
}

static int look(void *arg, int kind, int *there, size_t *bytes)
{
    const struct rank_team *t = arg;

    pthread_mutex_lock(&lock);
    const struct end *s = sent;
    while (s && (s->team != t->number || s->to != t->of->rank || s->kind != kind || s->taken))
        s = s->next;
    *there = s != NULL;
    *bytes = s ? s->bytes : 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void cancel(void *arg, void **pending)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    forget(*pending);
    post_office.cancelled++;
    post_office.active--;
    pthread_mutex_unlock(&lock);
}

static int open_way(void *arg, void **pending)
{
    (void)arg;
    *pending = NULL;
    __atomic_fetch_add(&post_office.open_calls, 1, __ATOMIC_SEQ_CST);
    return 0;
}

static int opened(void *arg, void **pending, int *done)
{
    (void)arg, (void)pending;
    *done = 1;
    return 0;
}

const struct hud_messages post_messages = { open_way, opened, start_send, start_receive,
                                            test,     look,   cancel };

void post_begin(void)
{
    memset(numbers, 0, sizeof numbers);
    post_office.open_calls = post_office.cancelled = post_office.active = 0;
    post_office.broken = false;
}

void post_break(void)
{
    pthread_mutex_lock(&lock);
    post_office.broken = true;
    pthread_mutex_unlock(&lock);
}

void post_end(void)
{
    while (sent) {
        struct end *e = sent;
        sent = e->next;
        free(e->at);
        free(e);
    }
}
