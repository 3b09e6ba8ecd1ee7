/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_callers.c - recognizes calls of the user by Open MPI's code, and reports code in which they
 * cannot be recognized.  The functions of MPI are stand-ins in three layouts, one after the other:
 *
 *   WHOLE   the call of the module is within the function
 *   SPLIT   it is in a part that the compiler has moved out of the function
 *   SILENT  there is no such call
 */
#include "host/openmpi/callers.h"
#include "host/openmpi/module.h"

#include "ompi/errhandler/errhandler.h"
#include "ompi/request/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#if defined(__clang__) /* clones no functions, and does not know the attribute */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define EXPORTED __attribute__((visibility("default"))) NOINLINE

enum layout { WHOLE, SPLIT, SILENT, LAYOUTS };

static int begun, warnings;
static bool called, users;          /* the module was called, by the user */
static volatile int returned_calls; /* written after a call, so that it is not a jump */

/* ---- a module that asks whose call it gets ---- */

#define IGNORE(kind) (void)kind;
#define PLAIN(Name, name, ...)                                                                     \
    static int asks_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request, MODULE *module)      \
    {                                                                                              \
        JOIN(IGNORE, __VA_ARGS__)                                                                  \
        (void)request, (void)module;                                                               \
        called = true;                                                                             \
        users = hud_callers_is_users(AT_##name, __builtin_return_address(0));                      \
        return OMPI_SUCCESS;                                                                       \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

static mca_coll_base_comm_coll_t table = {
#define PLAIN(Name, name, ...) .coll_i##name = asks_##name,
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
};
static ompi_group_t group = { .grp_proc_count = 2 };
static ompi_communicator_t communicator = { .c_coll = &table, .c_local_group = &group };

/* ---- Open MPI ---- */

ompi_predefined_communicator_t ompi_mpi_comm_self;
ompi_predefined_datatype_t ompi_mpi_int;
ompi_predefined_op_t ompi_mpi_op_sum;
ompi_predefined_errhandler_t ompi_mpi_errors_return;
ompi_request_t ompi_request_empty;
ompi_predefined_request_t ompi_request_null;

/* Stands for Open MPI's MPI_Ibcast, which returns at once for one rank. */
#define CALL_MODULE(name, ...)                                                                     \
    if (ompi_comm_size(comm) < 2)                                                                  \
        return OMPI_SUCCESS;                                                                       \
    int code = comm->c_coll->coll_i##name(__VA_ARGS__, request, NULL);                             \
    returned_calls++;                                                                              \
    return code;
#define PLAIN(Name, name, ...)                                                                     \
    EXPORTED int whole_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request);                  \
    EXPORTED int split_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request);                  \
    EXPORTED int silent_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request);                 \
    int whole_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request)                            \
    {                                                                                              \
        CALL_MODULE(name, __VA_ARGS__)                                                             \
    }                                                                                              \
    static NOINLINE int part_of_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request)          \
    {                                                                                              \
        CALL_MODULE(name, __VA_ARGS__)                                                             \
    }                                                                                              \
    int split_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request)                            \
    {                                                                                              \
        int code = part_of_##name(__VA_ARGS__, request);                                           \
        returned_calls++;                                                                          \
        return code;                                                                               \
    }                                                                                              \
    int silent_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request)                           \
    {                                                                                              \
        JOIN(IGNORE, __VA_ARGS__)                                                                  \
        (void)request;                                                                             \
        return OMPI_ERROR;                                                                         \
    }                                                                                              \
    static NOINLINE int own_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request)              \
    {                                                                                              \
        CALL_MODULE(name, __VA_ARGS__)                                                             \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

EXPORTED int free_request(ompi_request_t **request);
int free_request(ompi_request_t **request)
{
    int code = (*request)->req_free(request);

    returned_calls++;
    return code;
}

int PMPI_Initialized(int *flag)
{
    *flag = begun;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static enum layout layout_of(int at)
{
    return at == AT_REQUEST_FREE ? WHOLE : (enum layout)(at % LAYOUTS);
}

static const struct {
    const char *name;
    void *layouts[LAYOUTS];
} functions[] = {
#define PLAIN(Name, name, ...)                                                                     \
    { "PMPI_I" #name, { (void *)whole_##name, (void *)split_##name, (void *)silent_##name } },
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    { "PMPI_Request_free", { (void *)free_request } },
};

void *hud_openmpi_function(const char *name, void *by_symbol)
{
    for (int at = 0; at < FUNCTIONS; at++)
        if (strcmp(name, functions[at].name) == 0)
            return functions[at].layouts[layout_of(at)];
    return by_symbol;
}

void hud_report_warn(const char *format, ...)
{
    (void)format;
    warnings++;
}

/* ---- the tests ---- */

/* Calls each function, as the user and as Open MPI. */
static void call_all(void)
{
    ompi_request_t *request = NULL;
    COMM *comm = &communicator;
    void *buffer = NULL, *out = NULL;
    const void *in = NULL;
    int count = 0, ins = 0, outs = 0, root = 0;
    const int *counts = NULL, *in_counts = NULL, *out_counts = NULL, *in_places = NULL,
              *out_places = NULL;
    TYPE *type = NULL, *in_type = NULL,
         *out_type = NULL, *const *in_types = NULL, *const *out_types = NULL;
    OP *op = NULL;

#define PLAIN(Name, name, ...)                                                                     \
    called = users = false;                                                                        \
    ((__typeof__(&whole_##name))functions[AT_##name].layouts[layout_of(AT_##name)])(__VA_ARGS__,   \
                                                                                    &request);     \
    assert_int_equal(called, layout_of(AT_##name) != SILENT);                                      \
    assert_int_equal(users, layout_of(AT_##name) == WHOLE);                                        \
    called = false;                                                                                \
    own_##name(__VA_ARGS__, &request);                                                             \
    assert_true(called);                                                                           \
    assert_false(users);
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
}

static int unrecognized(void)
{
    int found = 0;

    for (int at = 0; at < FUNCTIONS; at++)
        found += layout_of(at) != WHOLE;
    return found;
}

/* Calls functions before MPI_Init has returned, where Open MPI already calls collectives.  None may
 * be checked then. */
static void test_before(void **state)
{
    (void)state;
    assert_true(hud_callers_find());
    begun = 0;
    call_all();
    assert_int_equal(warnings, 0);
}

/* Recognises the user's calls only in whole functions, and reports each other function once. */
static void test_layouts(void **state)
{
    (void)state;
    begun = 1;
    call_all();
    assert_true(unrecognized() > 0);
    assert_int_equal(warnings, unrecognized());
    call_all();
    assert_int_equal(warnings, unrecognized());
}

static bool frees_users;

static int asks_free(ompi_request_t **request)
{
    (void)request;
    frees_users = hud_callers_is_users(AT_REQUEST_FREE, __builtin_return_address(0));
    return OMPI_SUCCESS;
}

static void test_request_free(void **state)
{
    ompi_request_t request = { .req_free = asks_free }, *given = &request;

    (void)state;
    free_request(&given);
    assert_true(frees_users);
    given->req_free(&given);
    assert_false(frees_users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_request_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
