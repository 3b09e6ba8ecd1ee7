/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_file.c - finds, reads and replaces the file of wisdom.  See wisdom_file.h. */
#define _GNU_SOURCE
#include "core/job/wisdom_file.h"
#include "base/hash.h"
#include "base/setuid.h"
#include "core/config/log.h"
#include "core/config/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the place ---- */

/* Writes "openmpi-4.1.4" for "Open MPI 4.1.4". */
static void write_mpi(const char *name, char *to, size_t bytes)
{
    size_t used = 0;

    for (bool gap = false; *name && used + 2 < bytes; name++) {
        char c = (char)(*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
        bool digit = c >= '0' && c <= '9';
        gap = gap || c == ' ';
        if (!digit && !(c >= 'a' && c <= 'z') && c != '.')
            continue;
        if (gap && digit && used > 0)
            to[used++] = '-';
        gap = false;
        to[used++] = c;
    }
    to[used] = '\0';
}

/* Writes the folder of the user's cache.  Returns its length, or -1 if none is known. */
static int cache_folder(char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int used = cache && cache[0] == '/' ? snprintf(path, PATH_MAX, "%s", cache)
               : home && home[0] == '/' ? snprintf(path, PATH_MAX, "%s/.cache", home)
                                        : -1;

    return used < PATH_MAX ? used : -1;
}

bool hud_wisdom_place(const char *setting, const char *mpi, struct wisdom_place *place)
{
    char short_mpi[64];

    if (process_is_elevated())
        return false;
    hud_machine_write(hud_machine(), place->machine);
    uint64_t key = hash_text(HASH_START, place->machine);
    size_t used = strlen(place->machine);
    hud_text_copy(place->mpi, sizeof place->mpi, mpi);
    snprintf(place->machine + used, sizeof place->machine - used, " mpi=\"%s\"", place->mpi);
    place->named = strchr(setting, '/') != NULL;
    if (place->named)
        return hud_text_copy(place->path, sizeof place->path, setting) == strlen(setting);
    int folder = cache_folder(place->path);
    if (folder < 0)
        return false;
    write_mpi(mpi, short_mpi, sizeof short_mpi);
    return snprintf(place->path + folder, (size_t)(PATH_MAX - folder),
                    "/huddle/wisdom-%s-%016" PRIx64 ".rules", short_mpi,
                    key) < PATH_MAX - folder - WISDOM_SUFFIX;
}

/* ---- reading ---- */

static void explain(char why[WISDOM_WHY], const struct wisdom_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void explain(char why[WISDOM_WHY], const struct wisdom_place *place, const char *format, ...)
{
    int used = snprintf(why, WISDOM_WHY, "%.300s: ", place->path);
    va_list args;

    va_start(args, format);
    if (used > 0 && used < WISDOM_WHY)
        vsnprintf(why + used, (size_t)(WISDOM_WHY - used), format, args);
    va_end(args);
    hud_text_make_plain(why);
}

/* Returns what is wrong with an open file, or NULL. */
static const char *refuse(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return strerror(errno);
    return !S_ISREG(st.st_mode)                       ? "not a regular file"
           : st.st_uid != geteuid() && st.st_uid != 0 ? "it belongs to another user"
           : st.st_size > WISDOM_MAX                  ? "it is larger than 256 KB"
                                                      : NULL;
}

/* Reads a file to its end.  Returns its bytes, or -1 with errno. */
static ssize_t read_all(int fd, char *text)
{
    ssize_t used = 0, n = 1;

    while (n != 0 && used < WISDOM_MAX) {
        n = read(fd, text + used, (size_t)(WISDOM_MAX - used));
        if (n < 0 && errno != EINTR)
            return -1;
        used += n > 0 ? n : 0;
    }
    return used;
}

/* Returns the bytes of a text without an unfinished last line, which no writer leaves: a crash of
 * the machine may, or a copy that stopped.  A text without any end of a line is kept. */
static ssize_t finished_bytes(const char *text, ssize_t bytes)
{
    const char *end = bytes > 0 ? memrchr(text, '\n', (size_t)bytes) : NULL;

    return end ? end + 1 - text : bytes;
}

/* Reads the finished lines.  Returns their bytes, 0 for a missing file, or -1 with *why. */
static ssize_t read_text(const struct wisdom_place *place, char *text, char why[WISDOM_WHY])
{
    int fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0) {
        explain(why, place, "it cannot be read: %s",
                errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        return -1;
    }
    const char *wrong = refuse(fd);
    ssize_t bytes = wrong ? -1 : read_all(fd, text);
    if (bytes < 0)
        explain(why, place, "it is not used: %s", wrong ? wrong : strerror(errno));
    close(fd);
    return finished_bytes(text, bytes);
}

/* Returns whether the file was measured with another MPI. */
static bool is_of_another_mpi(const struct wisdom_place *place, const struct rules *rules)
{
    return rules->mpi[0] != '\0' && strcmp(rules->mpi, place->mpi) != 0;
}

bool hud_wisdom_refuses(const struct wisdom_place *place, const struct rules *rules, bool writes,
                        char why[WISDOM_WHY])
{
    const char *what = writes ? "written" : "used";
    bool other_mpi = is_of_another_mpi(place, rules);

    why[0] = '\0';
    if ((!rules->elsewhere && !other_mpi) || (place->named && !writes))
        return false;
    if (other_mpi)
        explain(why, place, "it is not %s: it was measured with %s, and this is %s", what,
                rules->mpi, place->mpi);
    else
        explain(why, place, "it is not %s: it was measured on another machine", what);
    return true;
}

void hud_wisdom_read(const struct wisdom_place *place, struct rules *rules, char why[WISDOM_WHY])
{
    char *text = malloc(WISDOM_MAX), wrong[SET_TEXT], refusal[WISDOM_WHY];
    ssize_t bytes;

    *rules = (struct rules){ .rule = NULL };
    why[0] = '\0';
    bytes = text ? read_text(place, text, why) : 0;
    if (bytes > 0) {
        hud_rules_read_some(rules, place->path, text, (size_t)bytes, wrong, sizeof wrong);
        if (wrong[0] != '\0')
            snprintf(why, WISDOM_WHY, "%s; such lines are not used", wrong);
    }
    free(text);
    if (hud_wisdom_refuses(place, rules, false, refusal)) {
        memcpy(why, refusal, sizeof refusal);
        hud_rules_free(rules);
    }
}

/* ---- writing ---- */

/* Makes the folder of the file in the user's cache, and the cache's. */
static void make_folders(const struct wisdom_place *place)
{
    char path[PATH_MAX];

    if (place->named)
        return;
    memcpy(path, place->path, sizeof path);
    char *last = strrchr(path, '/');
    *last = '\0';
    if (mkdir(path, 0700) == 0 || errno != ENOENT)
        return;
    char *before = strrchr(path, '/');
    *before = '\0';
    mkdir(path, 0700);
    *before = '/';
    mkdir(path, 0700);
}

/* The present file, and the text that replaces it. */
struct rewrite {
    struct wisdom_lock lock;
    struct rules kept; /* the rules of the present file */
    char old[WISDOM_MAX], text[WISDOM_MAX];
};

/* Locks the present file.  Returns false with *why.  *why stays "" if another process is writing,
 * or if nobody can write in the user's home. */
static bool lock(const struct wisdom_place *place, bool waits, struct rewrite *made,
                 char why[WISDOM_WHY])
{
    int error = hud_wisdom_lock(place->path, waits, &made->lock);

    if (error == ENOENT) {
        make_folders(place);
        error = hud_wisdom_lock(place->path, waits, &made->lock);
    }
    bool absent =
        error == EROFS || error == EACCES || error == EPERM || error == ENOENT || error == ENOTDIR;
    if (error != 0 && error != EEXIST && (place->named || !absent))
        explain(why, place, "it cannot be written: %s", strerror(error));
    return error == 0;
}

/* Makes the new text from the present file.  Returns its bytes, 0 if nothing changes, or -1 with
 * *why. */
static ssize_t merge(const struct wisdom_place *place, const struct rule *rule, int rules,
                     struct rewrite *made, char why[WISDOM_WHY])
{
    char wrong[SET_TEXT];
    ssize_t old_bytes = read_text(place, made->old, why), bytes = -1;

    if (old_bytes < 0)
        return -1;
    bool read = hud_rules_read_some(&made->kept, place->path, made->old, (size_t)old_bytes, wrong,
                                    sizeof wrong);
    bool refused = hud_wisdom_refuses(place, &made->kept, true, why);
    if (read && !refused)
        bytes = hud_wisdom_merge(place->machine, made->old, (size_t)old_bytes, &made->kept, rule,
                                 rules, made->text);
    hud_rules_free(&made->kept);
    if (!refused && bytes < 0)
        explain(why, place, "it cannot be written: %s", strerror(ENOMEM));
    return bytes;
}

bool hud_wisdom_write(const struct wisdom_place *place, const struct rule *rule, int rules,
                      bool waits, char why[WISDOM_WHY])
{
    struct rewrite *made = malloc(sizeof *made);
    bool there = false;

    why[0] = '\0';
    if (!made)
        explain(why, place, "it cannot be written: %s", strerror(ENOMEM));
    if (made && lock(place, waits, made, why)) {
        ssize_t bytes = merge(place, rule, rules, made, why);
        int error = bytes > 0 ? hud_wisdom_replace(&made->lock, made->text, (size_t)bytes) : 0;
        there = bytes >= 0 && error == 0;
        if (error != 0 && error != EEXIST)
            explain(why, place, "it cannot be written: %s", strerror(error));
        hud_wisdom_unlock(&made->lock);
    }
    free(made);
    return there;
}
