/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wisdom_file.c - the file of wisdom: its place, what is read and written, and files that
 * are left alone. */
#include "core/job/wisdom_context.h"
#include "wisdom_files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the place ---- */

static void place_is_in_the_cache_by_mpi_and_machine(void **state)
{
    static const char *const names[][2] = { { "Open MPI 4.1.4", "openmpi-4.1.4" },
                                            { "MPICH 4.0", "mpich-4.0" },
                                            { "Intel MPI 2021.16", "intelmpi-2021.16" },
                                            { "MPI/../x 1.0 (b)", "mpi..x-1.0b" },
                                            { "no MPI", "nompi" } };
    char head[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(hud_wisdom_place("read", names[i][0], &files.place));
        snprintf(head, sizeof head, "%s/huddle/wisdom-%s-", files.folder, names[i][1]);
        assert_memory_equal(files.place.path, head, strlen(head));
        assert_int_equal(strlen(files.place.path), strlen(head) + 16 + strlen(".rules"));
        assert_null(strchr(files.place.path + strlen(files.folder) + strlen("/huddle/"), '/'));
    }
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/homes/a", 1);
    assert_true(hud_wisdom_place("on", WISDOM_FILES_MPI, &files.place));
    assert_memory_equal(files.place.path, "/homes/a/.cache/huddle/wisdom-",
                        strlen("/homes/a/.cache/huddle/wisdom-"));
    unsetenv("HOME");
    assert_false(hud_wisdom_place("on", WISDOM_FILES_MPI, &files.place));
    assert_true(hud_wisdom_place("./my.rules", WISDOM_FILES_MPI, &files.place));
    assert_string_equal(files.place.path, "./my.rules");
    assert_true(files.place.named);
}

/* ---- reading and writing ---- */

static void file_is_created_and_read(void **state)
{
    static char text[2 * WISDOM_MAX];

    (void)state;
    assert_int_equal(files_read(), 0);
    assert_string_equal(files.why, "");
    assert_true(files_write_cell(1));
    assert_true(files_write_cell(2));
    assert_int_equal(files_read(), 2);
    assert_string_equal(files.why, "");
    assert_true(files_has(1) && files_has(2));
    assert_false(files.rules.elsewhere);
    assert_string_equal(files.rules.mpi, WISDOM_FILES_MPI);
    assert_false(files_exists(files.new_path));
    text[files_get(files.place.path, text)] = '\0';
    assert_non_null(strstr(text, "allgather ranks=2 bytes=9-16 oversubscribed=no divided=no "
                                 "within=machine -> mpi | ns=1001 samples=20 date=2026-11-30\n"));
}

static void decision_replaces_the_line_of_its_cell(void **state)
{
    struct rule r = files_cell(1);

    (void)state;
    assert_true(files_write_cell(1) && files_write_cell(2));
    r.ns = 77;
    r.samples = 30;
    assert_true(hud_wisdom_write(&files.place, &r, 1, true, files.why));
    assert_int_equal(files_read(), 2);
    assert_int_equal(files.rules.rule[0].ns, 77);
    assert_true(files_has(2));
}

static void nothing_is_written_if_nothing_changes(void **state)
{
    struct rule r = files_cell(1);
    struct stat before, after;

    (void)state;
    assert_true(files_write_cell(1));
    assert_int_equal(stat(files.place.path, &before), 0);
    r.ns = 2000; /* the same choice, on the same day, from fewer samples */
    r.samples = 19;
    assert_true(hud_wisdom_write(&files.place, &r, 1, true, files.why));
    assert_int_equal(stat(files.place.path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_false(files_exists(files.new_path));
}

static int looks; /* calls that read the processor's name */

void __real_hud_topo_cpu_name(char *name, size_t bytes);
void __wrap_hud_topo_cpu_name(char *name, size_t bytes);
void __wrap_hud_topo_cpu_name(char *name, size_t bytes)
{
    looks++;
    __real_hud_topo_cpu_name(name, bytes);
}

static void machine_is_looked_at_once(void **state)
{
    struct wisdom_place place;

    (void)state;
    assert_true(hud_wisdom_place("on", WISDOM_FILES_MPI, &place));
    assert_true(hud_wisdom_place("on", WISDOM_FILES_MPI, &place));
    assert_true(files_write_cell(1));
    assert_int_equal(files_read(), 1);
    assert_int_equal(looks, 1);
}

static void permissions_of_the_file_remain(void **state)
{
    static const mode_t modes[] = { 0600, 0640, 0666, 0444 };
    struct stat st;
    mode_t mask = umask(022);

    (void)state;
    assert_true(files_write_cell(0));
    assert_int_equal(stat(files.place.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(chmod(files.place.path, modes[i]), 0);
        assert_true(files_write_cell(i + 1));
        assert_int_equal(stat(files.place.path, &st), 0);
        assert_int_equal(st.st_mode & 0777, modes[i]);
    }
    umask(mask);
}

/* Changes the folder, as a program may.  The file is still that of the first folder. */
static void relative_path_means_the_first_folder(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=./my.rules", "HUDDLE_TUNING=off", NULL };
    const struct hud_host host = { .name = WISDOM_FILES_MPI,
                                   .world_size = 2,
                                   .settings = settings };
    const struct rule r = files_cell(1);
    char before[PATH_MAX];
    hud_context *c;

    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(files.folder), 0);
    assert_int_equal(hud_context_create(&host, &c), HUD_OK);
    assert_string_equal(c->config.error, "");
    assert_int_equal(chdir("/"), 0);
    hud_wisdom_store(&c->learn.wisdom, &c->config, &r, NULL, true);
    hud_context_destroy(c);
    snprintf(files.place.path, sizeof files.place.path, "%s/my.rules", files.folder);
    files.place.named = true;
    assert_int_equal(files_read(), 1);
    assert_true(files_has(1));
    assert_int_equal(chdir(files.folder), 0);
    assert_int_equal(hud_context_create(&host, &c), HUD_OK);
    assert_int_equal(chdir("/"), 0);
    assert_true(hud_wisdom_load(c));
    assert_int_equal(c->learn.wisdom.from_file, 1);
    hud_context_destroy(c);
    assert_int_equal(chdir(before), 0);
}

static void garbage_gives_one_line_and_is_replaced(void **state)
{
    static char text[WISDOM_MAX];
    unsigned seed = 3;

    (void)state;
    assert_true(files_write_cell(1));
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)(rand_r(&seed) >> 7);
        files_put(files.place.path, text, round == 0 ? 0 : sizeof text / 20 * (size_t)round);
        assert_int_equal(files_read(), 0);
        assert_int_equal(files.why[0] != '\0', round > 0);
        assert_null(strchr(files.why, '\n'));
    }
    memset(text, 0, sizeof text); /* a crash of the machine may leave such a file */
    files_put(files.place.path, text, sizeof text);
    assert_int_equal(files_read(), 0);
    assert_true(files_write_cell(5));
    assert_int_equal(files_read(), 1);
}

static void file_of_another_machine_is_neither_used_nor_changed(void **state)
{
    static const char *const texts[] = { "machine processors=99999\nbarrier -> mpi\n",
                                         "machine mpi=\"MPICH 4.0\"\nbarrier -> mpi\n",
                                         "machine kernel=2.4\nbarrier -> mpi\n" };
    static const char *const says[] = { "measured on another machine",
                                        "measured with MPICH 4.0, and this is ",
                                        "measured on another machine" };
    static char now[2 * WISDOM_MAX];

    (void)state;
    assert_true(files_write_cell(1));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        files_put(files.place.path, texts[i], strlen(texts[i]));
        files.place.named = false;
        assert_int_equal(files_read(), 0);
        assert_non_null(strstr(files.why, says[i]));
        assert_false(files_write_cell(2));
        assert_non_null(strstr(files.why, says[i]));
        assert_int_equal(files_get(files.place.path, now), strlen(texts[i]));
        files.place.named = true; /* the user wants it */
        assert_int_equal(files_read(), 1);
        assert_string_equal(files.why, "");
        assert_false(files_write_cell(2)); /* a line reports the failure */
        assert_non_null(strstr(files.why, "it is not written: it was measured"));
        assert_non_null(strstr(files.why, says[i]));
        assert_int_equal(files_get(files.place.path, now), strlen(texts[i]));
    }
}

/* Cuts the file at each byte of its last line, as a crash of the machine may. */
static void unfinished_line_is_not_read_and_goes(void **state)
{
    static char text[WISDOM_MAX];

    (void)state;
    assert_true(files_write_cell(2) && files_write_cell(1)); /* the last decision comes first */
    size_t bytes = (size_t)files_get(files.place.path, text), cut = bytes - 1;
    for (; text[cut - 1] != '\n'; cut--) {
        files_put(files.place.path, text, cut);
        assert_int_equal(files_read(), 1);
        assert_string_equal(files.why, "");
        assert_true(files_has(1));
    }
    assert_true(bytes - cut > 50);
    files_put(files.place.path, text, bytes - 4);
    assert_true(files_write_cell(3));
    assert_int_equal(files_read(), 2);
    assert_string_equal(files.why, "");
    assert_true(files_has(3) && files_has(1) && !files_has(2));
    files_put(files.place.path, "somebody's only line", 10);
    assert_int_equal(files_read(), 0);
    assert_string_not_equal(files.why, "");
}

/* ---- hazards ---- */

/* Expects a line with the reason why the file is neither used nor replaced. */
static void expect_refusal(const char *says)
{
    struct stat before, after;

    assert_int_equal(lstat(files.place.path, &before), 0);
    assert_int_equal(files_read(), 0);
    assert_non_null(strstr(files.why, says));
    assert_false(files_write_cell(9));
    assert_non_null(strstr(files.why, says));
    assert_int_equal(lstat(files.place.path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
    assert_false(files_exists(files.new_path));
}

static void special_files_are_left_alone(void **state)
{
    static char large[WISDOM_MAX + 1];
    char target[PATH_MAX];

    (void)state;
    assert_true(files_write_cell(1));
    snprintf(target, sizeof target, "%s/target", files.folder);
    assert_int_equal(rename(files.place.path, target), 0);
    assert_int_equal(symlink(target, files.place.path), 0);
    expect_refusal("symbolic link");
    assert_int_equal(unlink(files.place.path), 0);
    assert_int_equal(mkfifo(files.place.path, 0600), 0);
    expect_refusal("not a regular file");
    assert_int_equal(unlink(files.place.path), 0);
    assert_int_equal(mkdir(files.place.path, 0700), 0);
    expect_refusal("not a regular file");
    assert_int_equal(rmdir(files.place.path), 0);
    memset(large, '#', sizeof large);
    files_put(files.place.path, large, sizeof large);
    expect_refusal("larger than 256 KB");
    assert_int_equal(unlink(files.place.path), 0);
    assert_int_equal(rename(target, files.place.path), 0);
    files.foreign = true;
    expect_refusal("belongs to another user");
    files.foreign = false;
    assert_int_equal(files_read(), 1);
}

static void home_that_cannot_be_written_gives_no_line(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    files_find_place();
    assert_int_equal(files_read(), 0);
    assert_string_equal(files.why, "");
    assert_false(files_write_cell(1));
    assert_string_equal(files.why, "");
    files.place.named = true; /* but the user has asked for this file */
    assert_false(files_write_cell(1));
    assert_non_null(strstr(files.why, "it cannot be written: "));
}

static void limit_of_file_sizes_ends_no_process(void **state)
{
    struct rlimit before, little = { .rlim_cur = 100, .rlim_max = RLIM_INFINITY };

    (void)state;
    assert_true(files_write_cell(1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_false(files_write_cell(2));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(files.why, "File too large"));
    assert_false(files_exists(files.new_path));
    assert_int_equal(files_read(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(place_is_in_the_cache_by_mpi_and_machine),
        FILES_TEST(file_is_created_and_read),
        FILES_TEST(decision_replaces_the_line_of_its_cell),
        FILES_TEST(nothing_is_written_if_nothing_changes),
        FILES_TEST(machine_is_looked_at_once),
        FILES_TEST(permissions_of_the_file_remain),
        FILES_TEST(relative_path_means_the_first_folder),
        FILES_TEST(garbage_gives_one_line_and_is_replaced),
        FILES_TEST(file_of_another_machine_is_neither_used_nor_changed),
        FILES_TEST(unfinished_line_is_not_read_and_goes),
        FILES_TEST(special_files_are_left_alone),
        FILES_TEST(home_that_cannot_be_written_gives_no_line),
        FILES_TEST(limit_of_file_sizes_ends_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
