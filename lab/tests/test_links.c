/* SPDX-License-Identifier: BSD-3-Clause */
/* test_links.c - when lines cross the links of a made-up machine (made_up.h). A comment at each
 * figure has its computation by hand. */
#include "lab/sim/links.h"
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* needs the headers above */
#include <cmocka.h>

enum { DIE = 32 }; /* cores of a die: 0; 32 on the other die; 64 and 96 on the other socket */

static struct sim_machine *machine;

static int set_up(void **state)
{
    (void)state;
    machine = made_up_machine(2, DIE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    made_up_free(machine);
    return 0;
}

static void lines_wait_for_busy_links(void **state)
{
    char name[LINKS_NAME];
    int way[LINKS_WAY];

    (void)state;
    machine->links.mesh_gbps[MADE_UP_NUMA] = 64; /* a line takes 1 ns */
    machine->links.socket_gbps = 16;             /* a line takes 4 ns */
    struct sim_links *links = hud_links_create(machine);
    assert_int_equal(hud_links_count(links), 4 + 4);
    assert_int_equal(hud_links_way(links, 5, 5, way), 0);
    assert_int_equal(hud_links_way(links, 0, 1, way), 1);
    assert_int_equal(hud_links_way(links, 0, 32, way), 2);
    assert_int_equal(hud_links_way(links, 0, 96, way), 3);
    hud_links_name(links, way[2], name);
    assert_string_equal(name, "socket 0 to 1");
    assert_true(hud_links_cross(links, 0, 1, 0) == 0);
    assert_true(hud_links_cross(links, 2, 3, 0) == 1);
    assert_true(hud_links_cross(links, 32, 33, 0) == 0); /* the mesh of the other die */
    assert_true(hud_links_cross(links, 0, 64, 0) ==
                2); /* the mesh is busy, the socket link is not */
    assert_true(hud_links_cross(links, 0, 96, 0) ==
                4); /* the socket link is busy until 4, longer than the mesh, until 3 */
    assert_true(hud_links_cross(links, 0, 96, 8) == 0);
    assert_true(hud_links_cross(links, 64, 0, 9) ==
                0); /* the other direction; the meshes are free again */
    assert_true(hud_links_get(links, way[2])->bytes == 3 * 64);
    assert_true(hud_links_cross(links, 0, 96, 8.5) < 0); /* too late: a later line has crossed
                                                          * already */
    assert_true(hud_links_get(links, way[2])->bytes == 3 * 64);
    hud_links_forget(links);
    assert_true(hud_links_get(links, way[2])->bytes == 0);
    hud_links_free(links);
}

static void lines_wait_for_busy_ports_of_dies(void **state)
{
    const struct links_end core = { 0, MACHINE_OWN }, of_its_die = { 1, MADE_UP_NUMA },
                           of_its_socket = { 1, MADE_UP_SOCKET };
    int way[LINKS_WAY];

    (void)state;
    machine->links.port_gbps[MADE_UP_NUMA] = 32; /* a line takes 2 ns */
    struct sim_links *links = hud_links_create(machine);
    assert_int_equal(hud_links_count(links), 4 + 4);
    assert_int_equal(hud_links_way(links, 0, 1, way), 0);
    assert_int_equal(hud_links_way(links, 0, 32, way), 2); /* one out of a die, one into another */
    assert_true(hud_links_cross(links, 0, 32, 0) == 0);
    assert_true(hud_links_cross(links, 32, 0, 0) == 0); /* the other direction */
    assert_true(hud_links_cross(links, 1, 64, 0) == 2); /* two out of the same die */
    assert_int_equal(hud_links_between(links, of_its_die, core, way), 0);
    assert_int_equal(hud_links_between(links, of_its_socket, core, way), 1); /* one into the die */
    assert_int_equal(hud_links_get(links, way[0])->from, LINKS_OUTSIDE);
    assert_int_equal(hud_links_between(links, core, of_its_socket, way), 1);
    assert_int_equal(hud_links_get(links, way[0])->to, LINKS_OUTSIDE);
    hud_links_free(links);
    machine->links.port_out_gbps[MADE_UP_NUMA] =
        16; /* a line takes 4 out of the die, and still 2 into another */
    links = hud_links_create(machine);
    assert_true(hud_links_cross(links, 0, 32, 0) == 0 && hud_links_cross(links, 1, 64, 0) == 4);
    assert_true(hud_links_cross(links, 96, 64, 20) == 0 && hud_links_cross(links, 32, 64, 20) == 2);
    hud_links_free(links);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_wait_for_busy_links),
        CASE(lines_wait_for_busy_ports_of_dies),
    };

    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
