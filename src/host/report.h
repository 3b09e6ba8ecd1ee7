/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - lines of the front ends that do not belong to a context. */
#ifndef HUD_HOST_REPORT_H
#define HUD_HOST_REPORT_H

/* Prints "huddle: ..." on rank 0's standard error, unless HUDDLE_LOG is quiet or error. */
void hud_report_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports why huddle handles no call of the job.  With HUDDLE=require, ends the job. */
void hud_report_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
