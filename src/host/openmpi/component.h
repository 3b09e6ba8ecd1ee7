/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * component.h - declarations that the files of the Open MPI component share.
 *
 *   component.c   the component: opened once per process, asked once per communicator, closed in
 *                 MPI_Finalize
 *   module.c      one communicator: the team, and the modules that served its collectives before
 *   communicator.c  facts about a communicator, and memory for its ranks
 *   fallback_module.c  these modules
 *   rivals.c      components with a higher priority
 *   exchange.c    the nonblocking allgathers by which members of a team set it up
 *   handled.c     the collectives that huddle serves
 *   vector_views.c  collectives with a buffer for each rank
 *   nonblocking.c their nonblocking forms
 *   callers.c     whose calls the nonblocking ones are; callers_probe.c checks this
 *   persistent.c  their persistent forms
 *   request.c     the requests of both
 *   progress.c    advances requests in Open MPI's own waits
 *   messages.c    messages between nodes
 *   view.c        a user's buffer of any datatype as a hud_view
 *   reduction.c   an operation on a datatype as a hud_op
 *   settings.c    the settings as MCA parameters coll_huddle_*
 *   abi_check.c   whether this Open MPI's objects have the layout of its headers
 *   published.c   the ranks that use huddle, by the launcher's exchange of keys and values
 *   inject.c      adds the component to an Open MPI that loads none from files
 */
#ifndef HUD_OPENMPI_COMPONENT_H
#define HUD_OPENMPI_COMPONENT_H

#include "host/device/device.h"
#include "host/report.h"
#include "huddle/huddle.h"

#include "compat.h"

extern HUD_API mca_coll_base_component_t mca_coll_huddle_component;

/* Returns whether a request of Open MPI is complete.  Then its received data can be read, even if
 * another thread has completed the request. */
static inline bool hud_request_is_over(ompi_request_t *request)
{
    if (!REQUEST_COMPLETE(request))
        return false;
    opal_atomic_rmb();
    return true;
}

/* Creates a module for a communicator that is not yet enabled (module.c).  Returns NULL if out of
 * memory. */
mca_coll_base_module_t *hud_module_create(hud_context *context, bool nonblocking);
/* Handles the lack of memory for a module, including the spare module.  Ends the job if other ranks
 * may have a module: they would wait for this rank in the set-up of the team. */
void hud_module_give_up(struct ompi_communicator_t *comm);
/* Keeps a spare module from the first call of hud_module_prepare until hud_module_finish. */
void hud_module_prepare(void);
void hud_module_finish(void);
extern opal_class_t hud_module_class; /* the class of huddle's modules */

/* view.c */
enum { VIEW_CONVERTOR_ROOM = 1024, VIEW_SPILL = 64 };
enum view_use { VIEW_PACKS, VIEW_UNPACKS };

/* A convertor of Open MPI.  Any number of views may share it, but it must be set up again when
 * another view uses it. */
struct view_convertor {
    const struct view_state *serves; /* NULL: not set up */
    enum view_use use;
    union {
        opal_convertor_t convertor;
        char room[VIEW_CONVERTOR_ROOM]; /* an Open MPI built for CUDA has a longer convertor */
    };
    unsigned char spill[VIEW_SPILL]; /* packed bytes [spill_from, spill_from + spill_bytes): an
                                        element that did not fit */
    size_t spill_from, spill_bytes;
};

/* The state behind a view that is not contiguous, for one collective. */
struct view_state {
    const void *buffer;
    size_t count;
    const opal_datatype_t *type;
    struct view_convertor *convertor;
    char *stage; /* packed bytes [0, staged_bytes) to be unpacked later; NULL: not staged */
    size_t staged_bytes;
    bool filled;                   /* data has arrived */
    bool one_run;                  /* the buffer is contiguous */
    bool failed;                   /* no memory for a stage or for runs: data that arrived was
                                      dropped */
    struct hud_device_view device; /* memory that Open MPI does not know; the first copy creates
                                      its runs */
};

/* Opens a convertor before its first view, and closes the convertor after its last. */
static inline void hud_convertor_open(struct view_convertor *convertor)
{
    convertor->serves = NULL;
}

void hud_convertor_end(struct view_convertor *convertor);

static inline void hud_convertor_close(struct view_convertor *convertor)
{
    if (__builtin_expect(convertor->serves != NULL, 0))
        hud_convertor_end(convertor);
}

struct hud_module;

/* Opens any other buffer, whose state has a convertor.  (More arguments would be passed on the
 * stack.) */
void hud_view_open_other(void *buffer, size_t count, const opal_datatype_t *type,
                         struct view_state *state, struct hud_module *module,
                         struct hud_view *view);
int hud_view_end(struct hud_view *view, int status);

/* Opens the view of a buffer in a call of the module.  The state and the convertor must outlive the
 * view.  Inlined, because the time matters in a call of a few bytes, once for each rank's
 * buffer. */
static inline void hud_view_open(void *buffer, size_t count, const ompi_datatype_t *type,
                                 struct view_state *state, struct view_convertor *convertor,
                                 struct hud_module *module, struct hud_view *view)
{
    const opal_datatype_t *t = &type->super;

    *view = (struct hud_view){ .bytes = count * t->size };
    if (view->bytes == 0)
        return; /* no address: it could be equal to another buffer's, as if in place */
    view->base = (char *)buffer + t->true_lb;
    if (__builtin_expect(!opal_datatype_is_contiguous_memory_layout(t, count == 1 ? 1 : 2) ||
                             !hud_device_is_plain(view->base),
                         0)) {
        state->convertor = convertor;
        hud_view_open_other(buffer, count, t, state, module, view);
    }
}

/* Closes the view after the call.  Returns the status of the call, or an error if there was no
 * memory, or a copy of a device has failed, so that the buffer lacks data. */
static inline int hud_view_close(struct hud_view *view, int status)
{
    return view->host == NULL ? status : hud_view_end(view, status);
}

/* Unpacks or packs whole elements of a datatype that is not contiguous. */
void hud_elements_unpack(const opal_datatype_t *type, size_t count, const void *packed, void *base);
void hud_elements_pack(const opal_datatype_t *type, size_t count, const void *base, void *packed);

/* An operation that Open MPI applies for huddle (reduction.c). */
struct hud_reduction {
    struct hud_op op;
    struct ompi_op_t *apply;
    ompi_datatype_t *type;
    bool one_run;   /* elements have their packed layout in memory */
    ptrdiff_t base; /* offset of the first element's layout */
    size_t piece;   /* elements at a time */
    char *wide; /* space for two elements of wide_bytes each, if too large for the stack; otherwise
                   NULL */
    size_t wide_bytes;
};

void hud_reduction_prepare(void); /* called once, after Open MPI has defined its datatypes */
/*
 * Converts the operation on a type to a hud_op, which may point into own.  Returns HUD_OK, after
 * which own must be closed; HUD_PASS if Open MPI's own collective must be used, on all ranks; or
 * HUD_ERR_MEMORY if this rank has no memory for applying the operation, which makes the call fail.
 */
int hud_reduction_open(struct ompi_op_t *op, ompi_datatype_t *type, struct hud_reduction *own,
                       const struct hud_op **found);
void hud_reduction_close(struct hud_reduction *own);
const char *hud_reduction_name(struct ompi_op_t *op);

/* Registers the parameters coll_huddle_* (settings.c).  hud_openmpi_settings_given returns the
 * explicitly set ones as "NAME=VALUE", NULL-terminated, valid until hud_openmpi_settings_drop. */
int hud_openmpi_settings_register(const mca_base_component_t *component);
const char *const *hud_openmpi_settings_given(void);
void hud_openmpi_settings_drop(void);

/* Publishes before the modex that this rank uses huddle, if so; with `nodes`, also to other nodes
 * (published.c).  The others return whether a rank of this node (hud_host.present), or of any node
 * (hud_host.present_far), has published the same. */
void hud_openmpi_publish(bool serves, unsigned manner, bool nodes);
int hud_openmpi_published(void *arg, int world_rank);
int hud_openmpi_published_far(void *arg, int world_rank);
bool hud_openmpi_spans(void); /* returns whether `nodes` was set, in a job of several nodes */

/* Returns NULL if the process's Open MPI has the layout of the headers, or the difference
 * (abi_check.c). */
const char *hud_openmpi_misfit(void); /* called before any communicator exists */
const char *
hud_openmpi_misfit_of(const ompi_communicator_t *comm); /* takes an intra-communicator */

/* Returns this Open MPI's function of a name, or `by_symbol` if there is none (own.c). */
void *hud_openmpi_function(const char *name, void *by_symbol);
#define OWN(name)                                                                                  \
    ((__typeof__(&PMPI_##name))hud_openmpi_function("PMPI_" #name, (void *)(uintptr_t)PMPI_##name))

/* Reports the components that serve collectives of the communicator instead of huddle
 * (rivals.c). */
void hud_module_report_rivals(const ompi_communicator_t *comm, int priority);
/* Reports that Open MPI has not used the component, or prefers others; called after MPI_Init
 * (component.c). */
void hud_openmpi_initialised(void);

#endif
