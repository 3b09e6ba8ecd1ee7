/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c - the parts that all of bin/huddle uses: messages, paths, and the Python CLI. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int hud_launch_fail(int status, const char *format, ...)
{
    va_list args;

    fputs("huddle: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

char *hud_launch_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        exit(hud_launch_fail(1, "out of memory"));
    va_end(args);
    return text;
}

/* Returns the folder above bin/, at its current location. */
static const char *prefix(void)
{
    static char path[PATH_MAX];

    if (path[0] == '\0') {
        ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
        if (bytes <= 0)
            exit(hud_launch_fail(1, "/proc/self/exe cannot be read: %s", strerror(errno)));
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(path, '/');
            if (slash)
                *slash = '\0';
        }
    }
    return path;
}

const char *hud_launch_path(const char *folder, const char *file)
{
    char *path = NULL;
    int bytes = folder[0] == '/' ? asprintf(&path, "%s/%s", folder, file)
                                 : asprintf(&path, "%s/%s/%s", prefix(), folder, file);

    if (bytes < 0)
        exit(hud_launch_fail(1, "out of memory"));
    return path;
}

const char *hud_launch_loader(void)
{
    return hud_launch_path(HUD_PLUGIN_DIR, "libhuddle-loader.so");
}

/* Reports why the CLI cannot be run.  If the script exists and is executable, its interpreter
 * cannot be run, which is named in the script's first line. */
static int fail_to_run(const char *cli, int why)
{
    char line[PATH_MAX] = "";
    FILE *file = fopen(cli, "re");

    if (file && access(cli, X_OK) == 0 && fgets(line, sizeof line, file))
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
    if (strncmp(line, "#!", 2) == 0)
        return hud_launch_fail(1, "cannot run %s: its interpreter %s: %s", cli, line + 2,
                               strerror(why));
    return hud_launch_fail(1, "cannot run %s: %s", cli, strerror(why));
}

int hud_launch_cli(char **words)
{
    const char *cli = hud_launch_path(HUD_TOOL_DIR, "cli");
    size_t count = 0;

    while (words[count])
        count++;
    char **all = calloc(count + 2, sizeof *all);
    if (!all)
        return hud_launch_fail(1, "out of memory");
    all[0] = (char *)(uintptr_t)cli;
    memcpy(all + 1, words, count * sizeof *all);
    execv(cli, all);
    int why = errno;
    free(all);
    return fail_to_run(cli, why);
}

bool hud_launch_has_cli(void)
{
    char *words[] = { (char *)(uintptr_t) "--ready", NULL };
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd <= 2; fd++)
            dup2(nothing, fd);
        _exit(hud_launch_cli(words));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0;
}
