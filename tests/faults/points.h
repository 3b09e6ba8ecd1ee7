/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * points.h - calls of huddle's own that may fail: which they are, which one fails, and what is
 * known of them at the end.
 *
 * A site is a kind of call and the place in a library of huddle's that makes it; a point is the
 * n-th call of a site in one process, written KIND@LIBRARY+OFFSET#N.  Environment:
 *
 *   FAULTS_LOG      folder for a file "rank.N" of each rank: its sites, its teams and what their
 *                   calls answered
 *   FAULTS_RANK     the rank in which a call fails
 *   FAULTS_POINT    the call
 *   FAULTS_ERROR    its error number; 0: it ends early, with a part of what was asked for
 *   FAULTS_FOREVER  from then on all calls of this kind fail
 */
#ifndef HUD_TESTS_POINTS_H
#define HUD_TESTS_POINTS_H

#include <stdbool.h>
#include <stddef.h>

enum fault { FAULT_NONE, FAULT_FAILS, FAULT_PARTIAL };

/* A call by `caller`: counts it if the caller is huddle.  FAULT_FAILS: errno is set. */
enum fault faults_meet(const char *kind, const void *caller);

/* The definition behind ours, in the libraries after this one, else in the named one. */
void *faults_find(const char *name, const char *library);

/* What huddle holds: obtained at `caller`, given back by anybody.  key: the address, or the
 * descriptor plus 1. */
void faults_hold(const char *kind, const void *caller, const void *key);
void faults_drop(const void *key);

/* A process is forked: the child's number, for ranks that no launcher numbers. */
void faults_forked(int number);

/* A line for the rank's file, and the file itself: what was written before is replaced. */
void faults_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void faults_write(void);

#endif
