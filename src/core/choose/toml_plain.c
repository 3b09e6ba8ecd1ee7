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
    const char *at, *end;
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

static size_t bytes_of(struct span a)
{
    return (size_t)(a.end - a.at);
}

static bool equal(struct span a, struct span b)
{
    return bytes_of(a) == bytes_of(b) && memcmp(a.at, b.at, bytes_of(a)) == 0;
}

static bool is(struct span a, const char *text)
{
    return equal(a, (struct span){ text, text + strlen(text) });
}

static void skip_spaces(struct span *rest)
{
    while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t'))
        rest->at++;
}

static bool skip(struct span *rest, char c)
{
    if (rest->at == rest->end || *rest->at != c)
        return false;
    rest->at++;
    return true;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static struct span take_name(struct span *rest)
{
    struct span name = { rest->at, rest->at };

    while (name.end < rest->end && is_of_name(*name.end))
        name.end++;
    rest->at = name.end;
    return name;
}

/* The characters of one text, without its quotes. */
static bool take_text(struct span *rest, struct span *value)
{
    *value = (struct span){ rest->at, rest->at };
    while (value->end < rest->end && *value->end != '"' && *value->end != '\\')
        value->end++;
    rest->at = value->end;
    return bytes_of(*value) < VALUE_BYTES && skip(rest, '"');
}

static bool take_value(struct span *rest, struct span *value)
{
    if (skip(rest, '"'))
        return take_text(rest, value);
    *value = take_name(rest);
    if (is(*value, "true") || is(*value, "false"))
        return true;
    for (const char *digit = value->at; digit < value->end; digit++)
        if (*digit < '0' || *digit > '9')
            return false;
    size_t digits = bytes_of(*value);
    return digits == 1 || (digits > 1 && digits <= DIGITS && *value->at != '0');
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
    } else if (rest.at < rest.end && *rest.at != '#') {
        line.kind = PAIR;
        line.name = take_name(&rest);
        skip_spaces(&rest);
        good = skip(&rest, '=');
        skip_spaces(&rest);
        good = good && take_value(&rest, &line.value);
    }
    skip_spaces(&rest);
    good = good && (rest.at == rest.end || *rest.at == '#') &&
           (line.kind == EMPTY || (bytes_of(line.name) > 0 && bytes_of(line.name) < NAME_BYTES));
    line.kind = good ? line.kind : STRANGE;
    return line;
}

/* The next line of *text, which moves behind it. */
static struct line next_line(struct span *text)
{
    const char *newline = memchr(text->at, '\n', bytes_of(*text));
    struct span line = { text->at, newline ? newline : text->end };

    text->at = newline ? newline + 1 : text->end;
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
    struct span rest = { text, text + bytes };
    bool plain = true;

    for (size_t i = 0; i < bytes && plain; i++)
        plain = text[i] == '\n' || text[i] == '\t' || (text[i] >= ' ' && text[i] <= '~');
    while (rest.at < rest.end && plain) {
        struct line line = next_line(&rest);
        plain = line.kind == EMPTY ||
                (line.kind == PAIR ? add_key(&seen, line)
                                   : line.kind != STRANGE && add_table(&seen, line));
    }
    return plain;
}

static void put(char *text, struct span of)
{
    memcpy(text, of.at, bytes_of(of));
    text[bytes_of(of)] = '\0';
}

static int visit(const struct toml_visitor *v, struct line line, int number)
{
    char name[NAME_BYTES], value[VALUE_BYTES];

    put(name, line.name);
    if (line.kind != PAIR)
        return v->table(v->arg, name, number);
    put(value, line.value);
    return v->pair(v->arg, name, value, number);
}

int hud_toml_read_plain(const char *text, size_t bytes, const struct toml_visitor *visitor)
{
    struct span rest = { text, text + bytes };
    int rc = 0;

    for (int number = 1; rest.at < rest.end && rc == 0; number++) {
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
