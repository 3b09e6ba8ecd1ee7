/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read_waits.c - the program `read_waits`: the data that running ranks publish in the heads of
 * their arenas, for `huddle who`.  Reads one JSON object from standard input, writes one to
 * standard output.  Opens the arenas through /proc, read-only, and maps their first bytes
 * read-only, without any effect on the ranks.
 *
 *   {"arenas": [{"pid", "fd"}, ...]}       fd: a descriptor of the process that leads to the arena
 *       {"arenas": [{"pid", "fd", "problem"} or {"pid", "fd", "owner", "world_rank", "handled":
 *       {collective: calls}, "waits": [...]}, ...]} owner: pid of the arena's rank, in that rank's
 *       PID namespace; a wait: the fields of struct wait_note (core/slice/member.h), "team" as text
 *       and "waited_ns" for since_ns
 *
 * A damaged head, or a head of another program, is reported as a problem and never crashes this
 * program.  A head is read only if the kernel protects the file from shrinking and the mark is of
 * this version, and a note only if its numbers are plausible.
 *
 * Exit status: 0, or 2 for bad input (a line names it).
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "core/arena/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 64, MAX_RANKS = 1 << 20, TEXT_BYTES = 160 };

/* Converts text of a fixed size to JSON.  If the text is not valid UTF-8, replaces its non-ASCII
 * bytes. */
static json_t *text_of(const char *from, size_t bytes)
{
    char text[TEXT_BYTES];
    size_t n = strnlen(from, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
    json_t *json;

    memcpy(text, from, n);
    text[n] = '\0';
    if ((json = json_string(text)) != NULL)
        return json;
    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
    return json_string(text);
}

static bool makes_sense(const struct wait_note *note)
{
    return note->size >= 1 && note->size <= MAX_RANKS && note->rank >= 0 &&
           note->rank < note->size && note->owner < note->size && note->root < note->size &&
           note->missing >= 0 && note->missing <= note->size;
}

static json_t *absent_of(const struct wait_note *note)
{
    json_t *absent = json_array();

    for (int i = 0; i < note->missing && i < NOTE_MISSING; i++)
        json_array_append_new(absent, json_pack("{s:i, s:i}", "rank", note->absent[i].rank, "pid",
                                                note->absent[i].pid));
    return absent;
}

static json_t *wait_of(const struct wait_note *note)
{
    uint64_t now = clock_ns(), waited = now > note->since_ns
                                            ? now - note->since_ns
                                            : 0; /* the clock of another time namespace differs */
    char team[24];

    snprintf(team, sizeof team, "%016llx", (unsigned long long)note->team);
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}",
        "team", team, "call", (json_int_t)note->call, "bytes", (json_int_t)note->bytes, "waited_ns",
        (json_int_t)waited, "world_rank", note->world_rank, "rank", note->rank, "size", note->size,
        "root", note->root, "owner", note->owner, "missing", note->missing, "line", note->line,
        "absent", absent_of(note), "collective", text_of(note->collective, sizeof note->collective),
        "algorithm", text_of(note->algorithm, sizeof note->algorithm), "file",
        text_of(note->file, sizeof note->file), "label", text_of(note->label, sizeof note->label),
        "communicator", text_of(note->communicator, sizeof note->communicator));
}

/* Reads the notes.  A note that is being written is complete in less than a microsecond, unless its
 * rank is stopped meanwhile; so reading is retried. */
static json_t *waits_of(const struct arena_head *head)
{
    json_t *waits = json_array();
    union wait_words words;

    for (int i = 0; i < NOTE_COUNT; i++)
        for (int tries = 0; tries < TRIES; tries++)
            if (mem_note_read(&head->note[i], words.word)) {
                if (makes_sense(&words.note))
                    json_array_append_new(waits, wait_of(&words.note));
                break;
            }
    return waits;
}

static json_t *handled_of(const struct arena_head *head)
{
    json_t *handled = json_object();

    for (int k = 0; k < COLL_KINDS; k++)
        json_object_set_new(handled, coll_name(k),
                            json_integer((json_int_t)mem_count_observe(
                                &head->stats.coll[k].reason_calls[REASON_NONE])));
    return handled;
}

static void describe(json_t *answer, const struct arena_head *head)
{
    json_object_set_new(answer, "owner", json_integer(head->mark.pid));
    json_object_set_new(answer, "world_rank", json_integer(head->mark.world_rank));
    json_object_set_new(answer, "handled", handled_of(head));
    json_object_set_new(answer, "waits", waits_of(head));
}

static void complain(json_t *answer, const char *problem)
{
    json_object_set_new(answer, "problem", text_of(problem, strlen(problem) + 1));
}

/* Shortens the number of a layout, so that users can distinguish two builds of the same version. */
static unsigned short_layout(uint64_t layout)
{
    return (unsigned)(layout ^ layout >> 32);
}

/* Returns why the head of a file cannot be read, or NULL if the head is usable.  Uses pread(),
 * because a page of a mapping might not exist yet. */
static const char *judge(int fd, char *line, size_t bytes)
{
    struct arena_mark mark;
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) != 0 ||
        pread(fd, &mark, sizeof mark, offsetof(struct arena_head, mark)) != (ssize_t)sizeof mark)
        return "a file named 'huddle' that is not huddle's";
    if (memcmp(mark.magic, ARENA_MAGIC, sizeof mark.magic) != 0)
        return "not huddle's, of an older version, or still being set up";
    mark.version[ARENA_VERSION - 1] = '\0';
    snprintf(line, bytes,
             "of another build of huddle (version %s, layout %08x; this one: version %s, layout "
             "%08x): use that build's 'huddle who'",
             mark.version, short_layout(mark.layout), hud_version(),
             short_layout(hud_arena_layout()));
    return mark.layout != hud_arena_layout() || (size_t)st.st_size < sizeof(struct arena_head)
               ? line
               : NULL;
}

/* Returns the size of the head in whole pages of the file, which may be huge pages. */
static size_t whole_pages(int fd)
{
    struct stat st;
    size_t page = fstat(fd, &st) == 0 && st.st_blksize > 0 ? (size_t)st.st_blksize : 1;

    return (sizeof(struct arena_head) + page - 1) / page * page;
}

static json_t *read_arena_head(int pid, int fd_there)
{
    json_t *answer = json_pack("{s:i, s:i}", "pid", pid, "fd", fd_there);
    char path[64], line[TEXT_BYTES];
    const char *problem;
    size_t bytes;
    void *head;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd_there);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        complain(answer, strerror(errno));
        return answer;
    }
    problem = judge(fd, line, sizeof line);
    bytes = whole_pages(fd);
    head = problem ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (problem)
        complain(answer, problem);
    else if (head == MAP_FAILED)
        complain(answer, strerror(errno));
    else
        describe(answer, head);
    if (head != MAP_FAILED)
        munmap(head, bytes);
    close(fd);
    return answer;
}

int main(void)
{
    json_error_t error;
    json_t *request = json_loadf(stdin, 0, &error), *arenas = json_object_get(request, "arenas"),
           *item, *answers = json_array();
    size_t i;

    if (!json_is_array(arenas)) {
        fprintf(stderr, "huddle: read_waits: not understood: %s\n",
                request ? "no list 'arenas'" : error.text);
        return 2;
    }
    json_array_foreach(arenas, i, item) json_array_append_new(
        answers, read_arena_head((int)json_integer_value(json_object_get(item, "pid")),
                                 (int)json_integer_value(json_object_get(item, "fd"))));
    json_t *answer = json_pack("{s:o}", "arenas", answers);
    int rc = json_dumpf(answer, stdout, JSON_COMPACT);
    json_decref(answer);
    json_decref(request);
    return rc == 0 && fflush(stdout) == 0 ? 0 : 1;
}
