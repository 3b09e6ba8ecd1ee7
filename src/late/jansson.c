/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late/jansson.c - jansson for libhuddle: the library is loaded by the first call.  It makes the
 * JSON of statistics and of what the CLI asks, so most ranks never need it.
 *
 * What is loaded is libhuddle-jansson.so, which only depends on jansson (late/needs_jansson.c).  So
 * packagers' tools see the dependence, and may give that library another name.
 *
 * Where it cannot be loaded, each function answers as if memory had run out.  Functions are looked
 * up in that library only: other libraries in a program (json-c) have some of the same names.
 */
#include "late/late.h"

#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

#define FILE_NAME "huddle/libhuddle-jansson.so"

#define FUNCTIONS(F)                                                                               \
    F(json_object)                                                                                 \
    F(json_array)                                                                                  \
    F(json_string)                                                                                 \
    F(json_integer)                                                                                \
    F(json_true)                                                                                   \
    F(json_false)                                                                                  \
    F(json_null)                                                                                   \
    F(json_object_get)                                                                             \
    F(json_object_set_new)                                                                         \
    F(json_object_del)                                                                             \
    F(json_array_size)                                                                             \
    F(json_array_get)                                                                              \
    F(json_array_append_new)                                                                       \
    F(json_equal)                                                                                  \
    F(json_copy) F(json_loads) F(json_dumps) F(json_dump_file) F(json_delete) F(json_vpack_ex)

#define POINTER(name) __typeof__(&name) name;
static struct {
    FUNCTIONS(POINTER)
} real; /* NULL: not there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = hud_late_beside(LATE_JANSSON, FILE_NAME);

    if (!library)
        return;
#define FIND(name) real.name = (__typeof__(&name))hud_late_find(LATE_JANSSON, library, #name);
    FUNCTIONS(FIND)
}

/* A function, and what it answers without the library. */
#define LATE(type, name, parameters, arguments, failed)                                            \
    type name parameters                                                                           \
    {                                                                                              \
        pthread_once(&once, load);                                                                 \
        return real.name ? real.name arguments : (failed);                                         \
    }

LATE(json_t *, json_object, (void), (), NULL)
LATE(json_t *, json_array, (void), (), NULL)
LATE(json_t *, json_string, (const char *value), (value), NULL)
LATE(json_t *, json_integer, (json_int_t value), (value), NULL)
LATE(json_t *, json_true, (void), (), NULL)
LATE(json_t *, json_false, (void), (), NULL)
LATE(json_t *, json_null, (void), (), NULL)
LATE(json_t *, json_object_get, (const json_t *object, const char *key), (object, key), NULL)
LATE(int, json_object_set_new, (json_t * object, const char *key, json_t *value),
     (object, key, value), -1)
LATE(int, json_object_del, (json_t * object, const char *key), (object, key), -1)
LATE(size_t, json_array_size, (const json_t *array), (array), 0)
LATE(json_t *, json_array_get, (const json_t *array, size_t index), (array, index), NULL)
LATE(int, json_array_append_new, (json_t * array, json_t *value), (array, value), -1)
LATE(int, json_equal, (const json_t *value, const json_t *other), (value, other), 0)
LATE(json_t *, json_copy, (json_t * value), (value), NULL)
LATE(json_t *, json_loads, (const char *text, size_t flags, json_error_t *error),
     (text, flags, error), NULL)
LATE(char *, json_dumps, (const json_t *json, size_t flags), (json, flags), NULL)
LATE(int, json_dump_file, (const json_t *json, const char *path, size_t flags), (json, path, flags),
     -1)

void json_delete(json_t *json)
{
    pthread_once(&once, load);
    if (real.json_delete)
        real.json_delete(json);
}

json_t *json_pack(const char *format, ...)
{
    va_list args;

    pthread_once(&once, load);
    va_start(args, format);
    json_t *packed = real.json_vpack_ex ? real.json_vpack_ex(NULL, 0, format, args) : NULL;
    va_end(args);
    return packed;
}
