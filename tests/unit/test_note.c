/* SPDX-License-Identifier: BSD-3-Clause */
/* test_note.c - a note is read as it was written, or not at all, even while it is written, released
 * and claimed again. */
#include "mem/note.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { READERS = 3, READS = 200000, PER_CLAIM = 3, PAUSE = 4 };

static struct mem_note notes[2];
static atomic_int reading, torn;

/* Makes record n, in which every word is n. */
static void make(uint64_t n, uint64_t word[MEM_NOTE_WORDS])
{
    for (int i = 0; i < MEM_NOTE_WORDS; i++)
        word[i] = n;
}

static void *write_records(void *arg)
{
    uint64_t word[MEM_NOTE_WORDS];

    (void)arg;
    for (uint64_t n = 1; atomic_load(&reading) != 0;) {
        struct mem_note *note = mem_note_claim(notes, 1);
        for (int i = 0; note && i < PER_CLAIM; i++, n++) {
            make(n, word);
            mem_note_write(note, word);
            for (int pause = 0; pause < PAUSE && atomic_load(&reading) != 0;
                 pause++) /* a note that is written without a pause can never be read */
                (void)mem_note_read(note, word);
        }
        if (note)
            mem_note_drop(note);
    }
    return NULL;
}

static void *read_records(void *arg)
{
    uint64_t word[MEM_NOTE_WORDS], last = 0;

    (void)arg;
    for (int reads = 0; reads < READS;) {
        if (!mem_note_read(&notes[0], word)) {
            sched_yield();
            continue;
        }
        reads++;
        for (int i = 1; i < MEM_NOTE_WORDS; i++)
            if (word[i] != word[0])
                atomic_fetch_add(&torn, 1);
        if (word[0] == 0 || word[0] < last)
            atomic_fetch_add(&torn, 1);
        last = word[0];
    }
    atomic_fetch_sub(&reading, 1);
    return NULL;
}

static void records_are_never_torn(void **state)
{
    pthread_t writer, reader[READERS];

    (void)state;
    memset(notes, 0, sizeof notes);
    atomic_store(&reading, READERS);
    atomic_store(&torn, 0);
    assert_int_equal(pthread_create(&writer, NULL, write_records, NULL), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_records, NULL), 0);
    for (int i = 0; i < READERS; i++)
        pthread_join(reader[i], NULL);
    pthread_join(writer, NULL);
    assert_int_equal(atomic_load(&torn), 0);
}

/* Verifies that every record has a different turn. So a reader interrupted for any time notices
 * another record. */
static void records_have_different_turns(void **state)
{
    uint64_t word[MEM_NOTE_WORDS], got[MEM_NOTE_WORDS], turn = 0;

    (void)state;
    memset(notes, 0, sizeof notes);
    for (uint64_t n = 1; n <= 12; n++) {
        struct mem_note *note = mem_note_claim(notes, 1);
        assert_ptr_equal(note, &notes[0]);
        for (int i = 0; i < (int)(n % 3) + 1; i++) {
            make(100 * n + (uint64_t)i, word);
            mem_note_write(note, word);
            assert_true(atomic_load(&note->turn) > turn);
            turn = atomic_load(&note->turn);
            assert_true(mem_note_read(note, got));
            assert_memory_equal(got, word, sizeof word);
        }
        mem_note_drop(note);
        assert_false(mem_note_read(note, got));
    }
}

static void note_is_claimed_once(void **state)
{
    uint64_t got[MEM_NOTE_WORDS];

    (void)state;
    memset(notes, 0, sizeof notes);
    assert_ptr_equal(mem_note_claim(notes, 2), &notes[0]);
    assert_ptr_equal(mem_note_claim(notes, 2), &notes[1]);
    assert_null(mem_note_claim(notes, 2));
    assert_false(mem_note_read(&notes[0], got)); /* claimed, but not written */
    mem_note_drop(&notes[0]);
    assert_ptr_equal(mem_note_claim(notes, 2), &notes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_never_torn),
        cmocka_unit_test(records_have_different_turns),
        cmocka_unit_test(note_is_claimed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
