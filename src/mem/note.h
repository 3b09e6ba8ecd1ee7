/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * note.h - a short record in shared memory that one thread writes and any process may read at any
 * time.
 *
 * A note is free (turn 4k), being written (odd turn) or complete (turn 4k + 2).  The writer makes
 * the turn odd, writes the words and completes it; a reader copies the words and takes them only if
 * the turn was a complete one before and is the same after.  The turn only grows, also where a note
 * is given back and claimed again, so no two records have the same one.  Readers never write: a
 * read-only mapping serves.
 *
 * Claim     The exchange of `owned` gives a free note to one thread of the process.
 * Order     Each word is a release store, after that of the odd turn; the complete turn is one
 *           after all words.  The reader's acquire load of a word pairs with its store: a reader
 *           that sees a word of a newer record sees that record's odd turn, or a later one, when it
 *           looks at the turn again.  So words of two records never mix unnoticed.
 */
#ifndef HUD_NOTE_H
#define HUD_NOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_NOTE_WORDS = 64 };

struct mem_note {
    _Atomic uint64_t owned; /* nonzero: by a thread of the process that owns the memory */
    _Atomic uint64_t turn;
    _Atomic uint64_t word[MEM_NOTE_WORDS];
};

/* A free note of notes[count], now the caller's; NULL: all are in use. */
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

/* False: the note is free, or was written meanwhile. */
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
