/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bandwidth.h - bytes that move as flows over resources of limited capacity, shared by max-min
 * fairness.
 *
 * A flow moves its bytes along a path.  A path has the resources that the flow uses at the same
 * time, each with a weight (bytes moved there per byte of the flow), and a rate that the flow never
 * exceeds.  Rates follow progressive filling: all grow equally until a resource is full or a flow
 * has reached its own limit.  Flows limited by it keep their rate, and the others grow further.
 * Rates change only when a flow begins or ends.
 *
 * Flows of one path have one rate, regardless of their number.  So the time to compute the rates
 * grows with the paths in use, not with the flows.
 *
 * Pure: no machine, no fibers.  1 GB/s is a byte per ns.  Running out of memory ends the program,
 * as in all of lab/sim.
 */
#ifndef HUD_SIM_BANDWIDTH_H
#define HUD_SIM_BANDWIDTH_H

struct flow_path {
    struct flow_use {
        int resource;
        double weight; /* > 0 */
    } * use;
    int uses, room;
    double max_gbps; /* limit of one flow; > 0, and finite if the path has no uses */
};

/* Adds a use to a path.  Weights of the same resource add up, and a weight of 0 adds nothing. */
void hud_flow_use(struct flow_path *path, int resource, double weight);
/* Frees the uses of a path. */
void hud_flow_free(struct flow_path *path);

struct sim_bandwidth;

/* Creates flows at time 0 over resources 0..resources - 1, each of a capacity > 0, which may be
 * infinite. */
struct sim_bandwidth *hud_bandwidth_create(const double *capacity_gbps, int resources);
/* Limits the total rate of the flows of a resource by their number: of_flows[1], of_flows[2], ...
 * More than `max` flows get the resource's capacity.  The array must outlive the flows. */
void hud_bandwidth_limit(struct sim_bandwidth *f, int resource, const double *of_flows, int max);
void hud_bandwidth_free(struct sim_bandwidth *f);

/*
 * Begins a flow of >= 0 bytes on a path, which stays the caller's.  A flow of 0 bytes ends at
 * now_ns, and like every flow ends in hud_bandwidth_end.  now_ns is neither before the latest time
 * given here nor after hud_bandwidth_next.  hud_bandwidth_end will return `who`.
 */
void hud_bandwidth_begin(struct sim_bandwidth *f, const struct flow_path *path, double bytes,
                         double now_ns, int who);
/* Returns the time at which the next flow ends if none begins before, or INFINITY without flows. */
double hud_bandwidth_next(struct sim_bandwidth *f);
/* Ends the flow due at the time of hud_bandwidth_next, and returns its `who`.  There must be a
 * flow.  Flows with the same end time end path by path, in the order in which they began. */
int hud_bandwidth_end(struct sim_bandwidth *f);

/* Returns the current rate in GB/s of each flow of a path, or 0 without such flows. */
double hud_bandwidth_rate(struct sim_bandwidth *f, const struct flow_path *path);
/* Returns the bytes that have moved through a resource, up to the latest time given or ended.
 * hud_bandwidth_forget resets these counts of all resources. */
double hud_bandwidth_carried(const struct sim_bandwidth *f, int resource);
void hud_bandwidth_forget(struct sim_bandwidth *f);

#endif
