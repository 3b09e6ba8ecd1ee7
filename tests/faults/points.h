/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * points.h - calls made by huddle that may fail: which calls these are, which call fails, and the
 * state recorded at the end.
 *
 * A site is a kind of call and the place in a library of huddle that makes the call. A point is the
 * n-th call of a site in one process, written KIND@LIBRARY+OFFSET#N. Environment:
 *
 *   FAULTS_LOG      folder for a file "rank.N" of each rank: its sites, its teams and the status
 *                   of their calls
 *   FAULTS_RANK     the rank in which a call fails
 *   FAULTS_POINT    the call that fails
 *   FAULTS_ERROR    its error number; with 0 the call succeeds but handles only part of the request
 *   FAULTS_FOREVER  after the first failure, all calls of this kind fail
 */
#ifndef HUD_TESTS_POINTS_H
#define HUD_TESTS_POINTS_H

#include <stdbool.h>
#include <stddef.h>

enum fault { FAULT_NONE, FAULT_FAILS, FAULT_PARTIAL };

/* Counts a call by `caller`, if the caller is huddle, and decides whether the call fails. With
 * FAULT_FAILS, errno is set. */
enum fault faults_meet(const char *kind, const void *caller);

/* Finds the next definition of a function, in the libraries loaded after this one or else in the
 * named library. */
void *faults_find(const char *name, const char *library);

/* Records that huddle holds a resource obtained at `caller`, until any code releases the resource.
 * The key is its address, or a descriptor plus 1. */
void faults_hold(const char *kind, const void *caller, const void *key);
void faults_drop(const void *key);

/* Sets the rank of a forked child, for jobs without a launcher that numbers the ranks. */
void faults_forked(int number);

/* Adds a line to the notes of this rank, and writes the notes to the rank's file. Writing replaces
 * the earlier contents. */
void faults_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void faults_write(void);

#endif
