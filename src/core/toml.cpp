// SPDX-License-Identifier: BSD-3-Clause
// toml.cpp - toml++ behind a C interface: nodes are visited in the order in which they stand in the file.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include "core/toml.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <vector>

namespace
{

struct item { // a key and what it names
    std::string key;
    const toml::node *node;
    int line;
};

int line_of(const toml::node &node)
{
    return static_cast<int>(node.source().begin.line);
}

std::vector<item> in_order(const toml::table &table)
{
    std::vector<item> items;

    for (auto &&[key, node] : table)
        items.push_back({ std::string(key.str()), &node, line_of(node) });
    std::stable_sort(items.begin(), items.end(), [](const item &a, const item &b) { return a.line < b.line; });
    return items;
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
    return true;
}

int visit_table(const toml_visitor &v, const std::string &name, const toml::table &table)
{
    int rc = v.table(v.arg, name.c_str(), line_of(table));
    std::string text;

    for (const item &i : in_order(table)) {
        if (rc != 0)
            return rc;
        rc = text_of(*i.node, text) ? v.pair(v.arg, i.key.c_str(), text.c_str(), i.line) : v.strange(v.arg, i.key.c_str(), i.line);
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
                items.push_back({ i.key, &element, line_of(element) });
        else
            items.push_back(i);
    }
    std::stable_sort(items.begin(), items.end(), [](const item &a, const item &b) { return a.line < b.line; });
    for (const item &i : items) {
        const toml::table *table = i.node->as_table();
        rc = table ? visit_table(v, i.key, *table) : v.strange(v.arg, i.key.c_str(), i.line);
        if (rc != 0)
            break;
    }
    return rc;
}

} // namespace

int hud_toml_read(const char *text, size_t bytes, const struct toml_visitor *visitor)
{
    toml::parse_result read = toml::parse(std::string_view(text, bytes));

    if (!read) {
        std::string what(read.error().description());
        return visitor->strange(visitor->arg, what.c_str(), static_cast<int>(read.error().source().begin.line));
    }
    return visit(*visitor, read.table());
}
