#include "base/log.h"

#include "base/bytes.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <strings.h>

static enum cz_log_level least = CZ_LOG_INFO;
static bool as_json;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *const NAME[] = {"trace", "debug", "info", "warn", "error"};

void cz_log_setup(enum cz_log_level level, bool json) {
    least = level;
    as_json = json;
}

enum cz_status cz_log_level_parse(enum cz_log_level *out, const char *text) {
    for (unsigned i = 0; i < sizeof NAME / sizeof *NAME; i++) {
        if (strcasecmp(text, NAME[i]) == 0) {
            *out = (enum cz_log_level)i;
            return CZ_OK;
        }
    }
    return CZ_ERR_FORMAT;
}

static void escape(char *out, size_t size, const char *text) {
    size_t n = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s && n + 8 < size;) {
        size_t len = cz_utf8_length(s);
        bool plain = len > 1 || (len == 1 && *s >= 0x20 && *s != 0x7f);
        if (as_json && (*s == '"' || *s == '\\')) out[n++] = '\\';
        if (plain) {
            memcpy(out + n, s, len);
            n += len;
            s += len;
        } else {
            n += (size_t)snprintf(out + n, size - n, as_json ? "\\u%04x" : "\\x%02x", *s);
            s++;
        }
    }
    out[n] = 0;
}

void cz_log(enum cz_log_level level, const char *fmt, ...) {
    if (level < least) return;
    char text[2048], line[4096], stamp[40];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    escape(line, sizeof line, text);
    struct timespec now;
    struct tm tm;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(stamp + n, sizeof stamp - n, ".%03ldZ", now.tv_nsec / 1000000);
    pthread_mutex_lock(&mutex);
    if (as_json) {
        (void)fprintf(stderr, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\"%s\"}\n", stamp, NAME[level], line);
    } else {
        (void)fprintf(stderr, "%s %-5s %s\n", stamp, NAME[level], line);
    }
    pthread_mutex_unlock(&mutex);
}
