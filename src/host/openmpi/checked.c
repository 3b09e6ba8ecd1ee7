/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.c - with HUDDLE_CHECK: the collectives that huddle does not take.  Each says what it is about to do, calls the module below, and says
 * that it is back.  What the module below does meanwhile with other collectives of the same communicator is its own affair.
 */
#include "module.h"

#include "ompi/op/op.h"

typedef ompi_communicator_t COMM;
typedef ompi_datatype_t TYPE;
typedef ompi_op_t OP;
typedef mca_coll_base_module_t MODULE;

static size_t bytes_of(int64_t count, const TYPE *type)
{
    return count > 0 ? (size_t)count * type->super.size : 0;
}

static int64_t sum_of(const int *counts, COMM *comm)
{
    int64_t sum = 0;

    for (int i = 0; i < ompi_comm_size(comm); i++)
        sum += counts[i];
    return sum;
}

static const char *name_of(OP *op)
{
    return ompi_op_is_intrinsic(op) ? op->o_name : "an operation of the user's";
}

static void enter(hud_module *m, const char *name, int root, size_t bytes, const char *detail)
{
    if (!m->setting_up)
        hud_team_enter(m->team, &(struct hud_call){ .name = name, .root = root, .bytes = bytes, .detail = detail });
}

static int leave(hud_module *m, int code)
{
    if (!m->setting_up)
        hud_team_exit(m->team);
    return code;
}

#define OPEN(...) __VA_ARGS__,
#define CHECKED(name, parameters, arguments, root, bytes, detail)                                                                          \
    static int checked_##name parameters                                                                                                   \
    {                                                                                                                                      \
        hud_module *m = (hud_module *)module;                                                                                              \
        enter(m, #name, root, bytes, detail);                                                                                              \
        return leave(m, m->below.name(OPEN arguments m->below.name##_module));                                                             \
    }
#include "checked.def"
#undef CHECKED

void hud_checked_take(hud_module *m, const mca_coll_base_comm_coll_t *table)
{
#define CHECKED(name, ...)                                                                                                                 \
    if (table->coll_##name != NULL) {                                                                                                      \
        m->below.name = table->coll_##name;                                                                                                \
        m->below.name##_module = table->coll_##name##_module;                                                                              \
        OBJ_RETAIN(m->below.name##_module);                                                                                                \
        m->super.coll_##name = checked_##name;                                                                                             \
    }
#include "checked.def"
#undef CHECKED
}

void hud_checked_release(hud_module *m)
{
#define CHECKED(name, ...)                                                                                                                 \
    if (m->below.name##_module != NULL)                                                                                                    \
        OBJ_RELEASE(m->below.name##_module);
#include "checked.def"
#undef CHECKED
}
