/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_files.h - a file of wisdom in a folder of the test's own, and system calls that fail on
 * request: the linker replaces them (wisdom_calls in CMakeLists.txt). */
#ifndef HUD_TESTS_WISDOM_FILES_H
#define HUD_TESTS_WISDOM_FILES_H

#include "core/job/context.h"
#include "core/job/wisdom_file.h"

#define WISDOM_FILES_MPI "Open MPI 4.1.4"

struct wisdom_files {
    struct wisdom_place place;
    char folder[64], new_path[PATH_MAX + 8]; /* new_path: of the file that a writer makes */
    char why[WISDOM_WHY];
    struct rules rules;    /* the rules read last */
    int countdown;         /* the call with this number fails, from 1 on; 0: none */
    int error;             /* the error of that call; or -1: the process is killed there */
    void (*instead)(void); /* called before that call, which then does not fail; or NULL */
    const char *host;      /* name of the host; NULL: its own */
    int calls;
    bool foreign; /* files belong to another user */
};
extern struct wisdom_files files;

/* Makes the folder, and removes it. */
int files_begin(void **state);
int files_end(void **state);
void files_find_place(void);
void files_begin_fault(int countdown, int error);

void files_put(const char *path, const char *text, size_t bytes);
/* Returns the bytes of a file, -1 if there is none.  text: room for 2 * WISDOM_MAX. */
ssize_t files_get(const char *path, char *text);
bool files_exists(const char *path);
/* Returns the number of files in the folder of the file.  other: the name of another file there,
 * or "". */
int files_count(char other[NAME_MAX + 1]);
/* Sets the times of a file back, as if a killed writer had left the file. */
void files_make_old(const char *path);

/* Returns the rule of a cell, by number. */
struct rule files_cell(int number);
bool files_write_cell(int number);
/* Reads the file.  Returns the number of rules. */
int files_read(void);
/* Returns whether the file had the rule of a cell when it was last read. */
bool files_has(int number);

#define FILES_TEST(name) cmocka_unit_test_setup_teardown(name, files_begin, files_end)

#endif
