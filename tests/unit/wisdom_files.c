/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_files.c - see wisdom_files.h. */
#include "wisdom_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct wisdom_files files;

/* ---- calls that fail ---- */

static bool fails(void)
{
    if (++files.calls != files.countdown)
        return false;
    if (files.instead) {
        files.instead();
        return false;
    }
    if (files.error < 0)
        raise(SIGKILL);
    errno = files.error;
    return true;
}

#define WRAP(type, name, parameters, arguments, failure)                                           \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails() ? (failure) : __real_##name arguments;                                      \
    }

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
    return fails() ? -1 : __real_open(path, flags, mode);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    int rc = fails() ? -1 : __real_fstat(fd, st);

    if (rc == 0 && files.foreign)
        st->st_uid = geteuid() + 12345;
    return rc;
}

/* Fails after the descriptor is closed, as the kernel does. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool fault = fails();
    int error = errno, rc = __real_close(fd);

    errno = fault ? error : errno;
    return fault ? -1 : rc;
}

WRAP(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes), -1)
WRAP(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes), -1)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)

int __real_gethostname(char *name, size_t bytes);
int __wrap_gethostname(char *name, size_t bytes);
int __wrap_gethostname(char *name, size_t bytes)
{
    if (files.host)
        strncpy(name, files.host, bytes); /* adds no zero if it is cut off, as the C library */
    return files.host ? 0 : __real_gethostname(name, bytes);
}

WRAP(int, lstat, (const char *path, struct stat *st), (path, st), -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1)
WRAP(int, unlink, (const char *path), (path), -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
WRAP(void *, malloc, (size_t bytes), (bytes), NULL)
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes), NULL)

/* ---- the file ---- */

void files_put(const char *path, const char *text, size_t bytes)
{
    int fd = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(__real_write(fd, text, bytes), bytes);
    assert_int_equal(__real_close(fd), 0);
}

ssize_t files_get(const char *path, char *text)
{
    int fd = __real_open(path, O_RDONLY, 0);
    ssize_t bytes = fd >= 0 ? __real_read(fd, text, 2 * (size_t)WISDOM_MAX) : -1;

    if (fd >= 0)
        __real_close(fd);
    return bytes;
}

bool files_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

int files_count(char other[NAME_MAX + 1])
{
    char folder[PATH_MAX];
    int count = 0;

    other[0] = '\0';
    memcpy(folder, files.place.path, sizeof folder);
    *strrchr(folder, '/') = '\0';
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (const struct dirent *one; (one = readdir(all)) != NULL;) {
        if (one->d_name[0] == '.')
            continue;
        count++;
        if (strcmp(one->d_name, strrchr(files.place.path, '/') + 1) != 0)
            snprintf(other, NAME_MAX + 1, "%s", one->d_name);
    }
    closedir(all);
    return count;
}

void files_make_old(const char *path)
{
    struct timespec old[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - 100 } };

    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

void files_begin_fault(int countdown, int error)
{
    files.countdown = countdown;
    files.error = error;
    files.calls = 0;
}

void files_find_place(void)
{
    assert_true(hud_wisdom_place("on", WISDOM_FILES_MPI, &files.place));
    snprintf(files.new_path, sizeof files.new_path, "%s.new", files.place.path);
}

int files_begin(void **state)
{
    (void)state;
    memcpy(files.folder, "/tmp/wisdom.XXXXXX", sizeof "/tmp/wisdom.XXXXXX");
    assert_non_null(mkdtemp(files.folder));
    setenv("XDG_CACHE_HOME", files.folder, 1);
    files_begin_fault(0, 0);
    files_find_place();
    return 0;
}

int files_end(void **state)
{
    char command[128];

    (void)state;
    files_begin_fault(0, 0);
    files.foreign = false;
    files.instead = NULL;
    files.host = NULL;
    hud_rules_free(&files.rules);
    snprintf(command, sizeof command, "rm -rf %s", files.folder);
    return system(command);
}

struct rule files_cell(int number)
{
    struct rule r = { .kind = COLL_ALLGATHER,
                      .row = -1,
                      .than = -1,
                      .direct = -1,
                      .quick = -1,
                      .reduction = -1,
                      .min_ranks = 2 + number / PLAN_CLASSES,
                      .max_ranks = 2 + number / PLAN_CLASSES,
                      .ns = 1000 + (uint64_t)number,
                      .samples = 20,
                      .runner_up = -1,
                      .before = -1,
                      .within = "machine",
                      .date = "2026-11-30" };
    int class = number % PLAN_CLASSES;

    r.min_bytes = class > 0 ? plan_class_bytes(class - 1) + 1 : 0;
    r.max_bytes = plan_class_bytes(class);
    return r;
}

bool files_write_cell(int number)
{
    struct rule r = files_cell(number);

    return hud_wisdom_write(&files.place, &r, 1, true, files.why);
}

int files_read(void)
{
    hud_rules_free(&files.rules);
    hud_wisdom_read(&files.place, &files.rules, files.why);
    return files.rules.count;
}

bool files_has(int number)
{
    const struct rule r = files_cell(number);

    for (int i = 0; i < files.rules.count; i++)
        if (hud_rule_same_calls(&files.rules.rule[i], &r))
            return files.rules.rule[i].ns == r.ns;
    return false;
}
