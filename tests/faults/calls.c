/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - a library to be preloaded. Calls made by huddle fail as points.h describes; calls from
 * other callers are passed on. */
#define _GNU_SOURCE
#include "points.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default")))
/* Returns the C library's definition. */
#define REAL(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
            real = (__typeof__(&name))faults_find(#name, NULL);                                    \
        real;                                                                                      \
    })
#define MEETS(name) (faults_meet(#name, CALLER) != FAULT_NONE)

/* ---- private memory -------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes),
    *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *old);

static void *keep(const char *kind, const void *caller, void *got)
{
    faults_hold(kind, caller, got);
    return got;
}

PUBLIC void *malloc(size_t bytes)
{
    return MEETS(malloc) ? NULL : keep("malloc", CALLER, __libc_malloc(bytes));
}

PUBLIC void *calloc(size_t count, size_t bytes)
{
    return MEETS(calloc) ? NULL : keep("calloc", CALLER, __libc_calloc(count, bytes));
}

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes)
{
    return MEETS(aligned_alloc) ? NULL
                                : keep("aligned_alloc", CALLER, __libc_memalign(alignment, bytes));
}

PUBLIC void *realloc(void *old, size_t bytes)
{
    if (MEETS(realloc))
        return NULL;
    void *got = __libc_realloc(old, bytes);
    if (got || bytes == 0)
        faults_drop(old);
    return keep("realloc", CALLER, got);
}

PUBLIC int posix_memalign(void **got, size_t alignment, size_t bytes)
{
    if (MEETS(posix_memalign))
        return ENOMEM;
    *got = keep("posix_memalign", CALLER, __libc_memalign(alignment, bytes));
    return *got ? 0 : ENOMEM;
}

PUBLIC void free(void *old)
{
    faults_drop(old);
    __libc_free(old);
}

PUBLIC char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = MEETS(strdup) ? NULL : keep("strdup", CALLER, __libc_malloc(bytes));

    return copy ? memcpy(copy, text, bytes) : NULL;
}

PUBLIC int asprintf(char **got, const char *format, ...)
{
    va_list args;

    if (MEETS(asprintf))
        return -1;
    va_start(args, format);
    int bytes = vasprintf(got, format, args);
    va_end(args);
    if (bytes >= 0)
        keep("asprintf", CALLER, *got);
    return bytes;
}

/* ---- descriptors and files ------------------------------------------------------------------- */

static int keep_descriptor(const char *kind, const void *caller, int fd)
{
    if (fd >= 0)
        faults_hold(kind, caller, (const void *)((uintptr_t)fd + 1));
    return fd;
}

PUBLIC int close(int fd)
{
    faults_drop((const void *)((uintptr_t)fd + 1));
    return REAL(close)(fd);
}

PUBLIC int socket(int domain, int type, int protocol)
{
    return MEETS(socket) ? -1
                         : keep_descriptor("socket", CALLER, REAL(socket)(domain, type, protocol));
}

PUBLIC int memfd_create(const char *name, unsigned flags)
{
    return MEETS(memfd_create)
               ? -1
               : keep_descriptor("memfd_create", CALLER, REAL(memfd_create)(name, flags));
}

PUBLIC int open(const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return MEETS(open) ? -1 : keep_descriptor("open", CALLER, REAL(open)(path, flags, mode));
}

PUBLIC FILE *fopen(const char *path, const char *mode)
{
    return MEETS(fopen) ? NULL : keep("fopen", CALLER, REAL(fopen)(path, mode));
}

PUBLIC int fclose(FILE *file)
{
    faults_drop(file);
    return REAL(fclose)(file);
}

PUBLIC FILE *setmntent(const char *path, const char *mode)
{
    return MEETS(setmntent) ? NULL : keep("setmntent", CALLER, REAL(setmntent)(path, mode));
}

PUBLIC int endmntent(FILE *file)
{
    faults_drop(file);
    return REAL(endmntent)(file);
}

PUBLIC int fcntl(int fd, int command, ...)
{
    const char *kind = command == F_GETLK           ? "getlk"
                       : command == F_SETLK         ? "setlk"
                       : command == F_DUPFD_CLOEXEC ? "dupfd"
                                                    : "fcntl";
    va_list args;

    va_start(args, command);
    long value = va_arg(args, long);
    va_end(args);
    return faults_meet(kind, CALLER) != FAULT_NONE ? -1 : REAL(fcntl)(fd, command, value);
}

PUBLIC ssize_t read(int fd, void *buffer, size_t bytes)
{
    enum fault fault = faults_meet("read", CALLER);

    return fault == FAULT_FAILS
               ? -1
               : REAL(read)(fd, buffer, fault == FAULT_PARTIAL ? bytes / 2 : bytes);
}

PUBLIC ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    enum fault fault = faults_meet("getrandom", CALLER);

    return fault == FAULT_FAILS
               ? -1
               : REAL(getrandom)(buffer, fault == FAULT_PARTIAL ? bytes / 2 : bytes, flags);
}

/* ---- messages between processes -------------------------------------------------------------- */

/* Cuts a message in half. If it came with a descriptor, the descriptor is kept; otherwise the
 * message looks as if the descriptor table was full (MSG_CTRUNC). */
static ssize_t cut_message(struct msghdr *message, ssize_t bytes, bool has_descriptor)
{
    message->msg_flags |= has_descriptor ? MSG_TRUNC : MSG_CTRUNC;
    if (!has_descriptor)
        message->msg_controllen = 0;
    return has_descriptor ? bytes / 2 : bytes;
}

static void keep_arrivals(const void *caller, struct msghdr *message, bool drop)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        int fd;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
        if (drop)
            REAL(close)(fd);
        else
            keep_descriptor("recvmsg", caller, fd);
    }
}

PUBLIC ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    enum fault fault = faults_meet("recvmsg", CALLER);
    /* If the table is full, the message arrives without its descriptor. */
    bool full = fault == FAULT_FAILS && errno == EMFILE;

    if (fault == FAULT_FAILS && !full)
        return -1;
    ssize_t bytes = REAL(recvmsg)(fd, message, flags);
    if (bytes >= 0)
        keep_arrivals(CALLER, message, full);
    return fault != FAULT_NONE && bytes >= 0 ? cut_message(message, bytes, !full) : bytes;
}

/* ---- shared memory, other processes' memory -------------------------------------------------- */

PUBLIC void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return MEETS(mmap) ? MAP_FAILED : REAL(mmap)(at, bytes, protection, flags, fd, offset);
}

#define MOVES(name)                                                                                \
    PUBLIC ssize_t name(pid_t pid, const struct iovec *own, unsigned long owns,                    \
                        const struct iovec *other, unsigned long others, unsigned long flags)      \
    {                                                                                              \
        enum fault fault = faults_meet(#name, CALLER);                                             \
        if (fault == FAULT_FAILS)                                                                  \
            return -1;                                                                             \
        struct iovec first = { own[0].iov_base, own[0].iov_len / 2 };                              \
        return fault == FAULT_PARTIAL ? REAL(name)(pid, &first, 1, other, others, flags)           \
                                      : REAL(name)(pid, own, owns, other, others, flags);          \
    }
MOVES(process_vm_readv)
MOVES(process_vm_writev)

PUBLIC long syscall(long number, ...)
{
    long a[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    return MEETS(syscall) ? -1 : REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

PUBLIC int prctl(int option, ...)
{
    unsigned long a[4];
    va_list args;

    va_start(args, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, unsigned long);
    va_end(args);
    return MEETS(prctl) ? -1 : REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

/* ---- calls that only succeed or fail: TYPE, NAME, failure value, parameters, arguments
 * --------- */

#define CALL(type, name, failed, parameters, arguments)                                            \
    PUBLIC type name parameters                                                                    \
    {                                                                                              \
        return MEETS(name) ? (failed) : REAL(name) arguments;                                      \
    }
CALL(int, bind, -1, (int fd, const struct sockaddr *name, socklen_t bytes), (fd, name, bytes))
CALL(int, connect, -1, (int fd, const struct sockaddr *name, socklen_t bytes), (fd, name, bytes))
CALL(int, getsockname, -1, (int fd, struct sockaddr *restrict name, socklen_t *restrict bytes),
     (fd, name, bytes))
CALL(int, setsockopt, -1, (int fd, int level, int option, const void *value, socklen_t bytes),
     (fd, level, option, value, bytes))
CALL(ssize_t, sendmsg, -1, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
CALL(int, poll, -1, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
CALL(int, ftruncate, -1, (int fd, off_t bytes), (fd, bytes))
CALL(int, fallocate, -1, (int fd, int mode, off_t from, off_t bytes), (fd, mode, from, bytes))
CALL(int, munmap, -1, (void *at, size_t bytes), (at, bytes))
CALL(int, mprotect, -1, (void *at, size_t bytes, int protection), (at, bytes, protection))
CALL(int, madvise, -1, (void *at, size_t bytes, int advice), (at, bytes, advice))
CALL(int, stat, -1, (const char *restrict path, struct stat *restrict what), (path, what))
CALL(int, fstat, -1, (int fd, struct stat *what), (fd, what))
CALL(int, access, -1, (const char *path, int mode), (path, mode))
CALL(int, getrlimit, -1, (__rlimit_resource_t which, struct rlimit *limit), (which, limit))
CALL(int, gethostname, -1, (char *name, size_t bytes), (name, bytes))
CALL(long, sysconf, -1, (int name), (name))
CALL(int, sched_getaffinity, -1, (pid_t pid, size_t bytes, cpu_set_t *set), (pid, bytes, set))
CALL(int, getcpu, -1, (unsigned *cpu, unsigned *node), (cpu, node))
CALL(int, pthread_create, errno,
     (pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
      void *restrict arg),
     (thread, attributes, start, arg))
CALL(int, pthread_mutex_init, errno,
     (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))
CALL(int, pthread_cond_init, errno,
     (pthread_cond_t *restrict condition, const pthread_condattr_t *restrict attributes),
     (condition, attributes))
CALL(char *, fgets, NULL, (char *restrict line, int bytes, FILE *restrict file),
     (line, bytes, file))
CALL(struct mntent *, getmntent_r, NULL,
     (FILE *restrict file, struct mntent *restrict entry, char *restrict text, int bytes),
     (file, entry, text, bytes))

/* dlopen and dlsym find their caller's library by the return address, so the wrappers must jump to
 * them. -O2 compiles these calls as jumps. */
#define JUMP(type, name, parameters, arguments)                                                    \
    PUBLIC type name parameters                                                                    \
    {                                                                                              \
        static __typeof__(&name) real;                                                             \
        if (MEETS(name))                                                                           \
            return NULL;                                                                           \
        if (!real)                                                                                 \
            real = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, "GLIBC_2.34");                      \
        return real arguments;                                                                     \
    }
JUMP(void *, dlopen, (const char *file, int mode), (file, mode))
JUMP(void *, dlsym, (void *restrict handle, const char *restrict name), (handle, name))

PUBLIC int vfscanf_c99(FILE *restrict file, const char *restrict format,
                       va_list args) __asm__("__isoc99_vfscanf");
PUBLIC int fscanf_c99(FILE *restrict file, const char *restrict format,
                      ...) __asm__("__isoc99_fscanf");
PUBLIC int fscanf_c99(FILE *restrict file, const char *restrict format, ...)
{
    va_list args;

    if (faults_meet("fscanf", CALLER) != FAULT_NONE)
        return EOF;
    va_start(args, format);
    int read = vfscanf_c99(file, format, args);
    va_end(args);
    return read;
}

PUBLIC pid_t fork(void)
{
    static int children;
    pid_t child = REAL(fork)();

    if (child == 0)
        faults_forked(children);
    children += child > 0;
    return child;
}

PUBLIC void _exit(int status)
{
    faults_write();
    REAL(_exit)(status);
    __builtin_unreachable();
}
