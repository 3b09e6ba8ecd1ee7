/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * component.h - declarations that the files of the Open MPI component share.
 *
 *   component.c   the component: opened once per process, asked once per communicator, closed in
 *                 MPI_Finalize
 *   module.c      one communicator: the team, and the modules that served its collectives before
 *   below.c       these modules
 *   exchange.c    how the members of a team reach each other while nobody waits
 *   handled.c     the collectives that huddle serves
 *   many.c        those with a buffer for each rank
 *   nonblocking.c their nonblocking forms
 *   persistent.c  their persistent forms
 *   request.c     the requests of both
 *   progress.c    advances them in Open MPI's own waits
 *   messages.c    messages between nodes
 *   view.c        a user's buffer of any datatype as a hud_view
 *   reduction.c   an operation on a datatype as a hud_op
 *   settings.c    the settings as MCA parameters coll_huddle_*
 *   living.c      whether this Open MPI's objects are laid out as its headers said
 *   published.c   which ranks use huddle, by the launcher's exchange of keys and values
 *   inject.c      how the component enters an Open MPI that loads none from files
 */
#ifndef HUD_OPENMPI_COMPONENT_H
#define HUD_OPENMPI_COMPONENT_H

#include "host/device/device.h"
#include "huddle/huddle.h"

#include "compat.h"

extern HUD_API mca_coll_base_component_t mca_coll_huddle_component;

/* Whether one of Open MPI's own is complete; then what it has received can be read, though another
 * thread may have completed it. */
static inline bool hud_request_is_over(ompi_request_t *request)
{
    if (!REQUEST_COMPLETE(request))
        return false;
    opal_atomic_rmb();
    return true;
}

/* module.c: a module for a communicator that is not yet enabled; NULL: out of memory. */
mca_coll_base_module_t *hud_module_create(hud_context *context, bool nonblocking);
/* No memory for one, not even what is kept.  Where the others may have one they would wait for this
 * rank in the set-up of the team: ends the job then. */
void hud_module_give_up(struct ompi_communicator_t *comm);
/* One module is kept aside from the first call on, until the second one. */
void hud_module_prepare(void);
void hud_module_finish(void);
/* Bytes that the base class may have in a module of ours. */
size_t hud_module_room(void);

/* view.c */
enum { VIEW_CONVERTOR_ROOM = 1024, VIEW_SPILL = 64 };
enum view_use { VIEW_PACKS, VIEW_UNPACKS };

/* One of Open MPI's convertors.  Any number of views may share it, at the price of setting it up
 * anew when another's turn comes. */
struct view_convertor {
    const struct view_state *serves; /* NULL: it is not set up */
    enum view_use use;
    union {
        opal_convertor_t convertor;
        char room[VIEW_CONVERTOR_ROOM]; /* a build of Open MPI for CUDA has a longer one */
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
    char *
        stage; /* packed bytes [0, staged_bytes) that wait to be unpacked; NULL: they do not wait */
    size_t staged_bytes;
    bool filled;                   /* something has arrived */
    bool one_run;                  /* the buffer is contiguous */
    bool failed;                   /* no memory for a stage or for runs: what arrived was dropped */
    struct hud_device_view device; /* of memory that Open MPI does not know; its runs are made by
                                      the first copy */
};

/* Before the first and after the last of its views. */
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

/* Opens any other buffer; the state has its convertor already.  (More arguments would be passed on
 * the stack.) */
void hud_view_open_other(void *buffer, size_t count, const opal_datatype_t *type,
                         struct view_state *state, struct hud_module *module,
                         struct hud_view *view);
int hud_view_end(struct hud_view *view, int status);

/* The view of a buffer of a call of that module's; state and convertor must outlive it.  Inlined:
 * in a call of a few bytes it counts, once for each rank's buffer. */
static inline void hud_view_open(void *buffer, size_t count, const ompi_datatype_t *type,
                                 struct view_state *state, struct view_convertor *convertor,
                                 struct hud_module *module, struct hud_view *view)
{
    const opal_datatype_t *t = &type->super;

    *view = (struct hud_view){ .bytes = count * t->size };
    if (view->bytes == 0)
        return; /* at no address: it may be that of other bytes, as if in place */
    view->base = (char *)buffer + t->true_lb;
    if (__builtin_expect(!opal_datatype_is_contiguous_memory_layout(t, count == 1 ? 1 : 2) ||
                             !hud_device_is_plain(view->base),
                         0)) {
        state->convertor = convertor;
        hud_view_open_other(buffer, count, t, state, module, view);
    }
}

/* Afterwards.  Returns the status of the call: an error if there was no memory, or if a copy of a
 * device has failed, and the buffer lacks what arrived. */
static inline int hud_view_close(struct hud_view *view, int status)
{
    return view->host == NULL ? status : hud_view_end(view, status);
}

/* Whole elements of a datatype that is not contiguous, from and to their packed form. */
void hud_elements_unpack(const opal_datatype_t *type, size_t count, const void *packed, void *base);
void hud_elements_pack(const opal_datatype_t *type, size_t count, const void *base, void *packed);

/* reduction.c: an operation that Open MPI applies for huddle. */
struct hud_reduction {
    struct hud_op op;
    struct ompi_op_t *apply;
    ompi_datatype_t *type;
    bool one_run;   /* elements lie in memory as they are packed */
    ptrdiff_t base; /* where the first element is laid out, and */
    size_t piece;   /* how many at a time */
    char *wide; /* room for two elements, wide_bytes each, that the stack has none for; NULL: it has
                 */
    size_t wide_bytes;
};

void hud_reduction_prepare(void); /* once, when Open MPI's predefined datatypes are */
/*
 * The operation on that type, to be closed after HUD_OK; may point into own.  HUD_PASS: Open MPI's
 * own collective must serve it, on all ranks alike; HUD_ERR_MEMORY: this rank has no memory to
 * apply it in, which is an error of the call.
 */
int hud_reduction_open(struct ompi_op_t *op, ompi_datatype_t *type, struct hud_reduction *own,
                       const struct hud_op **found);
void hud_reduction_close(struct hud_reduction *own);
const char *hud_reduction_name(struct ompi_op_t *op);

/* settings.c: registers coll_huddle_*; those given explicitly as "NAME=VALUE", NULL-terminated,
 * valid until hud_openmpi_settings_drop. */
int hud_openmpi_settings_register(const mca_base_component_t *component);
const char *const *hud_openmpi_settings_given(void);
void hud_openmpi_settings_drop(void);

/* published.c: tells the other ranks that this one uses huddle, if it does, before the modex; with
 * `nodes`, also those of other nodes.  Whether a rank of the job has told this one
 * (hud_host.present). */
void hud_openmpi_publish(bool serves, unsigned manner, bool nodes);
int hud_openmpi_published(void *arg, int world_rank);
bool hud_openmpi_spans(void); /* with `nodes` */

/* living.c: NULL if the process's Open MPI has the layout of the headers, else what differs. */
const char *hud_openmpi_misfit(void); /* before any communicator exists */
const char *hud_openmpi_misfit_of(const ompi_communicator_t *comm); /* of an intra-communicator */

/* own.c: returns this Open MPI's function of a name, or `by_symbol` if it cannot be found. */
void *hud_openmpi_function(const char *name, void *by_symbol);
#define OWN(name)                                                                                  \
    ((__typeof__(&PMPI_##name))hud_openmpi_function("PMPI_" #name, (void *)(uintptr_t)PMPI_##name))

/* component.c: MPI_Init has returned.  Reports that Open MPI has left the component out. */
void hud_openmpi_initialised(void);

/* "huddle: ..." on rank 0's standard error, unless HUDDLE_LOG says quiet or error. */
void hud_openmpi_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a reason for which huddle handles no call of the job: HUDDLE=require ends it. */
void hud_openmpi_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
