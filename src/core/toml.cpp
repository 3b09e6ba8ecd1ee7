// SPDX-License-Identifier: BSD-3-Clause
// toml.cpp - toml++ behind a C interface: nodes are visited in the order in which they are in the file.
//
// toml++ 3.3 is not robust against every malformed text.  This file makes up for it, so that each one is an answer and not a crash:
//
// * Some malformed texts fail its assertions: after "[" it reads a key without looking whether one begins there ("[,").  A Debug build aborts at that.
//   With NDEBUG the same assertions become promises to the optimizer, and a failed one is undefined behaviour.  So they stay on here in all builds
//   (no NDEBUG), and throw: a text that fails one is not valid TOML.
// * Without exceptions its parser goes on after an error, in states that more of its assertions exclude.  With exceptions a parse ends at its
//   first error.  So this file is compiled with exceptions, and none of them leaves it.
// * Nested tables and arrays are freed recursively.  Without a limit a line of 1 MB with a dotted key ("a.a.a...") overflows the stack.
#undef NDEBUG
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 4 // an array of tables of arrays: more than any rule has
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : throw failed_assertion{})

namespace
{

struct failed_assertion {
};

} // namespace

#include "core/toml.h"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <vector>

namespace
{

constexpr int MOST_DOTS = 256; // in a line, each perhaps one more level of tables

struct item { // a key and what it names
    std::string key;
    const toml::node *node;
    toml::source_position at;
};

int line_of(const toml::node &node)
{
    return static_cast<int>(node.source().begin.line);
}

void sort(std::vector<item> &items)
{
    std::stable_sort(items.begin(), items.end(), [](const item &a, const item &b) { return a.at < b.at; });
}

std::vector<item> in_order(const toml::table &table)
{
    std::vector<item> items;

    for (auto &&[key, node] : table)
        items.push_back({ std::string(key.str()), &node, node.source().begin });
    sort(items);
    return items;
}

// A C string would end at a zero byte ("\u0000"), and the rest go unseen.
bool has_zero(const std::string &text)
{
    return text.find('\0') != std::string::npos;
}

bool text_of(const toml::node &node, std::string &text)
{
    if (auto s = node.value_exact<std::string>())
        text = *s;
    else if (auto n = node.value_exact<int64_t>())
        text = std::to_string(*n);
    else if (auto b = node.value_exact<bool>())
        text = *b ? "true" : "false";
    else
        return false;
    return !has_zero(text);
}

int visit_table(const toml_visitor &v, const std::string &name, const toml::table &table)
{
    int rc = v.table(v.arg, name.c_str(), line_of(table));
    std::string text;

    for (const item &i : in_order(table)) {
        int line = static_cast<int>(i.at.line);
        bool plain = !has_zero(i.key) && text_of(*i.node, text);
        if (rc != 0)
            return rc;
        rc = plain ? v.pair(v.arg, i.key.c_str(), text.c_str(), line) : v.strange(v.arg, i.key.c_str(), line);
    }
    return rc;
}

// The tables of the file, [[name]] one by one, in order.
int visit(const toml_visitor &v, const toml::table &file)
{
    std::vector<item> items;
    int rc = 0;

    for (const item &i : in_order(file)) {
        const toml::array *list = i.node->as_array();
        if (list && list->is_homogeneous<toml::table>())
            for (auto &&element : *list)
                items.push_back({ i.key, &element, element.source().begin });
        else
            items.push_back(i);
    }
    sort(items);
    for (const item &i : items) {
        const toml::table *table = has_zero(i.key) ? nullptr : i.node->as_table();
        rc = table ? visit_table(v, i.key, *table) : v.strange(v.arg, i.key.c_str(), static_cast<int>(i.at.line));
        if (rc != 0)
            break;
    }
    return rc;
}

// The first line with more dots than MOST_DOTS, 0: there is none.
int line_too_deep(std::string_view text)
{
    int line = 1, dots = 0;

    for (char c : text) {
        dots = c == '\n' ? 0 : dots + (c == '.');
        line += c == '\n';
        if (dots > MOST_DOTS)
            return line;
    }
    return 0;
}

bool fails(std::string_view text)
{
    try {
        toml::parse(text);
        return false;
    } catch (const toml::parse_error &) {
        return false; // a value that goes on in the next line
    } catch (const failed_assertion &) {
        return true;
    }
}

// A failed assertion does not tell where.  A text is read from its beginning: of its lines the fewest that fail the same way end with the line in question.
int line_of_failure(std::string_view text)
{
    std::vector<size_t> ends;
    size_t fine = 0, bad;

    for (size_t i = 0; i < text.size(); i++)
        if (text[i] == '\n' || i + 1 == text.size())
            ends.push_back(i + 1);
    for (bad = ends.size(); bad - fine > 1;) {
        size_t middle = fine + (bad - fine) / 2;
        (fails(text.substr(0, ends[middle - 1])) ? bad : fine) = middle;
    }
    return static_cast<int>(bad);
}

int read(std::string_view text, const toml_visitor &v)
{
    try {
        return visit(v, toml::parse(text));
    } catch (const toml::parse_error &error) {
        std::string_view what = error.description(); // ends with a zero byte
        return v.strange(v.arg, what.data(), static_cast<int>(error.source().begin.line));
    } catch (const failed_assertion &) {
        return v.strange(v.arg, "not valid TOML", line_of_failure(text));
    }
}

} // namespace

int hud_toml_read(const char *text, size_t bytes, const struct toml_visitor *visitor)
{
    std::string_view view(text, bytes);
    int deep = line_too_deep(view);

    if (deep != 0)
        return visitor->strange(visitor->arg, "a line with more than 256 dots", deep);
    try {
        return read(view, *visitor);
    } catch (const std::bad_alloc &) {
        return visitor->strange(visitor->arg, "out of memory", 1);
    }
}
