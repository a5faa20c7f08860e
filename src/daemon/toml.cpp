#include "daemon/toml.h"

extern "C" {
#include "base/bytes.h"
}

#include <toml.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct entry {
    std::string section, key;
    unsigned line;
    toml::value value;
};

/*
 * toml11 descends by recursion: open brackets, and the dots of a line, bound how deep, before it sees the text. What is
 * in strings and comments does not count. Where a string may have many lines it is not told what is inside: all dots
 * count there, and no closing bracket.
 */
bool too_deep(const char *text, size_t len) {
    const std::string_view view(text, len);
    const bool plain = view.find("\"\"\"") == view.npos && view.find("'''") == view.npos;
    int depth = 0, dots = 0;
    char within = 0; /* the quote of a string, or # */
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\n') {
            within = 0;
            dots = 0;
        } else if (within) {
            if (c == within && c != '#')
                within = 0;
            else if (c == '\\' && within == '"' && i + 1 < len && text[i + 1] != '\n')
                i++;
        } else if (plain && (c == '"' || c == '\'' || c == '#')) {
            within = c;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if ((c == ']' || c == '}') && depth > 0 && plain) {
            depth--;
        } else if (c == '.') {
            dots++;
        }
        if (depth > 64 || dots > 64) return true;
    }
    return false;
}

/* The line of the first byte that is no UTF-8, or 0. toml11 3.7 reads past the end of a string that has such a byte. */
size_t line_not_utf8(const std::string &text) {
    const auto *at = reinterpret_cast<const unsigned char *>(text.c_str());
    const auto *end = at + text.size();
    for (size_t line = 1; at < end;) {
        size_t n = cz_utf8_length(at);
        if (n == 0) return line;
        line += *at == '\n';
        at += n;
    }
    return 0;
}

unsigned line_of(const toml::value &v, unsigned fallback) {
    auto line = v.location().line();
    return line > 0 ? static_cast<unsigned>(line) : fallback;
}

/* What toml11 says first, without its banner and function name. */
std::string reason(const char *what) {
    std::string s(what ? what : "");
    s = s.substr(0, s.find('\n'));
    auto banner = s.find("[error] ");
    if (banner != std::string::npos) s = s.substr(banner + 8);
    auto colon = s.find(": ");
    if (s.compare(0, 6, "toml::") == 0 && colon != std::string::npos) s = s.substr(colon + 2);
    return s;
}

/* The strings and elements live in `v` and `elems`. */
cz_toml_item item_of(const toml::value &v, std::vector<cz_toml_item> &elems) {
    cz_toml_item item{};
    item.type = CZ_TOML_OTHER;
    if (v.is_string()) {
        const std::string &s = v.as_string().str;
        if (std::strlen(s.c_str()) == s.size()) {
            item.type = CZ_TOML_STRING;
            item.string = s.c_str();
        }
    } else if (v.is_integer()) {
        /* toml11 takes a number out of range for the nearest one; nobody means those two. */
        item.integer = v.as_integer();
        if (item.integer != INT64_MAX && item.integer != INT64_MIN) item.type = CZ_TOML_INTEGER;
    } else if (v.is_boolean()) {
        item.type = CZ_TOML_BOOL;
        item.boolean = v.as_boolean();
    } else if (v.is_array()) {
        item.type = CZ_TOML_ARRAY;
        for (const auto &e : v.as_array()) {
            std::vector<cz_toml_item> none;
            cz_toml_item sub = item_of(e, none);
            sub.elem = nullptr;
            elems.push_back(sub);
        }
        item.elem = elems.data();
        item.num_elems = elems.size();
    } else if (v.is_table()) {
        item.type = CZ_TOML_TABLE;
    }
    return item;
}

std::vector<entry> collect(const toml::value &root) {
    std::vector<entry> all;
    for (const auto &top : root.as_table()) {
        unsigned line = line_of(top.second, 1);
        if (!top.second.is_table()) {
            all.push_back({"", top.first, line, top.second});
            continue;
        }
        all.push_back({top.first, "", line, top.second});
        for (const auto &kv : top.second.as_table()) {
            all.push_back({top.first, kv.first, line_of(kv.second, line), kv.second});
        }
    }
    std::sort(all.begin(), all.end(), [](const entry &a, const entry &b) {
        if (a.line != b.line) return a.line < b.line;
        if (a.section != b.section) return a.section < b.section;
        return a.key < b.key;
    });
    return all;
}

} // namespace

extern "C" enum cz_status cz_toml_parse(const char *text, size_t len, cz_toml_fn *fn, void *ctx, struct cz_error *err) {
    if (len > (1u << 20)) return cz_error_set(err, CZ_ERR_LIMIT, "the file is longer than 1 MiB");
    if (too_deep(text, len)) return cz_error_set(err, CZ_ERR_LIMIT, "nested deeper than 64");
    if (const void *nul = std::memchr(text, 0, len)) {
        auto line = std::count(text, static_cast<const char *>(nul), '\n') + 1;
        return cz_error_set(err, CZ_ERR_FORMAT, "line %ld: a NUL byte", static_cast<long>(line));
    }
    try {
        std::string all(text, len);
        if (size_t line = line_not_utf8(all)) return cz_error_set(err, CZ_ERR_FORMAT, "line %zu: not UTF-8", line);
        std::istringstream in(all);
        toml::value root = toml::parse(in, "config");
        for (const entry &e : collect(root)) {
            std::vector<cz_toml_item> elems;
            cz_toml_item item = item_of(e.value, elems);
            item.section = e.section.c_str();
            item.key = e.key.c_str();
            item.line = e.line;
            enum cz_status st = fn(ctx, &item, err);
            if (st != CZ_OK) return st;
        }
        return CZ_OK;
    } catch (const toml::exception &e) {
        return cz_error_set(err, CZ_ERR_FORMAT, "line %u: %s", static_cast<unsigned>(e.location().line()),
                            reason(e.what()).c_str());
    } catch (const std::bad_alloc &) {
        return cz_error_set(err, CZ_ERR_MEMORY, "reading the configuration");
    } catch (const std::exception &e) { return cz_error_set(err, CZ_ERR_FORMAT, "%s", reason(e.what()).c_str()); }
}
