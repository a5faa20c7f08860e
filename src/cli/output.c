#include "cli/output.h"

#include "base/bytes.h"
#include "base/time.h"

#include <math.h>
#include <unistd.h>

char *cz_output_clean(const char *text) {
    size_t len = strlen(text), bytes;
    char *out = cz_mul_size(len, 3, &bytes) ? cz_malloc_array(bytes + 1, 1) : NULL;
    if (!out) return NULL;
    char *to = out;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = cz_utf8_length(s);
        if (n)
            memcpy(to, s, n);
        else
            memcpy(to, "\xef\xbf\xbd", 3);
        to += n ? n : 3;
        s += n ? n : 1;
    }
    *to = 0;
    return out;
}

static void put_text(yajl_gen g, const char *text) {
    (void)yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

void cz_output_text(yajl_gen g, const char *key, const char *text) {
    put_text(g, key);
    char *clean = cz_output_clean(text);
    put_text(g, clean ? clean : "");
    cz_free(clean);
}

void cz_output_u64(yajl_gen g, const char *key, uint64_t value) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    put_text(g, key);
    (void)yajl_gen_number(g, digits, (size_t)n);
}

void cz_output_number(yajl_gen g, const char *key, double value) {
    char digits[64];
    put_text(g, key);
    if (!isfinite(value) || fabs(value) > 1e30) {
        (void)yajl_gen_null(g);
        return;
    }
    int n = snprintf(digits, sizeof digits, "%.3f", value);
    (void)yajl_gen_number(g, digits, (size_t)n);
}

void cz_output_bool(yajl_gen g, const char *key, bool value) {
    put_text(g, key);
    (void)yajl_gen_bool(g, value);
}

void cz_output_hex(yajl_gen g, const char *key, const uint8_t *bytes, size_t n) {
    char *hex = n < SIZE_MAX / 2 ? cz_malloc_array(2 * n + 1, 1) : NULL;
    put_text(g, key);
    if (hex) cz_hex_encode(hex, bytes, n);
    put_text(g, hex ? hex : "");
    cz_free(hex);
}

void cz_output_map(yajl_gen g, const char *key) {
    put_text(g, key);
    (void)yajl_gen_map_open(g);
}

void cz_output_array(yajl_gen g, const char *key) {
    put_text(g, key);
    (void)yajl_gen_array_open(g);
}

yajl_gen cz_output_begin(void) {
    yajl_gen g = yajl_gen_alloc(NULL);
    if (g) (void)yajl_gen_map_open(g);
    return g;
}

bool cz_output_end(yajl_gen g) {
    const unsigned char *text = NULL;
    size_t len = 0;
    bool ok = yajl_gen_map_close(g) == yajl_gen_status_ok && yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok &&
              fwrite(text, 1, len, stdout) == len && fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    yajl_gen_free(g);
    return ok;
}

static void *tick(void *arg) {
    struct cz_ticker *t = arg;
    struct timespec at;
    bool shown = false;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 2;
    (void)pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        if (pthread_cond_timedwait(&t->wake, &t->lock, &at) == 0) continue;
        if (t->stop) break;
        char line[160];
        t->fn(t->ctx, line, sizeof line);
        (void)fprintf(stderr, "\r\033[K%s", line);
        shown = true;
        (void)clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 500000000;
        if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_unlock(&t->lock);
    if (shown) (void)fprintf(stderr, "\r\033[K");
    return NULL;
}

void cz_ticker_start(struct cz_ticker *t, cz_ticker_fn *fn, void *ctx) {
    *t = (struct cz_ticker){.fn = fn, .ctx = ctx};
    if (!isatty(STDERR_FILENO)) return;
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    t->running = pthread_create(&t->thread, NULL, tick, t) == 0;
}

void cz_ticker_end(struct cz_ticker *t) {
    if (!t->running) return;
    (void)pthread_mutex_lock(&t->lock);
    t->stop = true;
    (void)pthread_cond_signal(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    (void)pthread_join(t->thread, NULL);
    (void)pthread_cond_destroy(&t->wake);
    (void)pthread_mutex_destroy(&t->lock);
    t->running = false;
}
