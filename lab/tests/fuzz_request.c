/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_request.c - fuzzes requests to the simulator, each with a machine description. A request is
 * either read completely or rejected with a one-line message. */
#include "fuzz.h"
#include "lab/sim/run/request.h"

#include <string.h>

/* Suppresses a leak of hwloc, which loses a few bytes for each description that is not valid. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhwloc";
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

static void check_machine(const struct sim_machine *m)
{
    json_t *name = json_string(m->name); /* succeeds only for UTF-8 */

    MUST(name && m->cores >= 1 && m->classes == m->levels + 2 && m->classes <= MACHINE_CLASSES);
    json_decref(name);
    for (int c = 0; c < m->cores; c++) {
        MUST(m->node[c] >= 0 && m->node[c] < m->nodes && m->socket[c] >= 0 &&
             m->socket[c] < m->sockets);
        int other = (c * 7 + 1) % m->cores;
        MUST(machine_class(m, c, other) < m->classes &&
             machine_away(m, c, m->node[other]) < m->classes);
        MUST(hud_machine_class_name(m, machine_class(m, c, other)));
    }
    for (int c = 0; c < m->classes; c++)
        MUST(m->lines.transfer_ns[c] >= 0 && m->lines.revoke_ns[c] >= 0 &&
             m->memory.latency_ns[c] >= 0);
}

/*
 * Reports whether hwloc would need seconds to build the machine, which has thousands of cores
 * directly in it. hud_topo_load_described bounds this time, but such inputs would use up the
 * fuzzer's time.
 */
static bool is_slow(const json_t *json)
{
    const char *topology =
        json_string_value(json_object_get(json_object_get(json, "machine"), "topology"));
    size_t digits = 0;

    for (; topology && *topology && digits < 4; topology++)
        digits = *topology >= '0' && *topology <= '9' ? digits + 1 : 0;
    return digits == 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct request q;
    char error[256] = "";
    json_t *json = json_loadb((const char *)data, bytes, JSON_DECODE_ANY, NULL);

    if (json && !is_slow(json) && request_read(json, &q, error, sizeof error)) {
        check_machine(q.machine);
        MUST(!q.alg || (q.ranks >= 2 && q.ranks <= q.machine->cores && q.root < q.ranks &&
                        q.slot_bytes >= 64));
        request_free(&q);
    } else if (json && !is_slow(json)) {
        MUST(error[0] != '\0' && is_plain(error));
    }
    json_decref(json);
    return 0;
}
