/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_follow_root.c - a receiver of a broadcast with a smaller buffer than the message gets the
 * error, and no other rank does, although its size has another algorithm than the root's.
 */
#include "calls.h"
#include "core/watch/follow_root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, SIZES = 4 };

/* a size for each rule of the file */
static const size_t sizes[SIZES] = { 100, 3000, 40000, 300000 };
static const char rules[] = "bcast bytes=0-112 -> inline\n"
                            "bcast bytes=113-4K -> queue tree=chain\n"
                            "bcast bytes=4097-64K -> queue tree=flat budget=64K\n"
                            "bcast -> levels\n";

/* Broadcasts.  Returns the status.  Checks the received bytes, and the bytes after them. */
static int broadcast(struct rank *r, int root, size_t bytes, size_t sent)
{
    int number = r->calls++;
    unsigned char *at = guarded_buffer(bytes);
    struct hud_view view = view_of(at, bytes);
    bool right = true;

    for (size_t i = 0; i < bytes; i++)
        at[i] = r->rank == root ? call_byte(root, 0, number, i) : 0;
    int status = hud_bcast(r->team, &view, root);
    for (size_t i = 0; i < bytes && (status == HUD_OK || status == HUD_ERR_TRUNCATE); i++)
        right = right && at[i] == (i < sent ? call_byte(root, 0, number, i) : 0);
    rank_check(r, right, "data", sent);
    rank_check(r, guarded_free(at, bytes), "guard", sent);
    return status;
}

/* Makes correct broadcasts of all sizes. */
static void go_on(struct rank *r)
{
    for (int i = 0; i < SIZES; i++)
        for (int root = 0; root < r->ranks; root++)
            rank_check(r, broadcast(r, root, sizes[i], sizes[i]) == HUD_OK, "later call", sizes[i]);
}

/* Passes a different size on one receiver. */
static void one_differs(struct rank *r, int root, size_t sent, size_t room)
{
    int odd = (root + 1) % r->ranks;
    bool cut = r->rank == odd && room < sent;
    int status = broadcast(r, root, r->rank == odd ? room : sent, sent);

    rank_check(r, status == (cut ? HUD_ERR_TRUNCATE : HUD_OK), "status", sent);
    rank_check(r, hud_barrier(r->team) == HUD_OK, "barrier", sent);
}

static void all_pairs(struct rank *r)
{
    go_on(r);
    for (int sent = 0; sent < SIZES; sent++)
        for (int room = 0; room < SIZES; room++)
            if (sent != room)
                one_differs(r, (sent + room) % r->ranks, sizes[sent], sizes[room]);
    go_on(r);
    rank_check(r, r->team->state.now == TEAM_READY, "state", 0);
}

/* Lets the root make further broadcasts, of other sizes and rules, before the receiver has found
 * the root's call. */
static void root_is_ahead(struct rank *r)
{
    bool odd = r->rank == 1;

    go_on(r);
    int status = broadcast(r, 0, odd ? sizes[1] : sizes[2], sizes[2]);
    rank_check(r, status == (odd ? HUD_ERR_TRUNCATE : HUD_OK), "status", sizes[2]);
    rank_check(r, broadcast(r, 0, sizes[0], sizes[0]) == HUD_OK, "next call", sizes[0]);
    rank_check(r, broadcast(r, 0, sizes[3], sizes[3]) == HUD_OK, "third call", sizes[3]);
    rank_check(r, hud_barrier(r->team) == HUD_OK, "barrier", 0);
    go_on(r);
}

/* Lets each receiver be too small, for one root after the other.  A root is in the next call before
 * the receivers have found its call. */
static void roots_in_turn(struct rank *r)
{
    for (int n = 0; n < 12; n++) {
        int root = n % r->ranks;
        int status = broadcast(r, root, r->rank == root ? sizes[2] : sizes[1], sizes[2]);
        rank_check(r, status == (r->rank == root ? HUD_OK : HUD_ERR_TRUNCATE), "status", sizes[2]);
    }
    go_on(r);
}

/* The sizes of two broadcasts in turn.  The root stops in the second one when later fragments have
 * overwritten the first ones. */
enum { SHORT = 100, LONG = 64 << 10, STALLS_AT = 40 << 10 };

static const char two_slots[] = "bcast bytes=0-112 -> inline\n"
                                "bcast -> queue tree=flat fragment=4K buffers=4 budget=16K\n";

static size_t pack_slowly(const struct hud_view *view, void *dst, size_t offset_bytes,
                          size_t max_bytes)
{
    size_t left = view->bytes - offset_bytes, bytes = left < max_bytes ? left : max_bytes;

    if (offset_bytes <= STALLS_AT && offset_bytes + bytes > STALLS_AT)
        usleep(500000);
    memcpy(dst, (const char *)view->base + offset_bytes, bytes);
    return bytes;
}

/* Returns whether a buffer holds a message of the root. */
static bool holds(const unsigned char *at, int number, size_t bytes)
{
    bool right = true;

    for (size_t i = 0; i < bytes; i++)
        right = right && at[i] == call_byte(0, 0, number, i);
    return right;
}

/* Lets the receiver take the root's second broadcast for the first, and wait in the middle.  The
 * receiver then knows the slot of the first, but has used up fragments of the second. */
static void middle_of_the_next_call(struct rank *r)
{
    unsigned char *at = guarded_buffer(LONG);
    struct hud_view view = view_of(at, LONG);
    bool is_root = r->rank == 0;

    for (int call = 0; call < 2; call++) {
        for (size_t i = 0; i < LONG; i++)
            at[i] = is_root ? call_byte(0, 0, call, i) : 0;
        view.bytes = is_root && call == 0 ? SHORT : LONG;
        view.pack = is_root && call == 1 ? pack_slowly : NULL;
        int status = hud_bcast(r->team, &view, 0);
        bool right = holds(at, 1, LONG) || (call == 0 && holds(at, 0, SHORT));
        rank_check(r, status != HUD_OK || right, "data", LONG);
    }
    rank_check(r, guarded_free(at, LONG), "guard", LONG);
    hud_barrier(r->team);
}

static void run_with(const char *table, int count, void (*body)(struct rank *))
{
    static char file[64], setting[128];
    static const char *const settings[] = { "HUDDLE_WISDOM=off", "HUDDLE_CMA=off", setting, NULL };

    snprintf(file, sizeof file, "/tmp/test_follow.%d.rules", (int)getpid());
    snprintf(setting, sizeof setting, "HUDDLE_TUNING=%s", file);
    FILE *f = fopen(file, "we");
    assert_non_null(f);
    assert_true(fputs(table, f) >= 0);
    assert_int_equal(fclose(f), 0);
    ranks_run(
        &(struct ranks){ .ranks = count, .blocking = true, .settings = settings, .body = body });
    assert_int_equal(unlink(file), 0);
}

static void run(void (*body)(struct rank *))
{
    run_with(rules, RANKS, body);
}

static void only_the_short_rank_gets_an_error(void **state)
{
    (void)state;
    run(all_pairs);
    run(roots_in_turn);
}

static void call_is_found_behind_later_ones(void **state)
{
    (void)state;
    run(root_is_ahead);
}

static void receiver_in_a_message_stays(void **state)
{
    (void)state;
    run_with(two_slots, 2, middle_of_the_next_call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_short_rank_gets_an_error),
        cmocka_unit_test(call_is_found_behind_later_ones),
        cmocka_unit_test(receiver_in_a_message_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
