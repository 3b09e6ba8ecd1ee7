/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_replace.c - see wisdom_replace.h. */
#define _GNU_SOURCE
#include "core/job/wisdom_replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char digits[] = "0123456789";
static const char name_bytes[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";

/* Removes the lock of a killed process.  Returns whether there is none any more. */
static bool remove_old(struct wisdom_lock *lock)
{
    struct stat st;

    if (lstat(lock->path, &st) != 0)
        return errno == ENOENT;
    long long age = (long long)time(NULL) - st.st_mtime;
    if ((age <= WISDOM_STALE_S && age >= -WISDOM_STALE_S) || unlink(lock->path) != 0)
        return false;
    lock->removed_old = true;
    return true;
}

/* Creates the lock.  Returns 0 or an error. */
static int lock_once(struct wisdom_lock *lock)
{
    enum { TRIES = 2 };

    for (int i = 0; i < TRIES; i++) {
        lock->fd = open(lock->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (lock->fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
        if (!remove_old(lock))
            break;
    }
    return EEXIST;
}

/* Returns whether a name is that of a data file.  lock: the name of the lock. */
static bool is_data(const char *name, const char *lock)
{
    size_t bytes = strlen(lock), length = strlen(name);

    if (strncmp(name, lock, bytes) != 0 || name[bytes] != '.')
        return false;
    const char *host = name + bytes + 1, *pid = strrchr(host, '.');
    return pid && pid > host && pid[1] != '\0' && strspn(pid + 1, digits) == strlen(pid + 1) &&
           strspn(host, name_bytes) == length - bytes - 1;
}

/* Removes all data files of the path. */
static void remove_data(const struct wisdom_lock *lock)
{
    char folder[sizeof lock->path];

    memcpy(folder, lock->path, sizeof folder);
    char *slash = strrchr(folder, '/');
    const char *name = slash ? strrchr(lock->path, '/') + 1 : lock->path;
    memcpy(slash ? slash + 1 : folder, ".", sizeof ".");
    DIR *all = opendir(folder);
    for (const struct dirent *one; all && (one = readdir(all)) != NULL;)
        if (is_data(one->d_name, name))
            unlinkat(dirfd(all), one->d_name, 0);
    if (all)
        closedir(all);
}

int hud_wisdom_lock(const char *path, bool waits, struct wisdom_lock *lock)
{
    enum { STEP_MS = 5 };
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };

    *lock = (struct wisdom_lock){ .path_bytes = strnlen(path, PATH_MAX - 1) };
    snprintf(lock->path, sizeof lock->path, "%.*s.new", (int)lock->path_bytes, path);
    int error = lock_once(lock);
    for (int ms = 0; error == EEXIST && waits && ms < WISDOM_WAIT_MS; ms += STEP_MS) {
        nanosleep(&step, NULL);
        error = lock_once(lock);
    }
    if (error != 0)
        return error;
    if (fstat(lock->fd, &lock->created) != 0) {
        error = errno;
        close(lock->fd);
        unlink(lock->path);
    } else if (lock->removed_old) {
        remove_data(lock);
    }
    return error;
}

static bool is_ours(const struct wisdom_lock *lock)
{
    struct stat now;

    return lstat(lock->path, &now) == 0 && now.st_dev == lock->created.st_dev &&
           now.st_ino == lock->created.st_ino;
}

void hud_wisdom_unlock(const struct wisdom_lock *lock)
{
    bool ours = is_ours(lock); /* the inode's number may be reused after close */

    close(lock->fd);
    if (ours)
        unlink(lock->path);
}

/* Writes all bytes.  Returns 0 or an error.  A limit of the file's size is looked up before:
 * writing beyond it ends the process by a signal. */
static int write_all(int fd, const char *text, size_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        return EFBIG;
    for (size_t used = 0; used < bytes;) {
        ssize_t n = write(fd, text + used, bytes - used);
        if (n < 0 && errno != EINTR)
            return errno;
        used += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Creates the data file with the permissions of the present file, if there is one.  Returns its
 * descriptor, or -1 with errno. */
static int create_data(const char *path, const char *present)
{
    struct stat st;
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    bool replaces = lstat(present, &st) == 0;
    mode_t mode = replaces ? st.st_mode & 0777 : 0644;
    int fd = open(path, flags, mode);

    if (fd < 0 && errno == EEXIST &&
        unlink(path) == 0) /* a killed process with this number left it */
        fd = open(path, flags, mode);
    if (fd >= 0 && replaces)
        (void)fchmod(fd, mode); /* what the umask has removed; without it fewer users can read */
    return fd;
}

/* Writes the path of this process's data. */
static void name_data(const struct wisdom_lock *lock, char path[PATH_MAX + WISDOM_SUFFIX])
{
    char host[WISDOM_HOST + 1] = "";

    gethostname(host, sizeof host - 1); /* a longer name is cut off */
    for (char *c = host; *c; c++)
        *c = (char)(strchr(name_bytes, *c) ? *c : '_');
    snprintf(path, PATH_MAX + WISDOM_SUFFIX, "%s.%s.%d", lock->path, host[0] ? host : "_",
             (int)getpid());
}

int hud_wisdom_replace(const struct wisdom_lock *lock, const char *text, size_t bytes)
{
    char data[PATH_MAX + WISDOM_SUFFIX], path[PATH_MAX];

    memcpy(path, lock->path, lock->path_bytes);
    path[lock->path_bytes] = '\0';
    name_data(lock, data);
    int fd = create_data(data, path);
    if (fd < 0)
        return errno;
    int error = write_all(fd, text, bytes);
    /* a network file system may find only now that it is full */
    error = close(fd) == 0 || error != 0 ? error : errno;
    bool ours = is_ours(lock);
    error = !ours ? EEXIST : error != 0 || rename(data, path) == 0 ? error : errno;
    if (error == 0)
        return 0;
    unlink(data);
    return is_ours(lock) ? error : EEXIST; /* a new holder may have removed the data */
}
