/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_config.c - fuzzes settings. The input is a list of texts that end with zero bytes, given
 * once as the environment and once by the host. Each list is either accepted or rejected with a
 * one-line message. Accepted values are in the range of their row, and plans can be made from them.
 */
#include "../unit/plans.h"
#include "core/config/text.h"
#include "fuzz.h"

#include <string.h>

enum { MAX_SETTINGS = 64 };

extern char **environ;

static void check(const struct config *config)
{
    int count;
    const struct setting *table = hud_settings(&count);

    MUST(hud_text_is_plain(config->error));
    MUST(config->more_count == 0 || config->error[0] != '\0');
    for (int i = 0; i < config->more_count; i++)
        MUST(config->more[i][0] != '\0' && hud_text_is_plain(config->more[i]));
    MUST(strlen(config->error) < sizeof config->error - 1 || config->error[0] != '\0');
    for (int i = 0; i < count; i++) {
        MUST(config->origin[i] && hud_text_is_plain(config->text[i]));
        MUST(config->number[i] >= -1 && config->number[i] <= 1L << 30);
        MUST(table[i].accepted[0] != '\0');
    }
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int row = hud_config_forced(config, kind);
        MUST(row < 0 || hud_coll_kind(hud_shm_algs[row]->coll) == kind);
    }
}

static void make_plan(const struct config *config, int ranks, size_t bytes)
{
    struct plan_facts facts = { .ranks = ranks, .direct = ranks % 2 == 0, .within = "machine" };
    bool direct;

    plans.config = *config;
    hud_planner_free(plans.planner);
    plans.planner = hud_planner_create(&plans.config, NULL);
    MUST(plans.planner);
    hud_plan_make(plans.planner, &facts, bytes, true, &plans.plan);
    plans_check();
    MUST(plans.plan.total_bytes <= bytes);
    MUST(hud_plan_bytes(plans.planner, ranks, bytes, true, &direct) <= bytes);
    MUST(hud_plan_lease_bytes(config) <= (size_t)1 << 30);
    MUST(hud_plan_offer(plans.planner, ranks, 16 * MB, bytes) <= bytes);
}

/* Reads a text as a number, as a size, and as a list of topology names. */
static void read_alone(const char *text)
{
    long number = -1;
    size_t bytes = strlen(text);

    if (hud_config_number(text, true, 4, 1L << 40, &number))
        MUST(number >= 4 && number <= 1L << 40);
    if (hud_config_number(text, false, 0, 7, &number))
        MUST(number >= 0 && number <= 7);
    if (hud_topo_names_valid(text))
        MUST(bytes == 0 || (text[0] != ',' && text[bytes - 1] != ','));
}

static void read_all(const char *const *settings)
{
    static char *const none[] = { NULL };
    static struct config by_host, by_environment;
    char **before = environ;

    environ = (char **)(uintptr_t)none;
    hud_config_read(settings, &by_host);
    environ = (char **)(uintptr_t)settings;
    hud_config_read(NULL, &by_environment);
    environ = before;
    check(&by_host);
    check(&by_environment);
    if (by_host.error[0] == '\0') {
        make_plan(&by_host, 2, 1536 << 10);
        make_plan(&by_host, 47, 64 << 10);
        make_plan(&by_host, 4096, 16 * MB);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *settings[MAX_SETTINGS + 1] = { NULL };
    char *text = malloc(bytes + 1), *at = text;

    MUST(text);
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* failed assertions of plans_check then crash */
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    for (int i = 0; i < MAX_SETTINGS && at < text + bytes; i++, at += strlen(at) + 1) {
        settings[i] = at;
        read_alone(at);
        read_alone(at + strcspn(at, "=") + (strchr(at, '=') != NULL));
    }
    read_all(settings);
    free(text);
    return 0;
}
