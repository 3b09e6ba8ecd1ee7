/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * toml_plain.c - reads the part of TOML that our own files use: lines [name], [[name]],
 * key = "text", number or boolean, comments, all in ASCII.
 *
 * Every rank reads the built-in table when it starts, and toml++ takes a millisecond for it.  A
 * text is inspected as a whole before the visitor sees any of it.  Whatever is not plain, errors
 * included, is toml++'s: so only that decides what is valid.
 */
#include "core/choose/toml.h"

#include <stdbool.h>
#include <string.h>

enum { TABLES = 32, KEYS = 32, NAME_BYTES = 64, VALUE_BYTES = 256, DIGITS = 18 };

struct span {
    const char *at;
    size_t bytes;
};

enum kind { EMPTY, TABLE, LIST, PAIR, STRANGE };
struct line {
    enum kind kind;
    struct span name, value; /* of a table or a key */
};

/* What a text has had so far: a name that is there twice is an error, or not plain. */
struct seen {
    struct span table[TABLES], key[KEYS];
    bool is_list[TABLES];
    int tables, keys;
};

static bool equal(struct span a, struct span b)
{
    return a.bytes == b.bytes && memcmp(a.at, b.at, a.bytes) == 0;
}

static void skip_spaces(struct span *rest)
{
    while (rest->bytes > 0 && (*rest->at == ' ' || *rest->at == '\t'))
        rest->at++, rest->bytes--;
}

static bool skip(struct span *rest, char c)
{
    if (rest->bytes == 0 || *rest->at != c)
        return false;
    rest->at++, rest->bytes--;
    return true;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static struct span take_name(struct span *rest)
{
    struct span name = { rest->at, 0 };

    while (rest->bytes > 0 && is_of_name(*rest->at))
        name.bytes++, rest->at++, rest->bytes--;
    return name;
}

/* The characters of one text, without its quotes. */
static bool take_text(struct span *rest, struct span *value)
{
    *value = (struct span){ rest->at, 0 };
    while (rest->bytes > 0 && *rest->at != '"' && *rest->at != '\\')
        value->bytes++, rest->at++, rest->bytes--;
    return value->bytes < VALUE_BYTES && skip(rest, '"');
}

static bool take_value(struct span *rest, struct span *value)
{
    if (skip(rest, '"'))
        return take_text(rest, value);
    *value = take_name(rest);
    if (equal(*value, (struct span){ "true", 4 }) || equal(*value, (struct span){ "false", 5 }))
        return true;
    for (size_t i = 0; i < value->bytes; i++)
        if (value->at[i] < '0' || value->at[i] > '9')
            return false;
    return value->bytes == 1 || (value->bytes > 1 && value->bytes <= DIGITS && *value->at != '0');
}

static struct line parse(struct span rest)
{
    struct line line = { .kind = EMPTY };
    bool good = true;

    skip_spaces(&rest);
    if (skip(&rest, '[')) {
        line.kind = skip(&rest, '[') ? LIST : TABLE;
        line.name = take_name(&rest);
        good = skip(&rest, ']') && (line.kind == TABLE || skip(&rest, ']'));
    } else if (rest.bytes > 0 && *rest.at != '#') {
        line.kind = PAIR;
        line.name = take_name(&rest);
        skip_spaces(&rest);
        good = skip(&rest, '=');
        skip_spaces(&rest);
        good = good && take_value(&rest, &line.value);
    }
    skip_spaces(&rest);
    good = good && (rest.bytes == 0 || *rest.at == '#') &&
           (line.kind == EMPTY || (line.name.bytes > 0 && line.name.bytes < NAME_BYTES));
    line.kind = good ? line.kind : STRANGE;
    return line;
}

/* The next line of *text, which moves behind it. */
static struct line next_line(struct span *text)
{
    const char *end = memchr(text->at, '\n', text->bytes);
    struct span line = { text->at, end ? (size_t)(end - text->at) : text->bytes };
    size_t used = line.bytes + (end != NULL);

    text->at += used;
    text->bytes -= used;
    return parse(line);
}

static bool add_table(struct seen *seen, struct line line)
{
    int t = 0;

    while (t < seen->tables && !equal(seen->table[t], line.name))
        t++;
    bool again = t < seen->tables;
    if (t == TABLES || (again && !(seen->is_list[t] && line.kind == LIST)))
        return false;
    seen->table[t] = line.name;
    seen->is_list[t] = line.kind == LIST;
    seen->tables += !again;
    seen->keys = 0;
    return true;
}

static bool add_key(struct seen *seen, struct line line)
{
    for (int k = 0; k < seen->keys; k++)
        if (equal(seen->key[k], line.name))
            return false;
    if (seen->tables == 0 || seen->keys == KEYS)
        return false;
    seen->key[seen->keys++] = line.name;
    return true;
}

bool hud_toml_is_plain(const char *text, size_t bytes)
{
    struct seen seen = { .tables = 0 };
    struct span rest = { text, bytes };
    bool plain = true;

    for (size_t i = 0; i < bytes && plain; i++)
        plain = text[i] == '\n' || text[i] == '\t' || (text[i] >= ' ' && text[i] <= '~');
    while (rest.bytes > 0 && plain) {
        struct line line = next_line(&rest);
        plain = line.kind == EMPTY ||
                (line.kind == PAIR ? add_key(&seen, line)
                                   : line.kind != STRANGE && add_table(&seen, line));
    }
    return plain;
}

static int visit(const struct toml_visitor *v, struct line line, int number)
{
    char name[NAME_BYTES], value[VALUE_BYTES];

    memcpy(name, line.name.at, line.name.bytes);
    name[line.name.bytes] = '\0';
    if (line.kind != PAIR)
        return v->table(v->arg, name, number);
    memcpy(value, line.value.at, line.value.bytes);
    value[line.value.bytes] = '\0';
    return v->pair(v->arg, name, value, number);
}

int hud_toml_read_plain(const char *text, size_t bytes, const struct toml_visitor *visitor)
{
    struct span rest = { text, bytes };
    int rc = 0;

    for (int number = 1; rest.bytes > 0 && rc == 0; number++) {
        struct line line = next_line(&rest);
        rc = line.kind == EMPTY ? 0 : visit(visitor, line, number);
    }
    return rc;
}

int hud_toml_read(const char *text, size_t bytes, const struct toml_visitor *visitor)
{
    return hud_toml_is_plain(text, bytes) ? hud_toml_read_plain(text, bytes, visitor)
                                          : hud_toml_parse(text, bytes, visitor);
}
