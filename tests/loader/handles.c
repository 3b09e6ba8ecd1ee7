/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles.c - looks up functions of MPI through handles, in unusual ways.
 *
 *     handles closed FIRST SECOND      opens an MPI, looks up, closes it, and calls another MPI
 *     handles namespace LIBRARY        opens an MPI in a link-map namespace of its own
 *     handles threads LIBRARY          two threads make the first look-up at the same moment
 *     handles error LIBRARY            looks up missing functions, prints whether dlerror is set
 *     handles unloaded PLUGIN          opens a plug-in that calls an MPI, and closes it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *library;
static pthread_barrier_t start;

static void call_init(void *handle)
{
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(handle, "MPI_Init");

    printf("%d\n", init ? init(NULL, NULL) : -1);
}

static void closed(const char *first, const char *second)
{
    void *one = dlopen(first, RTLD_NOW | RTLD_LOCAL);

    printf("%d\n", one && dlsym(one, "MPI_Init") && dlsym(one, "MPI_Barrier"));
    dlclose(one);
    call_init(dlopen(second, RTLD_NOW | RTLD_LOCAL));
}

static void *ask(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&start);
    return dlsym(library, "MPI_Barrier");
}

static void threads(void)
{
    pthread_t other;
    void *theirs;

    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&other, NULL, ask, NULL);
    void *mine = ask(NULL);
    pthread_join(other, &theirs);
    printf("%d\n", mine && mine == theirs);
}

static void error(void)
{
    const char *text;

    dlsym(library, "MPI_Init");
    text = dlerror();
    printf("%d", text != NULL && strstr(text, "MPI_Init"));
    dlsym(dlopen(NULL, RTLD_NOW), "MPI_Init");
    text = dlerror();
    printf(" %d", text != NULL && strstr(text, "MPI_Init"));
    dlsym(RTLD_DEFAULT, "MPI_Init");
    text = dlerror();
    printf(" %d\n", text != NULL && strstr(text, "MPI_Init"));
}

static void unloaded(const char *plugin)
{
    void (*its)(void) = (void (*)(void))dlsym(library, "make_calls");

    its();
    dlclose(library);
    printf("%s\n", dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) ? "is there" : "is gone");
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    if (strcmp(words[1], "closed") == 0) {
        closed(words[2], words[3]);
        return 0;
    }
    if (strcmp(words[1], "namespace") == 0) {
        call_init(dlmopen(LM_ID_NEWLM, words[2], RTLD_NOW));
        return 0;
    }
    library = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    if (strcmp(words[1], "threads") == 0)
        threads();
    if (strcmp(words[1], "error") == 0)
        error();
    if (strcmp(words[1], "unloaded") == 0)
        unloaded(words[2]);
    return 0;
}
