/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flows.h - bytes that move as flows over resources of limited capacity, shared by max-min
 * fairness.
 *
 * A flow moves its bytes along a path: the resources that it uses at the same time, each with a
 * weight (bytes moved there per byte of the flow), and a rate that it never exceeds.  Rates follow
 * progressive filling: all grow equally until a resource is full or a flow has reached its own
 * limit.  Flows limited by it keep their rate, and the others grow further.  Rates change only when
 * a flow begins or ends.
 *
 * Flows of one path have one rate, regardless of their number.  So the time to compute the rates
 * grows with the paths in use, not with the flows.
 *
 * Pure: no machine, no fibers.  1 GB/s is a byte per ns.  Running out of memory ends the program,
 * as in all of src/sim.
 */
#ifndef HUD_FLOWS_H
#define HUD_FLOWS_H

struct flow_path {
    struct flow_use {
        int resource;
        double weight; /* > 0 */
    } * use;
    int uses, room;
    double max_gbps; /* of one flow; > 0, finite if it uses nothing */
};

/* One more use of a path: weights of the same resource add up.  A weight of 0 is none. */
void hud_flow_use(struct flow_path *path, int resource, double weight);
void hud_flow_free(struct flow_path *path); /* its uses */

struct sim_flows;

/* Time is 0.  Resources 0..resources - 1, each of a capacity > 0, which may be infinite. */
struct sim_flows *hud_flows_create(const double *capacity_gbps, int resources);
/* What so many flows of a resource get together, of_flows[1], of_flows[2] ...; more than `max` get
 * its capacity.  The array must live as long. */
void hud_flows_limit(struct sim_flows *f, int resource, const double *of_flows, int max);
void hud_flows_free(struct sim_flows *f);

/*
 * A flow of >= 0 bytes begins on a path, which is the caller's; one of 0 ends at now_ns, as any
 * does by hud_flows_end.  now_ns is neither before the latest time given here nor after
 * hud_flows_next.  `who` is what hud_flows_end will return.
 */
void hud_flows_begin(struct sim_flows *f, const struct flow_path *path, double bytes, double now_ns,
                     int who);
/* When the next flow ends, if none begins before; INFINITY: there is none. */
double hud_flows_next(struct sim_flows *f);
/* It is that time: ends that flow and says whose it was; several that end then do so path by path,
 * in the order in which they began.  There must be one. */
int hud_flows_end(struct sim_flows *f);

/* GB/s that the flows of a path have now; 0: there is none. */
double hud_flows_rate(struct sim_flows *f, const struct flow_path *path);
/* Bytes that have moved through a resource, up to the latest time given or ended. */
double hud_flows_carried(const struct sim_flows *f, int resource);
void hud_flows_forget(struct sim_flows *f); /* all of these */

#endif
