/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - runs a fuzzing program on files, without libFuzzer: replay FILE... For a folder, each
 * file in the folder is run. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 20 };

static int run_file(const char *path)
{
    uint8_t *data = malloc(MAX_BYTES), *exact;
    FILE *file = fopen(path, "rbe");
    size_t bytes = file && data ? fread(data, 1, MAX_BYTES, file) : 0;

    if (!file || !data)
        return fprintf(stderr, "%s cannot be read\n", path), 2;
    exact = malloc(bytes != 0 ? bytes
                              : 1); /* the exact size, so that a sanitizer detects reads past the
                                  * end */
    MUST(exact);
    memcpy(exact, data, bytes);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, bytes);
    fclose(file);
    free(data);
    free(exact);
    return 0;
}

static int run_folder(const char *path)
{
    DIR *folder = opendir(path);
    int status = folder ? 0 : 2, files = 0;
    char name[4096];

    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, e->d_name);
            status |= run_file(name);
            files++;
        }
    if (folder)
        closedir(folder);
    return files != 0 ? status : (fprintf(stderr, "%s: no files\n", path), 2);
}

int main(int count, char **paths)
{
    int status = count > 1 ? 0 : 2;

    for (int i = 1; i < count; i++) {
        struct stat st;
        status |= stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode) ? run_folder(paths[i])
                                                                  : run_file(paths[i]);
    }
    return status;
}
