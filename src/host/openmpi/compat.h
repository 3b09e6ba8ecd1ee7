/* SPDX-License-Identifier: BSD-3-Clause */
/* compat.h - the differences between the series of Open MPI for which this component is built: 4.1
 * (coll API 2.0.0) and 5.0 (2.4.0).  The headers are Open MPI's internal headers. */
#ifndef HUD_OPENMPI_COMPAT_H
#define HUD_OPENMPI_COMPAT_H

#if defined(__clang__) && __clang_major__ < 15 && defined(__x86_64__)
#define _Float16                                                                                   \
    short /* this compiler has no such type here; the component touches none of Open MPI's short   \
             floats */
#endif

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/runtime/params.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_framework.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"

#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1

#include "ompi/mca/rte/rte.h"
#include "opal/dss/dss.h"
#include "opal/mca/pmix/pmix.h"

#define COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0

/* Exists only in an Open MPI that was built for CUDA. */
extern bool opal_cuda_check_bufs(char *one, char *other) __attribute__((weak));

static inline bool compat_knows_devices(void)
{
    return opal_cuda_check_bufs != NULL;
}

static inline bool compat_on_device(const void *buffer)
{
    return compat_knows_devices() &&
           opal_cuda_check_bufs((char *)(uintptr_t)buffer, (char *)(uintptr_t)buffer);
}

/* A request of this type that ends with an error calls its communicator's error handler.  In 4.1 a
 * request of a collective would call the handler of MPI_COMM_WORLD, and a request of a message
 * calls the right handler. */
#define COMPAT_REQUEST_FAILED OMPI_REQUEST_PML

/* 4.1 cannot continue after a rank has failed, so no call fails with these codes. */
#define COMPAT_ERR_PROC_FAILED MPI_ERR_OTHER
#define COMPAT_ERR_REVOKED MPI_ERR_OTHER

static inline bool compat_fault_tolerant(void)
{
    return false;
}

static inline bool compat_revoked(ompi_communicator_t *comm)
{
    (void)comm;
    return false;
}

static inline bool compat_has_failed(ompi_communicator_t *comm)
{
    (void)comm;
    return false;
}

/* Publishes a value in the launcher's key-value exchange, for ranks of this job on this node, or on
 * all nodes.  The value is sent with the modex.  Returns true if the value will be available. */
static inline bool compat_publish(const char *key, uint32_t value, bool everywhere)
{
    opal_value_t kv;

    OBJ_CONSTRUCT(&kv, opal_value_t);
    kv.key = (char *)(uintptr_t)key;
    kv.type = OPAL_UINT32;
    kv.data.uint32 = value;
    bool done = opal_pmix.put != NULL &&
                opal_pmix.put(everywhere ? OPAL_PMIX_GLOBAL : OPAL_PMIX_LOCAL, &kv) == OPAL_SUCCESS;
    kv.key = NULL; /* the key is not owned by the value */
    OBJ_DESTRUCT(&kv);
    return done;
}

/* Asks only the node's server, because a rank has sent its values before any rank may ask.  Returns
 * 0 if *value was found, 1 if there is none, and -1 if there was no answer. */
static inline int compat_look(int rank, const char *key, uint32_t *value)
{
    opal_process_name_t name = { .jobid = OMPI_PROC_MY_NAME->jobid, .vpid = (opal_vpid_t)rank };
    opal_value_t *kv = NULL, *now = OBJ_NEW(opal_value_t);
    opal_list_t how;

    if (now == NULL)
        return -1;
    OBJ_CONSTRUCT(&how, opal_list_t);
    now->key = strdup(OPAL_PMIX_IMMEDIATE);
    now->type = OPAL_BOOL;
    now->data.flag = true;
    opal_list_append(&how, &now->super);
    int rc = now->key != NULL ? opal_pmix.get(&name, key, &how, &kv) : OPAL_ERR_OUT_OF_RESOURCE;
    OPAL_LIST_DESTRUCT(&how);
    bool there = rc == OPAL_SUCCESS && kv != NULL && kv->type == OPAL_UINT32;
    if (there)
        *value = kv->data.uint32;
    if (kv != NULL)
        OBJ_RELEASE(kv);
    bool none = rc == OPAL_SUCCESS || rc == OPAL_ERR_NOT_FOUND ||
                rc == OPAL_ERR_DATA_VALUE_NOT_FOUND || rc == OPAL_ERR_PROC_ENTRY_NOT_FOUND;
    return there ? 0 : none ? 1 : -1;
}

extern bool opal_pmix_base_async_modex __attribute__((weak));
extern bool opal_pmix_collect_all_data __attribute__((weak));

/* Returns whether the modex brings each value to all servers before a rank may ask.  Otherwise a
 * server knows a value only after a rank of its node has asked for the value's owner.  A build that
 * hides the parameters is assumed to have their defaults. */
static inline bool compat_modex_is_full(void)
{
    return (&opal_pmix_base_async_modex == NULL || !opal_pmix_base_async_modex) &&
           (&opal_pmix_collect_all_data == NULL || opal_pmix_collect_all_data);
}

/* Publishes a value for ranks of all nodes.  The modex brings the value to all servers, or to
 * none. */
static inline bool compat_publish_far(int rank, uint32_t value)
{
    (void)rank;
    return compat_modex_is_full() && compat_publish("huddle.nodes", value, true);
}

static inline int compat_look_far(int rank, uint32_t *value)
{
    return compat_look(rank, "huddle.nodes", value);
}

/* Returns whether all ranks have published this value, if a single question can tell. */
static inline bool compat_look_all(int ranks, uint32_t value)
{
    (void)ranks, (void)value;
    return false;
}

#elif OMPI_MAJOR_VERSION == 5 && OMPI_MINOR_VERSION == 0

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/accelerator/accelerator.h"
#include "opal/mca/accelerator/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"

#include <dlfcn.h>

#define COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#define COMPAT_REQUEST_FAILED OMPI_REQUEST_COLL
#define COMPAT_ERR_PROC_FAILED MPI_ERR_PROC_FAILED
#define COMPAT_ERR_REVOKED MPI_ERR_REVOKED

/* Returns whether Open MPI supports devices.  Its component "null" does not. */
static inline bool compat_knows_devices(void)
{
    const char *name = opal_accelerator_base_selected_component.base_version.mca_component_name;

    return opal_accelerator.check_addr != NULL && strcmp(name, "null") != 0;
}

static inline bool compat_on_device(const void *buffer)
{
    int device;
    uint64_t flags;
    return compat_knows_devices() && opal_accelerator.check_addr(buffer, &device, &flags) > 0;
}

/* Exists only in an Open MPI that was built with ULFM. */
extern bool ompi_ftmpi_enabled __attribute__((weak));
extern bool ompi_comm_is_proc_active(ompi_communicator_t *comm, int rank, bool remote)
    __attribute__((weak));
extern int PMPIX_Comm_is_revoked(MPI_Comm comm, int *revoked) __attribute__((weak));

static inline bool compat_fault_tolerant(void)
{
    return &ompi_ftmpi_enabled != NULL && ompi_ftmpi_enabled;
}

static inline bool compat_revoked(ompi_communicator_t *comm)
{
    int revoked = 0;
    return PMPIX_Comm_is_revoked != NULL && PMPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS &&
           revoked;
}

/* Returns whether a process of the communicator has failed, on any node, as far as Open MPI
 * knows. */
static inline bool compat_has_failed(ompi_communicator_t *comm)
{
    bool failed = false;

    for (int r = 0; &ompi_comm_is_proc_active != NULL && !failed && r < ompi_comm_size(comm); r++)
        failed = !ompi_comm_is_proc_active(comm, r, false);
    return failed;
}

/* Looks up a function of PMIx, which Open MPI's libraries load.  Nothing is linked to PMIx, because
 * builds of Open MPI use different ones. */
static inline void *compat_pmix(const char *name)
{
    void *mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD); /* never closed: only adds a
                                                                    reference */

    return mpi != NULL ? dlsym(mpi, name) : NULL;
}

/* Keeps the function for look-ups, found before a rank publishes: a rank may publish only if able
 * to look up. */
static __attribute__((unused)) __typeof__(&PMIx_Get) compat_get;
static __attribute__((unused)) __typeof__(&PMIx_Value_free) compat_release; /* missing in some
                                                                               versions */

/* Publishes a value as in 4.1.  Does not use Open MPI's macros, because they treat every failure as
 * a missing key. */
static inline bool compat_publish(const char *key, uint32_t value, bool everywhere)
{
    __typeof__(&PMIx_Put) put = (__typeof__(put))compat_pmix("PMIx_Put");
    pmix_value_t kv = { .type = PMIX_UINT32, .data.uint32 = value };

    compat_get = (__typeof__(compat_get))compat_pmix("PMIx_Get");
    compat_release = (__typeof__(compat_release))compat_pmix("PMIx_Value_free");
    return put != NULL && compat_get != NULL &&
           put(everywhere ? PMIX_GLOBAL : PMIX_LOCAL, key, &kv) == PMIX_SUCCESS;
}

static inline int compat_look(int rank, const char *key, uint32_t *value)
{
    pmix_proc_t proc = opal_process_info.myprocid;
    pmix_info_t now = { .key = PMIX_IMMEDIATE, .value = { .type = PMIX_BOOL, .data.flag = true } };
    pmix_value_t *kv = NULL;

    proc.rank = (pmix_rank_t)rank;
    int rc = compat_get(&proc, key, &now, 1, &kv);
    bool there = rc == PMIX_SUCCESS && kv != NULL && kv->type == PMIX_UINT32;
    if (there)
        *value = kv->data.uint32;
    if (kv != NULL && compat_release != NULL)
        compat_release(kv, 1);
    bool none = rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND ||
                rc == PMIX_ERR_DATA_VALUE_NOT_FOUND || rc == PMIX_ERR_PROC_ENTRY_NOT_FOUND ||
                rc == PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    return there ? 0 : none ? 1 : -1;
}

/*
 * Keeps the function for look-ups of ranks on all nodes, by the launcher's name service.  For a key
 * published with the modex, the server of another node may answer at once without knowing the key,
 * or wait for ever for a missing key.  A key unknown to the name service was not published.
 */
static __attribute__((unused)) __typeof__(&PMIx_Lookup) compat_find;

static inline void compat_name_far(char *key, size_t bytes, int rank)
{
    snprintf(key, bytes, "huddle.nodes.%d", rank);
}

static inline pmix_info_t compat_job_only(void)
{
    return (pmix_info_t){
        .key = PMIX_RANGE, .value = { .type = PMIX_DATA_RANGE, .data.range = PMIX_RANGE_NAMESPACE }
    };
}

static inline bool compat_publish_far(int rank, uint32_t value)
{
    __typeof__(&PMIx_Publish) publish = (__typeof__(publish))compat_pmix("PMIx_Publish");
    pmix_info_t info[2] = { { .value = { .type = PMIX_UINT32, .data.uint32 = value } },
                            compat_job_only() };

    compat_find = (__typeof__(compat_find))compat_pmix("PMIx_Lookup");
    compat_name_far(info[0].key, sizeof info[0].key, rank);
    return publish != NULL && compat_find != NULL && publish(info, 2) == PMIX_SUCCESS;
}

/* Returns whether the value was written by this rank of this job. */
static inline bool compat_is_of(const pmix_pdata_t *found, int rank)
{
    return found->value.type == PMIX_UINT32 && found->proc.rank == (pmix_rank_t)rank &&
           strncmp(found->proc.nspace, opal_process_info.myprocid.nspace, PMIX_MAX_NSLEN) == 0;
}

static inline int compat_look_far(int rank, uint32_t *value)
{
    pmix_pdata_t data = { .key = "" };
    pmix_info_t range = compat_job_only();

    compat_name_far(data.key, sizeof data.key, rank);
    int rc = compat_find(&data, 1, &range, 1);
    if (rc == PMIX_SUCCESS && compat_is_of(&data, rank)) {
        *value = data.value.data.uint32;
        return 0;
    }
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND || rc == PMIX_ERR_PARTIAL_SUCCESS ? 1
                                                                                            : -1;
}

/* Returns whether all ranks have published this value, by a single question. */
static inline bool compat_look_all(int ranks, uint32_t value)
{
    pmix_pdata_t *data = calloc((size_t)ranks, sizeof *data);
    pmix_info_t range = compat_job_only();
    bool all = data != NULL;

    for (int r = 0; r < ranks && all; r++)
        compat_name_far(data[r].key, sizeof data[r].key, r);
    all = all && compat_find(data, (size_t)ranks, &range, 1) == PMIX_SUCCESS;
    for (int r = 0; r < ranks && all; r++)
        all = compat_is_of(&data[r], r) && data[r].value.data.uint32 == value;
    free(data);
    return all;
}

#else
#error "the component is built for Open MPI 4.1 and 5.0"
#endif

#endif
