/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - a program that calls the MPI it is linked to: MPI_Init, some sums, a barrier. With
 * -DLIBRARY it is a library that makes these calls, which such a program opens. */
#include <dlfcn.h>
#include <stdio.h>

#if defined(LIBRARY) || defined(LINKED)
int MPI_Init(int *count, char ***words);
int MPI_Barrier(void *comm);
int MPI_Allreduce(const void *in, void *out, int count, void *type, void *op, void *comm);
int MPI_Finalize(void);

void make_calls(void);

void make_calls(void)
{
    int mine = 1, sum = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&mine, &sum, 1, NULL, NULL, NULL);
    MPI_Barrier(NULL);
    printf("sum %d\n", sum);
    MPI_Finalize();
}

#endif

#ifndef LIBRARY
int main(int count, char **words)
{
#ifdef LINKED
    make_calls();
#endif
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
        void (*its)(void) = library ? (void (*)(void))dlsym(library, "make_calls") : NULL;
        if (!its) {
            puts(dlerror());
            return 1;
        }
        its();
    }
    return 0;
}
#endif
