#include "daemon/config.h"

#include "base/bytes.h"
#include "base/file.h"
#include "daemon/toml.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

enum type {
    T_STRING,
    T_STRINGS,
    T_ADDRESSES,
    T_SIZE,
    T_BUDGET,
    T_DURATION,
    T_COUNT,
    T_BOOL,
    T_COUNTS,
    T_LEVEL,
    T_FORMAT
};

#define NONE ((size_t)-1)
#define AT(field) offsetof(struct cz_config, field)

/* Every key. Those with a note are read and checked, but nothing follows from them. */
static const struct key {
    const char *section, *key;
    enum type type;
    size_t at;
    uint32_t min, max;
    const char *note;
} KEYS[] = {
    {"daemon", "listen", T_ADDRESSES, AT(listen), 0, 0, NULL},
    {"daemon", "status_listen", T_STRING, AT(status_listen), 0, 0, "the HTTP status page comes later"},
    {"memory", "total_budget", T_BUDGET, AT(total_budget), 0, 0, NULL},
    {"memory", "safety_margin", T_SIZE, AT(safety_margin), 0, 0, NULL},
    {"memory", "eviction_min_idle", T_DURATION, AT(eviction_min_idle_ms), 0, 0, NULL},
    {"memory", "pinned_budget", T_BUDGET, NONE, 0, 0, "deprecated, memory.total_budget covers it"},
    {"memory", "working_memory_budget", T_BUDGET, NONE, 0, 0, "deprecated, memory.total_budget covers it"},
    {"srs", "param_cache", T_STRING, AT(param_cache), 1, 0, NULL},
    {"srs", "preload", T_STRINGS, AT(preload), 0, 0, NULL},
    {"gpus", "enabled", T_BOOL, AT(gpus), 0, 0, NULL},
    {"gpus", "devices", T_COUNTS, AT(gpu_device), 0, 1023, NULL},
    {"gpus", "gpu_threads", T_COUNT, NONE, 0, 4096, "a GPU needs no threads of the host"},
    {"gpus", "gpu_workers_per_device", T_COUNT, AT(gpu_workers), 0, 1024, NULL},
    {"scheduler", "max_batch_size", T_COUNT, NONE, 0, 4096, "requests are not batched"},
    {"scheduler", "max_batch_wait_ms", T_COUNT, NONE, 0, 3600000, "requests are not batched"},
    {"scheduler", "sort_by_type", T_BOOL, NONE, 0, 0, "jobs go by priority, then by arrival"},
    {"scheduler", "max_jobs", T_COUNT, AT(max_jobs), 1, 100000, NULL},
    {"synthesis", "threads", T_COUNT, AT(threads), 0, 1024, NULL},
    {"synthesis", "partition_workers", T_COUNT, NONE, 0, 1024, "deprecated, the memory budget decides"},
    {"pipeline", "enabled", T_BOOL, NONE, 0, 0, "partitions always go through the pipeline"},
    {"pipeline", "synthesis_lookahead", T_COUNT, AT(lookahead), 0, 1024, NULL},
    {"pipeline", "synthesis_concurrency", T_COUNT, AT(assign_workers), 0, 1024, NULL},
    {"pipeline", "max_parallel_synthesis", T_COUNT, NONE, 0, 1024, "the memory budget decides"},
    {"pipeline", "slot_size", T_COUNT, NONE, 0, 1024, "a slot is one partition"},
    {"pipeline", "max_gpu_queue_depth", T_COUNT, AT(max_gpu_queue_depth), 0, 1024, NULL},
    {"logging", "level", T_LEVEL, AT(log_level), 0, 0, NULL},
    {"logging", "format", T_FORMAT, AT(log_json), 0, 0, NULL},
};
#define NUM_KEYS (sizeof KEYS / sizeof *KEYS)

/* ---- lists, defaults ---- */

enum cz_status cz_config_list_add(struct cz_config_list *list, const char *text) {
    if (list->count == CZ_CONFIG_MAX_LIST) return CZ_ERR_LIMIT;
    char *copy = strdup(text);
    if (!copy) return CZ_ERR_MEMORY;
    list->item[list->count++] = copy;
    return CZ_OK;
}

void cz_config_list_clear(struct cz_config_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->item[i]);
    memset(list, 0, sizeof *list);
}

enum cz_status cz_config_init(struct cz_config *c) {
    memset(c, 0, sizeof *c);
    c->safety_margin = 5ull << 30;
    c->eviction_min_idle_ms = 5 * 60 * 1000;
    c->lookahead = 1;
    c->assign_workers = 1;
    c->gpus = true;
    c->gpu_workers = 2;
    c->max_jobs = 1000;
    c->log_level = CZ_LOG_INFO;
    const char *params = getenv("FIL_PROOFS_PARAMETER_CACHE");
    c->param_cache = strdup(params && *params ? params : CZ_CONFIG_DEFAULT_PARAMS);
    c->status_listen = strdup("");
    if (c->param_cache && c->status_listen) return CZ_OK;
    cz_config_done(c);
    return CZ_ERR_MEMORY;
}

void cz_config_done(struct cz_config *c) {
    cz_config_list_clear(&c->listen);
    cz_config_list_clear(&c->preload);
    free(c->status_listen);
    free(c->param_cache);
    memset(c, 0, sizeof *c);
}

/* ---- sizes and durations ---- */

/* Decimal digits at *text into *value; moves *text behind them. */
static enum cz_status digits(const char **text, uint64_t *value) {
    const char *p = *text;
    if (!isdigit((unsigned char)*p)) return CZ_ERR_FORMAT;
    uint64_t v = 0;
    for (; isdigit((unsigned char)*p); p++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v)) {
            return CZ_ERR_LIMIT;
        }
    }
    *text = p;
    *value = v;
    return CZ_OK;
}

enum cz_status cz_config_parse_size(uint64_t *bytes, const char *text) {
    static const struct {
        const char *name;
        uint64_t scale;
    } UNIT[] = {{"", 1},
                {"b", 1},
                {"kb", 1000},
                {"mb", 1000000},
                {"gb", 1000000000},
                {"tb", 1000000000000},
                {"k", 1ull << 10},
                {"m", 1ull << 20},
                {"g", 1ull << 30},
                {"t", 1ull << 40},
                {"kib", 1ull << 10},
                {"mib", 1ull << 20},
                {"gib", 1ull << 30},
                {"tib", 1ull << 40}};
    uint64_t v;
    enum cz_status st = digits(&text, &v);
    if (st != CZ_OK) return st;
    while (*text == ' ') text++;
    for (size_t i = 0; i < sizeof UNIT / sizeof *UNIT; i++) {
        if (strcasecmp(text, UNIT[i].name) != 0) continue;
        if (__builtin_mul_overflow(v, UNIT[i].scale, &v)) return CZ_ERR_LIMIT;
        *bytes = v;
        return CZ_OK;
    }
    return CZ_ERR_FORMAT;
}

enum cz_status cz_config_parse_duration(uint64_t *ms, const char *text) {
    static const struct {
        const char *name;
        uint64_t scale;
    } UNIT[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    uint64_t sum = 0;
    bool with_unit = false;
    if (!*text) return CZ_ERR_FORMAT;
    while (*text) {
        uint64_t v;
        enum cz_status st = digits(&text, &v);
        if (st != CZ_OK) return st;
        if (!*text && !with_unit) { /* the original's files may leave the unit out */
            if (__builtin_mul_overflow(v, 1000, &sum)) return CZ_ERR_LIMIT;
            break;
        }
        with_unit = true;
        size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz"), i = 0;
        while (i < 5 && (strlen(UNIT[i].name) != n || memcmp(UNIT[i].name, text, n) != 0)) i++;
        if (i == 5) return CZ_ERR_FORMAT;
        if (__builtin_mul_overflow(v, UNIT[i].scale, &v) || __builtin_add_overflow(sum, v, &sum)) return CZ_ERR_LIMIT;
        text += n;
        while (*text == ' ') text++;
    }
    *ms = sum;
    return CZ_OK;
}

static uint64_t mem_total(void) {
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f) return 0;
    char line[128];
    uint64_t kib = 0;
    while (fgets(line, sizeof line, f)) {
        static const char NAME[] = "MemTotal:";
        if (strncmp(line, NAME, sizeof NAME - 1) != 0) continue;
        kib = strtoull(line + sizeof NAME - 1, NULL, 10);
        break;
    }
    (void)fclose(f);
    return kib << 10;
}

enum cz_status cz_config_budget(const struct cz_config *c, uint64_t *bytes, struct cz_error *err) {
    if (c->total_budget) {
        *bytes = c->total_budget;
        return CZ_OK;
    }
    uint64_t total = mem_total();
    if (total <= c->safety_margin) {
        return cz_error_set(err, CZ_ERR_BUDGET,
                            "memory.total_budget is \"auto\": MemTotal %" PRIu64 " - memory.safety_margin %" PRIu64
                            " bytes leaves nothing; set memory.total_budget",
                            total, c->safety_margin);
    }
    *bytes = total - c->safety_margin;
    return CZ_OK;
}

/* ---- values ---- */

static enum cz_status bad(const struct cz_toml_item *v, enum cz_status st, struct cz_error *err, const char *want) {
    return cz_error_set(err, st, "line %u: %s.%s must be %s", v->line, v->section, v->key, want);
}

static enum cz_status set_string(char **at, const struct cz_toml_item *v, bool non_empty, struct cz_error *err) {
    if (v->type != CZ_TOML_STRING) return bad(v, CZ_ERR_FORMAT, err, "a string");
    if (non_empty && !*v->string) return bad(v, CZ_ERR_FORMAT, err, "a string that is not empty");
    char *copy = strdup(v->string);
    if (!copy) return cz_error_set(err, CZ_ERR_MEMORY, "configuration");
    free(*at);
    *at = copy;
    return CZ_OK;
}

static enum cz_status set_strings(struct cz_config_list *at, const struct cz_toml_item *v, struct cz_error *err) {
    if (v->type != CZ_TOML_ARRAY) return bad(v, CZ_ERR_FORMAT, err, "a list of strings");
    cz_config_list_clear(at);
    for (size_t i = 0; i < v->num_elems; i++) {
        if (v->elem[i].type != CZ_TOML_STRING || !*v->elem[i].string) {
            return bad(v, CZ_ERR_FORMAT, err, "a list of strings that are not empty");
        }
        enum cz_status st = cz_config_list_add(at, v->elem[i].string);
        if (st == CZ_ERR_LIMIT) return bad(v, st, err, "a list of at most 32");
        if (st != CZ_OK) return cz_error_set(err, st, "configuration");
    }
    return CZ_OK;
}

/* One address as a string, or several as a list. */
static enum cz_status set_addresses(struct cz_config_list *at, const struct cz_toml_item *v, struct cz_error *err) {
    if (v->type == CZ_TOML_ARRAY && v->num_elems > 0) return set_strings(at, v, err);
    if (v->type != CZ_TOML_STRING || !*v->string) {
        return bad(v, CZ_ERR_FORMAT, err, "an address (\"host:port\" or \"unix:///path\") or a list of them");
    }
    cz_config_list_clear(at);
    enum cz_status st = cz_config_list_add(at, v->string);
    return st == CZ_OK ? st : cz_error_set(err, st, "configuration");
}

static enum cz_status set_size(uint64_t *at, const struct cz_toml_item *v, bool with_auto, struct cz_error *err) {
    const char *want =
        with_auto ? "\"auto\", a size as \"256GiB\", or a number of bytes" : "a size as \"5GiB\", or a number of bytes";
    uint64_t bytes = 0;
    if (v->type == CZ_TOML_INTEGER && v->integer >= 0) {
        bytes = (uint64_t)v->integer;
    } else if (v->type != CZ_TOML_STRING) {
        return bad(v, CZ_ERR_FORMAT, err, want);
    } else if (!with_auto || strcasecmp(v->string, "auto") != 0) {
        enum cz_status st = cz_config_parse_size(&bytes, v->string);
        if (st == CZ_ERR_LIMIT) return bad(v, st, err, "a size below 16 EiB");
        if (st != CZ_OK) return bad(v, st, err, want);
    } else {
        *at = 0;
        return CZ_OK;
    }
    if (with_auto && bytes == 0) {
        return bad(v, CZ_ERR_LIMIT, err, "more than 0 (\"auto\" takes what the machine has)");
    }
    *at = bytes;
    return CZ_OK;
}

static enum cz_status set_duration(uint64_t *at, const struct cz_toml_item *v, struct cz_error *err) {
    enum cz_status st = CZ_ERR_FORMAT;
    uint64_t ms = 0;
    if (v->type == CZ_TOML_STRING) st = cz_config_parse_duration(&ms, v->string);
    if (st == CZ_OK && ms > 365ull * 86400000) st = CZ_ERR_LIMIT;
    if (st == CZ_ERR_LIMIT) return bad(v, st, err, "at most a year");
    if (st != CZ_OK) return bad(v, st, err, "a duration as \"5m\" or \"90s\"");
    *at = ms;
    return CZ_OK;
}

static enum cz_status check_count(const struct cz_toml_item *v, const struct cz_toml_item *value, const struct key *key,
                                  struct cz_error *err) {
    if (value->type != CZ_TOML_INTEGER) {
        return bad(v, CZ_ERR_FORMAT, err, key->type == T_COUNTS ? "a list of whole numbers" : "a whole number");
    }
    if (value->integer < (int64_t)key->min || value->integer > (int64_t)key->max) {
        return cz_error_set(err, CZ_ERR_LIMIT, "line %u: %s.%s is %" PRId64 ", and must be %u to %u", v->line,
                            v->section, v->key, value->integer, key->min, key->max);
    }
    return CZ_OK;
}

/* Ordinals of devices: each at most once. */
static enum cz_status set_devices(struct cz_config *c, const struct cz_toml_item *v, const struct key *key,
                                  struct cz_error *err) {
    if (v->type != CZ_TOML_ARRAY) return bad(v, CZ_ERR_FORMAT, err, "a list of whole numbers");
    if (v->num_elems > CZ_CONFIG_MAX_LIST) return bad(v, CZ_ERR_LIMIT, err, "a list of at most 32");
    c->num_gpu_devices = 0;
    for (size_t i = 0; i < v->num_elems; i++) {
        enum cz_status st = check_count(v, &v->elem[i], key, err);
        if (st != CZ_OK) return st;
        const uint32_t ordinal = (uint32_t)v->elem[i].integer;
        for (size_t k = 0; k < i; k++) {
            if (c->gpu_device[k] == ordinal) return bad(v, CZ_ERR_FORMAT, err, "a list without a number twice");
        }
        c->gpu_device[c->num_gpu_devices++] = ordinal;
    }
    return CZ_OK;
}

static enum cz_status set_bool(bool *at, const struct cz_toml_item *v, struct cz_error *err) {
    if (v->type != CZ_TOML_BOOL) return bad(v, CZ_ERR_FORMAT, err, "true or false");
    *at = v->boolean;
    return CZ_OK;
}

static enum cz_status set_level(enum cz_log_level *at, const struct cz_toml_item *v, struct cz_error *err) {
    if (v->type != CZ_TOML_STRING || cz_log_level_parse(at, v->string) != CZ_OK) {
        return bad(v, CZ_ERR_FORMAT, err, "\"trace\", \"debug\", \"info\", \"warn\" or \"error\"");
    }
    return CZ_OK;
}

static enum cz_status set_format(bool *json, const struct cz_toml_item *v, struct cz_error *err) {
    if (v->type == CZ_TOML_STRING && (strcmp(v->string, "json") == 0 || strcmp(v->string, "text") == 0)) {
        *json = strcmp(v->string, "json") == 0;
        return CZ_OK;
    }
    return bad(v, CZ_ERR_FORMAT, err, "\"text\" or \"json\"");
}

/* A key without effect: its value is checked as if it had one. */
static enum cz_status check_only(const struct key *key, const struct cz_toml_item *v, struct cz_error *err) {
    uint64_t unused;
    switch (key->type) {
    case T_BUDGET:
        return set_size(&unused, v, true, err);
    case T_COUNT:
        return check_count(v, v, key, err);
    case T_BOOL:
        return v->type == CZ_TOML_BOOL ? CZ_OK : bad(v, CZ_ERR_FORMAT, err, "true or false");
    default:
        return CZ_ERR_INTERNAL;
    }
}

static enum cz_status set(struct cz_config *c, const struct key *key, const struct cz_toml_item *v,
                          struct cz_error *err) {
    if (key->at == NONE) return check_only(key, v, err);
    void *at = (char *)c + key->at;
    enum cz_status st;
    switch (key->type) {
    case T_STRING:
        return set_string(at, v, key->min > 0, err);
    case T_STRINGS:
        return set_strings(at, v, err);
    case T_ADDRESSES:
        return set_addresses(at, v, err);
    case T_SIZE:
        return set_size(at, v, false, err);
    case T_BUDGET:
        return set_size(at, v, true, err);
    case T_DURATION:
        return set_duration(at, v, err);
    case T_COUNT:
        st = check_count(v, v, key, err);
        if (st == CZ_OK) *(uint32_t *)at = (uint32_t)v->integer;
        return st;
    case T_COUNTS:
        return set_devices(c, v, key, err);
    case T_BOOL:
        return set_bool(at, v, err);
    case T_LEVEL:
        return set_level(at, v, err);
    case T_FORMAT:
        return set_format(at, v, err);
    default:
        return CZ_ERR_INTERNAL;
    }
}

/* ---- the file ---- */

struct reader {
    struct cz_config *config;
    cz_config_warn_fn *warn;
    void *warn_ctx;
};

static enum cz_status on_item(void *ctx, const struct cz_toml_item *v, struct cz_error *err) {
    struct reader *r = ctx;
    bool section_known = false;
    const struct key *key = NULL;
    for (size_t i = 0; i < NUM_KEYS && !key; i++) {
        if (strcmp(KEYS[i].section, v->section) != 0) continue;
        section_known = true;
        if (strcmp(KEYS[i].key, v->key) == 0) key = &KEYS[i];
    }
    if (!*v->section) {
        return cz_error_set(err, CZ_ERR_NOT_FOUND, "line %u: unknown key %.80s (outside a section)", v->line, v->key);
    }
    if (!section_known) {
        return cz_error_set(err, CZ_ERR_NOT_FOUND, "line %u: unknown section [%.80s]", v->line, v->section);
    }
    if (!*v->key) return CZ_OK; /* the section itself */
    if (!key) {
        return cz_error_set(err, CZ_ERR_NOT_FOUND, "line %u: unknown key %.80s.%.80s", v->line, v->section, v->key);
    }
    enum cz_status st = set(r->config, key, v, err);
    /* An empty string is how a key says "off". */
    bool off = v->type == CZ_TOML_STRING && !*v->string;
    if (st == CZ_OK && key->note && r->warn && !off) {
        char text[200];
        (void)snprintf(text, sizeof text, "%s.%s (line %u) has no effect: %s", key->section, key->key, v->line,
                       key->note);
        r->warn(r->warn_ctx, text);
    }
    return st;
}

enum cz_status cz_config_parse(struct cz_config *c, const char *text, size_t len, cz_config_warn_fn *warn, void *ctx,
                               struct cz_error *err) {
    struct reader r = {.config = c, .warn = warn, .warn_ctx = ctx};
    return cz_toml_parse(text, len, on_item, &r, err);
}

enum cz_status cz_config_read(struct cz_config *c, const char *path, cz_config_warn_fn *warn, void *ctx,
                              struct cz_error *err) {
    uint8_t *text;
    size_t len;
    struct cz_error inner = {0};
    enum cz_status st = cz_file_read(&text, &len, path, 1u << 20, &inner);
    if (st != CZ_OK) return cz_error_set(err, st, "%s", inner.detail);
    st = cz_config_parse(c, (const char *)text, len, warn, ctx, &inner);
    cz_free(text);
    if (st == CZ_OK) return CZ_OK;
    (void)cz_error_set(err, st, "%s", inner.detail);
    return cz_error_prefix(err, "%s", path);
}
