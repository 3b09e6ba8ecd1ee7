/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - nonblocking and persistent calls.  Part of huddle.h, which includes it.
 *
 * A *request* is a call that is prepared once and started any number of times.  hud_request_wait,
 * hud_team_flush and hud_team_set_up wait; the other functions do not.  A request advances within
 * hud_request_start, _test and _wait, within hud_progress, and within every blocking call of the
 * context that waits.
 *
 * Order: all members start the requests of a team, and make its blocking calls, in the same order.
 * The requests are carried out in that order, one after the other, and a blocking call after all
 * requests that were started before it.  Requests of different teams are independent; therefore
 * each persistent request of an MPI has its own team (hud_team_create_for).
 *
 * Set-up: if hud_exchange.start_allgather and test_allgather are set, they set up the team: the
 * first starts the set-up, and the second is called from time to time until it is done.  Without
 * them, the requests of a team that no blocking call has set up return HUD_PASS on all members.
 *
 * Functions of the host that a call needs (pack, unpack, its own combine, the exchange of a team's
 * set-up) are called on the stack of the thread that is in one of these functions, and must not
 * call huddle.
 */
#ifndef HUDDLE_REQUEST_H
#define HUDDLE_REQUEST_H

#include "huddle/huddle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hud_request;
typedef struct hud_request hud_request;

/*
 * What the host does for a request that huddle does not carry out: start starts the host's own
 * collective.  It is called at most once per start of the request, from within a call of huddle on
 * the same context, in the order in which requests of the team were started (but see
 * HUD_PLACE_EARLY), and before any later call on the team begins or returns HUD_PASS.  It must not
 * wait, and must not call huddle.
 */
struct hud_passed {
    void (*start)(void *arg);
    void *arg;
};

/* For hud_args.collective: a place in the order of the team's requests for a collective of the
 * host's own, instead of a call of huddle.  It does not set up the team and is not counted; either
 * passed->start is called in its turn, or hud_request_start returns HUD_PASS. */
#define HUD_PLACE (-1)

/* Like HUD_PLACE, but hud_request_start also returns HUD_PASS if it is known that no earlier
 * request of the team will be passed.  If a member gives up the team, later members may start their
 * collectives in another order. */
#define HUD_PLACE_NOW (-2)

/* Like HUD_PLACE_NOW, but if this becomes known later, passed->start is called then, before its
 * turn. */
#define HUD_PLACE_EARLY (-3)

/*
 * Prepares a call.  Copies args and the arrays in args (views, block_bytes, op), and passed.  The
 * buffers, and all else that these point to, must stay until the request is freed.  Returns HUD_OK,
 * HUD_ERR_ARGUMENT (NULL or invalid args) or HUD_ERR_MEMORY; after an error *request is NULL.
 */
HUD_API int hud_request_create(hud_team *team, const struct hud_args *args,
                               const struct hud_passed *passed, hud_request **request);

/*
 * Starts a request, which must not be in flight.  Returns HUD_OK if the request is in flight, until
 * hud_request_test or _wait reports its completion.  Returns HUD_PASS if the call is already known
 * not to be handled: nothing was touched, the request is complete, passed->start is not called, and
 * the host starts its own collective now.  Another member may learn this later, and get
 * a call of passed->start instead.  Returns HUD_ERR_ARGUMENT for NULL.
 */
HUD_API int hud_request_start(hud_request *request);

/*
 * Advances all requests of the context, and stores in *done whether this request is complete or was
 * not in flight.  If so, returns the status of the call as hud_call does; HUD_PASS means that
 * passed->start has been called.  Otherwise returns HUD_OK.  Returns HUD_ERR_ARGUMENT for NULL.  If
 * ranks outnumber processors and no request advanced, yields the processor, except in the first
 * test after a start.
 */
HUD_API int hud_request_test(hud_request *request, int *done);

/* Reports as hud_request_test does, but advances nothing; for many requests after a
 * hud_progress. */
HUD_API int hud_request_peek(hud_request *request, int *done);

/* Waits for completion as hud_call waits, and returns the status of the call. */
HUD_API int hud_request_wait(hud_request *request);

/*
 * Creates a team, as hud_team_create does, whose calls are all alike, as described by `args`.  The
 * collective, the bytes and the operation may not differ in a later call; the memory that args
 * points to may be reused.  The lease of the team is as small as this allows.  Requests with a team
 * of their own may be started in any order, even a different order on each member.  Returns HUD_OK,
 * or HUD_ERR_ARGUMENT or HUD_ERR_MEMORY with *team set to NULL.
 */
HUD_API int hud_team_create_for(hud_context *context, const struct hud_exchange *exchange,
                                const struct hud_args *args, hud_team **team);

/*
 * Sets up a team before its first call: all members make this call, and wait for each other.
 * Returns HUD_OK if the team has a lease; if its calls are all alike (hud_team_create_for), they
 * are handled until a call fails.  Returns HUD_PASS on all members if no call is handled (a member
 * has called hud_team_decline), and HUD_ERR_ARGUMENT for NULL.
 */
HUD_API int hud_team_set_up(hud_team *team);

/* Frees a request that is not in flight.  NULL is allowed.  The team may have been freed before.
 * hud_context_destroy frees the remaining requests. */
HUD_API void hud_request_free(hud_request *request);

/* Advances all requests of the context a bit, and returns how many are in flight.  Cheap if none is
 * in flight, or if another thread is already advancing them.  If ranks outnumber processors and no
 * request advanced, yields the processor. */
HUD_API int hud_progress(hud_context *context);

/*
 * Prepares for a blocking collective of the host's own on a team with requests in flight.  Waits
 * until every started request of the team is complete, or known not to be passed: its passed->start
 * has been called, if ever.
 */
HUD_API void hud_team_flush(hud_team *team);

/* Fails like hud_team_fail, in place of a request.  Returns HUD_PASS also if the host carries out
 * the team's requests by its own collectives. */
HUD_API int hud_request_fail(hud_team *team);

#ifdef __cplusplus
}
#endif
#endif
