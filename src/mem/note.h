/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * note.h - a short record in shared memory that one thread writes and any process may read at any
 * time.
 *
 * A note is free (turn 4k), being written (odd turn) or complete (turn 4k + 2).  The writer makes
 * the turn odd, writes the words and then completes the note.  A reader copies the words.  It uses
 * them only if the turn meant complete before the copy and is the same after it.  The turn only
 * grows, even if a note is given back and claimed again, so no two records have the same turn.
 * Readers never write, so a read-only mapping is enough.
 *
 * Claim     Exchanging `owned` gives a free note to one thread of the process.
 * Order     Each word is a release store after the store of the odd turn, and the complete turn is
 *           a release store after all words.  The reader's acquire load of a word pairs with the
 *           word's store.  So a reader that sees a word of a newer record also sees the odd turn of
 *           that record, or a later turn, when it reads the turn again.  Mixed words of two records
 *           are always noticed.
 */
#ifndef HUD_NOTE_H
#define HUD_NOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_NOTE_WORDS = 64 };

struct mem_note {
    _Atomic uint64_t owned; /* nonzero: claimed by a thread of the process that owns the memory */
    _Atomic uint64_t turn;
    _Atomic uint64_t word[MEM_NOTE_WORDS];
};

/* Claims a free note of notes[count] for the caller.  Returns NULL if all are in use. */
static inline struct mem_note *mem_note_claim(struct mem_note *notes, int count)
{
    for (int i = 0; i < count; i++)
        if (atomic_exchange_explicit(&notes[i].owned, 1, memory_order_acquire) == 0)
            return &notes[i];
    return NULL;
}

static inline void mem_note_write(struct mem_note *note, const uint64_t word[MEM_NOTE_WORDS])
{
    uint64_t turn = atomic_load_explicit(&note->turn, memory_order_relaxed);

    atomic_store_explicit(&note->turn, turn | 1, memory_order_relaxed);
    for (int i = 0; i < MEM_NOTE_WORDS; i++)
        atomic_store_explicit(&note->word[i], word[i], memory_order_release);
    atomic_store_explicit(&note->turn, (turn | 3) + 3, memory_order_release);
}

/* Gives a claimed note back. */
static inline void mem_note_drop(struct mem_note *note)
{
    uint64_t turn = atomic_load_explicit(&note->turn, memory_order_relaxed);

    atomic_store_explicit(&note->turn, (turn | 3) + 1, memory_order_relaxed);
    atomic_store_explicit(&note->owned, 0, memory_order_release);
}

/* Copies a complete record.  Returns false if the note is free or incomplete, or was written
 * meanwhile. */
static inline bool mem_note_read(const struct mem_note *note, uint64_t word[MEM_NOTE_WORDS])
{
    uint64_t turn = atomic_load_explicit(&note->turn, memory_order_acquire);

    if (turn % 4 != 2)
        return false;
    for (int i = 0; i < MEM_NOTE_WORDS; i++)
        word[i] = atomic_load_explicit(&note->word[i], memory_order_acquire);
    return atomic_load_explicit(&note->turn, memory_order_relaxed) == turn;
}

#endif
