/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * opens.c - with -DLIBRARY a library that opens another library by its bare name, which only its
 * own search path contains. It also replaces a function of the C library and finds the original by
 * RTLD_NEXT. Both depend on the caller of dlopen and dlsym. Without -DLIBRARY, a program linked to
 * the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int open_mine(void);
int abs_of_next(int value);

#ifdef LIBRARY
int abs(int value)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "abs");

    return next ? next(value) + 1000 : -1;
}

int open_mine(void)
{
    void *mine = dlopen("libmine.so", RTLD_NOW);

    return mine && dlsym(mine, "mine") && !dlsym(mine, "not there") && dlerror();
}
#else
int main(void)
{
    int (*volatile absolute)(int) = abs;

    printf("%d %d %s\n", open_mine(), absolute(-5), dlerror() ? "error" : "no error");
    return 0;
}
#endif
