/* SPDX-License-Identifier: BSD-3-Clause */
/* others_collect.c - collects the candidates that are tried against first choices, from algorithms
 * and the values that their parameters list (others.c). */
#include "base/name.h"
#include "core/plan/plan_builder.h"

#include <string.h>

/* Sets a parameter to a value of its list.  Returns false if the value is not accepted. */
static bool set_param(int row, int p, const char *value, size_t length, long param[ALG_PARAMS])
{
    char text[32];
    const char *accepted;

    if (length >= sizeof text)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    return hud_config_param(row, p, text, &param[p], &accepted);
}

static int find_param(const struct alg *alg, const char *name, size_t length)
{
    int p = 0;

    while (alg_param_at(alg, p) && !name_is(alg_param_at(alg, p)->name, name, length))
        p++;
    return p;
}

/* Sets the parameters of "cma=8K piece=64K". */
static bool set_with(int row, const char *with, long param[ALG_PARAMS])
{
    while (with && *with) {
        size_t name = strcspn(with, "="), all = strcspn(with, " ");
        int p = find_param(hud_shm_algs[row], with, name);
        if (!set_param(row, p, with + name + 1, all - name - 1, param))
            return false;
        with += all + (with[all] == ' ');
    }
    return true;
}

static void add(struct plan_builder *k, int kind, int row, const long param[ALG_PARAMS])
{
    struct candidate c = { .kind = kind, .row = row, .max_bytes = SIZE_MAX, .other = true };

    memcpy(c.param, param, sizeof c.param);
    hud_candidate_add(k, c);
}

/* Adds an algorithm with each value of its parameters' lists.  A parameter that the user has set
 * keeps its value. */
static void add_values(struct plan_builder *k, int kind, int row)
{
    const struct alg *alg = hud_shm_algs[row];

    for (int p = 0; alg_param_at(alg, p); p++) {
        const char *value = k->config->given[row][p] ? NULL : alg_param_at(alg, p)->tune;
        while (value && *value) {
            size_t length = strcspn(value, ",");
            long param[ALG_PARAMS];
            memcpy(param, k->config->param[row], sizeof param);
            if (set_with(row, alg_param_at(alg, p)->tune_with, param) &&
                set_param(row, p, value, length, param))
                add(k, kind, row, param);
            value += length + (value[length] == ',');
        }
    }
}

/* Returns the collective of an algorithm, or -1 if the algorithm is no candidate. */
static int kind_of_candidate(const struct plan_builder *k, int row)
{
    int kind = row < SET_PRODUCT_ALGS && !hud_shm_algs[row]->baseline
                   ? hud_coll_kind(hud_shm_algs[row]->coll)
                   : -1;

    return kind >= 0 && hud_config_forced(k->config, kind) == FORCED_NONE ? kind : -1;
}

int hud_others_collect(struct plan_builder *k)
{
    for (int row = 0; hud_shm_algs[row]; row++) {
        int kind = kind_of_candidate(k, row);
        if (kind >= 0)
            add(k, kind, row, k->config->param[row]);
    }
    int values = k->count;
    for (int row = 0; hud_shm_algs[row]; row++) {
        int kind = kind_of_candidate(k, row);
        if (kind >= 0)
            add_values(k, kind, row);
    }
    hud_plan_builder_sort(k);
    return values;
}
