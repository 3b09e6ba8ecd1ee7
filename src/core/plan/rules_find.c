/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_find.c - finds and reads the tuning file. */
#define _GNU_SOURCE
#include "base/setuid.h"
#include "core/config/text.h"
#include "core/plan/rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 }; /* bytes of a tuning file */

/* Reads a file to its end, since fstat does not know the size of a file in /proc or of a file that
 * is being written.  Returns the bytes, or -1 with errno, which is EFBIG above FILE_MAX. */
static ssize_t read_all(int fd, char *text)
{
    ssize_t used = 0, n = 1;

    while (n > 0 && used <= FILE_MAX) {
        n = read(fd, text + used, (size_t)(FILE_MAX + 1 - used));
        used += n > 0 ? n : 0;
    }
    if (used > FILE_MAX)
        errno = EFBIG;
    return n < 0 || used > FILE_MAX ? -1 : used;
}

static int refuse_file(const char *path, const char *why, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "%.200s cannot be read: %s (accepted: a file of at most 1M)", path,
             why);
    hud_text_make_plain(error);
    return -1;
}

/* Reads the rules of a text.  Returns 1, or -1 with an error.  Refuses an empty text: nobody writes
 * such a file on purpose, and without the error its choices would silently be missing. */
static int read_text(struct rules *rules, const char *path, const char *text, size_t bytes,
                     char *error, size_t error_bytes)
{
    size_t blank = 0;

    while (blank < bytes && strchr(" \t\r\n", text[blank]) && text[blank] != '\0')
        blank++;
    if (blank < bytes)
        return hud_rules_read(rules, path, text, bytes, error, error_bytes) ? 1 : -1;
    snprintf(error, error_bytes, "%.200s: the file is empty (accepted: a rule in each line)", path);
    hud_text_make_plain(error);
    return -1;
}

static int read_open(struct rules *rules, const char *path, int fd, char *error, size_t error_bytes)
{
    struct stat st;

    if (fstat(fd, &st) != 0 ||
        !S_ISREG(st.st_mode)) /* a device may have no end, a pipe no writer */
        return refuse_file(path, "not a regular file", error, error_bytes);
    char *text = malloc(FILE_MAX + 1);
    ssize_t bytes = text ? read_all(fd, text) : -1;
    int rc = bytes < 0 ? refuse_file(path, strerror(errno), error, error_bytes)
                       : read_text(rules, path, text, (size_t)bytes, error, error_bytes);
    free(text);
    return rc;
}

/* Reads a file of rules.  Returns 1, or 0 if there is no such file, or -1 with an error.  A file
 * that cannot be opened counts as absent, unless the user has named the file. */
static int read_file(struct rules *rules, const char *path, bool named, char *error,
                     size_t error_bytes)
{
    /* a pipe without a writer would wait; a terminal would become that of the job */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return errno == ENOENT || !named ? 0
                                         : refuse_file(path, strerror(errno), error, error_bytes);
    int rc = read_open(rules, path, fd, error, error_bytes);
    close(fd);
    return rc;
}

int hud_rules_prefix_up = HUD_LIB_DEPTH;

/* Finds the site's file in HUD_SYSCONF_DIR.  A relative folder begins at the prefix: each of two
 * installations has its own file, and keeps the file when the installation is moved. */
static bool site_place(char path[PATH_MAX])
{
    char own[PATH_MAX] = "";
    Dl_info self;

    if (HUD_SYSCONF_DIR[0] != '/') {
        if (!dladdr((const void *)&hud_rules_find, &self) || !self.dli_fname ||
            !realpath(self.dli_fname, own))
            return false;
        for (int up = 0; up <= hud_rules_prefix_up; up++) {
            char *slash = strrchr(own, '/');
            if (!slash)
                return false;
            *slash = '\0';
        }
    }
    int bytes = snprintf(path, PATH_MAX, "%s%s" HUD_SYSCONF_DIR "/huddle/tuning.rules", own,
                         HUD_SYSCONF_DIR[0] != '/' ? "/" : "");
    return bytes < PATH_MAX;
}

/* Finds the user's file (0) or the site's (1).  Returns false if there is no place for such a
 * file. */
static bool usual_place(int which, char path[PATH_MAX])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (which == 1)
        return site_place(path);
    if (config && config[0] == '/')
        snprintf(path, PATH_MAX, "%s/huddle/tuning.rules", config);
    else if (home && home[0] == '/')
        snprintf(path, PATH_MAX, "%s/.config/huddle/tuning.rules", home);
    else
        return false;
    return true;
}

/* Puts the setting's name before an error about a file that the setting names. */
static void name_setting(const char *name, char *error, size_t error_bytes)
{
    size_t length = strlen(name) + 1, room = error_bytes - length - 1, used = strlen(error);
    size_t kept = used < room ? used : room;

    memmove(error + length, error, kept);
    memcpy(error, name, length - 1);
    error[length - 1] = '=';
    error[length + kept] = '\0';
    hud_text_make_plain(error); /* a character may have been cut */
}

static const char tuning[] = "HUDDLE_TUNING";

bool hud_rules_read_file(struct rules *rules, const char *setting, const char *path, char *error,
                         size_t error_bytes)
{
    int rc = read_file(rules, path, true, error, error_bytes);

    if (rc == 0)
        snprintf(error, error_bytes, "%.200s: there is no such file (accepted: a file of rules%s)",
                 path, strcmp(setting, tuning) == 0 ? ", off" : "");
    if (rc != 1)
        name_setting(setting, error, error_bytes);
    return rc == 1;
}

bool hud_rules_find(struct rules *rules, const char *setting, char *error, size_t error_bytes)
{
    char path[PATH_MAX];

    *rules = (struct rules){ .rule = NULL };
    if (strcmp(setting, "off") == 0 || process_is_elevated())
        return true;
    if (setting[0] != '\0')
        return hud_rules_read_file(rules, tuning, setting, error, error_bytes);
    for (int which = 0; which < 2; which++) {
        int rc = usual_place(which, path) ? read_file(rules, path, false, error, error_bytes) : 0;
        if (rc != 0 && !rules->elsewhere)
            return rc == 1;
        hud_rules_free(rules);
    }
    return true;
}
