/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_context.c - see wisdom_context.h. */
#define _GNU_SOURCE
#include "core/job/wisdom_context.h"
#include "core/config/log.h"
#include "core/job/context.h"
#include "core/job/wisdom_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The file while it is read.  Too large for a small stack. */
struct file {
    struct wisdom_place place;
    struct rules rules;
    char why[WISDOM_WHY];
};

/* Prints a line about the file, as a warning on rank 0 of the job. */
static void report(const struct hud_context *c, const char *why)
{
    if (why[0] != '\0')
        hud_log(&c->config, c->host.world_rank == 0 ? LOG_WARN : LOG_INFO, "HUDDLE_WISDOM: %s",
                why);
}

/* Adds the lines of the rules, last rules first: of two rules the first counts. */
static void add(struct hud_context *c, const struct rules *rules)
{
    struct wisdom_line *line = malloc(((size_t)rules->count + 1) * sizeof *line);
    int lines = 0;

    for (int i = rules->count - 1; line && i >= 0; i--)
        lines += hud_wisdom_line(&c->config, &rules->rule[i], &line[lines]);
    pthread_mutex_lock(&c->lock);
    hud_wisdom_add_file(&c->learn.wisdom, line, lines);
    pthread_mutex_unlock(&c->lock);
    free(line);
}

void hud_wisdom_keep_path(struct hud_context *c)
{
    const char *path = c->config.text[SET_WISDOM];

    if (c->config.number[SET_WISDOM] != WISDOM_FILE || path[0] == '/')
        return;
    char *folder = get_current_dir_name();
    if (folder && asprintf(&c->learn.wisdom.path, "%s/%s", folder, path) < 0)
        c->learn.wisdom.path = NULL;
    free(folder);
}

/* Returns the setting, with the absolute path if it is known. */
static const char *setting(const struct hud_context *c)
{
    return c->learn.wisdom.path ? c->learn.wisdom.path : c->config.text[SET_WISDOM];
}

bool hud_wisdom_load(struct hud_context *c)
{
    pthread_mutex_lock(&c->lock);
    bool reads = !c->learn.wisdom.file_read && c->config.number[SET_WISDOM] != WISDOM_OFF;
    c->learn.wisdom.file_read = c->learn.wisdom.file_read || reads;
    c->learn.wisdom.reader = c->learn.wisdom.reader || reads;
    pthread_mutex_unlock(&c->lock);
    struct file *f = reads ? malloc(sizeof *f) : NULL;
    if (f && hud_wisdom_place(setting(c), c->id.mpi_name, &f->place)) {
        hud_wisdom_read(&f->place, &f->rules, f->why);
        report(c, f->why);
        c->learn.wisdom.error_printed = f->why[0] != '\0';
        add(c, &f->rules);
        hud_rules_free(&f->rules);
    }
    free(f);
    return reads;
}

void hud_wisdom_save(struct hud_context *c)
{
    struct wisdom_place place;
    char why[WISDOM_WHY];

    if (c->learn.wisdom.owns == 0 || c->config.number[SET_WISDOM] == WISDOM_READ ||
        !hud_wisdom_place(setting(c), c->id.mpi_name, &place))
        return;
    if (!hud_wisdom_write(&place, c->learn.wisdom.own, c->learn.wisdom.owns, c->learn.wisdom.reader,
                          why) &&
        !c->learn.wisdom.error_printed)
        report(c, why);
}
