/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - nonblocking and persistent calls.  Part of huddle.h, which includes it.
 *
 * A *request* is a call that is prepared once and started any number of times.  hud_request_wait,
 * hud_team_flush and hud_team_set_up wait; the others do not.  A request advances within
 * hud_request_start, _test and _wait, within hud_progress, and within every blocking call of the
 * context that waits.
 *
 * Order: all members start the requests of a team, and make its blocking calls, in the same order.
 * They are carried out in that order, one after the other, and a blocking call after all requests
 * that were started before it.  Requests of different teams are independent: so each persistent
 * one of an MPI has a team of its own (hud_team_create_for).
 *
 * Set-up: where there are hud_exchange.start_allgather and test_allgather, a team is set up by
 * them: the first starts it, the second tests it, from time to time, until it is done.  Without
 * them the requests of a team that no blocking call has set up are HUD_PASS, on all members alike.
 *
 * Functions of the host that a call needs (pack, unpack, combine of its own, the exchange of a
 * team's set-up) are called on the stack of the thread that is in one of these functions, and must
 * not call huddle.
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
 * What the host does for a request that huddle does not carry out: it starts its own collective.
 * start is called at most once per start of the request, from within a call of huddle on that
 * context, in the order in which requests of the team were started (but see HUD_PLACE_EARLY), and
 * before any later call on the team begins or returns HUD_PASS.  It must not wait, and must not
 * call huddle.
 */
struct hud_passed {
    void (*start)(void *arg);
    void *arg;
};

/* For hud_args.collective: no call of huddle's, but a place in the order of the team's requests,
 * for a collective of the host's own.  It sets nothing up, and is not counted; passed->start is
 * called in its turn, or hud_request_start returns HUD_PASS. */
#define HUD_PLACE (-1)

/* The same, but hud_request_start also returns HUD_PASS where it is known of all requests before it
 * that none will be passed.  If a member gives the team up, later ones may start theirs in another
 * order. */
#define HUD_PLACE_NOW (-2)

/* The same, and where that is known later passed->start is called then, before its turn. */
#define HUD_PLACE_EARLY (-3)

/*
 * Prepares a call.  Copies args and the arrays in it (views, block_bytes, op), and passed; what
 * they point to, and the buffers, must stay until the request is freed.  HUD_OK, HUD_ERR_ARGUMENT,
 * HUD_ERR_MEMORY (*request is NULL).
 */
HUD_API int hud_request_create(hud_team *team, const struct hud_args *args,
                               const struct hud_passed *passed, hud_request **request);

/*
 * Starts it; it must not be in flight.  HUD_OK: it is in flight, until hud_request_test or _wait
 * reports that it is over.  HUD_PASS: not handled, which is known already, and nothing was touched:
 * it is over, and passed->start is not called; the host starts its own collective now.  Another
 * member may know it later, and get a call of passed->start in that place.
 */
HUD_API int hud_request_start(hud_request *request);

/*
 * Advances all requests of the context; *done: whether this one is over, or was not in flight.
 * Returns the call's status then: that of hud_call; HUD_PASS: passed->start has been called.
 * Otherwise HUD_OK.  Where ranks outnumber processors and nothing went on, it yields the processor,
 * but not in the first test after a start.
 */
HUD_API int hud_request_test(hud_request *request, int *done);

/* The same, but advances nothing: for many requests after one call of hud_progress. */
HUD_API int hud_request_peek(hud_request *request, int *done);

/* Waits for it, as hud_call waits, and returns its status. */
HUD_API int hud_request_wait(hud_request *request);

/*
 * As hud_team_create, a team whose calls are all alike: those that `args` describes.  The
 * collective, the bytes and the operation count, and may not differ in a later call; what args
 * points to may go.  Its lease is as small as that allows.  Requests that each have such a team may
 * be started in any order, which may differ from member to member.  HUD_ERR_ARGUMENT,
 * HUD_ERR_MEMORY: *team is NULL.
 */
HUD_API int hud_team_create_for(hud_context *context, const struct hud_exchange *exchange,
                                const struct hud_args *args, hud_team **team);

/*
 * Sets a team up before its first call: all members come here, and wait for each other.  HUD_OK: it
 * has a lease, and calls that are all alike are handled, until one fails; HUD_PASS: no call is, on
 * all members alike (one has called hud_team_decline).
 */
HUD_API int hud_team_set_up(hud_team *team);

/* Not in flight.  NULL is allowed.  The team may have been freed; hud_context_destroy frees what is
 * left. */
HUD_API void hud_request_free(hud_request *request);

/* Advances all requests of the context a bit; returns how many are in flight.  Cheap if none is, or
 * if another thread is already doing it.  Where ranks outnumber processors and nothing went on, it
 * yields the processor. */
HUD_API int hud_progress(hud_context *context);

/*
 * To be called before a blocking collective of the host's own on a team with requests in flight.
 * Waits until every request of the team that was started is over, or known not to be passed: its
 * passed->start has been called if it ever is.
 */
HUD_API void hud_team_flush(hud_team *team);

/* As hud_team_fail, of a request: HUD_PASS also where the team's requests are the host's own. */
HUD_API int hud_request_fail(hud_team *team);

#ifdef __cplusplus
}
#endif
#endif
