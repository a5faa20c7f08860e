/*
 * Parsing of C1 outputs: bench_c1 FILE.json.gz [runs]. The same output bare, gzipped and in the client's envelope, one
 * thread; CPU seconds, as the machine may be busy with something else.
 */

#include "base/bytes.h"
#include "base/file.h"
#include "filecoin/c1.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

struct text {
    uint8_t *data;
    size_t len;
};

static double cpu_seconds(void) {
    struct timespec ts;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static long peak_kib(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static bool gunzip(struct text *out, const char *path) {
    gzFile f = gzopen(path, "rb");
    size_t room = (size_t)128 << 20;
    if (!f) return false;
    *out = (struct text){.data = malloc(room)};
    int got = 1;
    while (out->data && got > 0 && out->len < room) {
        got = gzread(f, out->data + out->len, (unsigned)(room - out->len));
        if (got > 0) out->len += (size_t)got;
    }
    (void)gzclose(f);
    return out->data && got == 0;
}

static bool envelope(struct text *out, const struct text *c1, uint64_t sector_size) {
    const size_t room = (c1->len + 2) / 3 * 4 + 200;
    *out = (struct text){.data = malloc(room)};
    if (!out->data) return false;
    out->len = (size_t)snprintf((char *)out->data, room, "{\"SectorNum\":1,\"Phase1Out\":\"");
    out->len += (size_t)EVP_EncodeBlock(out->data + out->len, c1->data, (int)c1->len);
    out->len += (size_t)snprintf((char *)out->data + out->len, room - out->len, "\",\"SectorSize\":%llu}",
                                 (unsigned long long)sector_size);
    return true;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the median; false when the text is refused. */
static bool measure(const char *name, const struct text *t, unsigned runs, uint64_t *sector_size) {
    double seconds[64];
    const long before = peak_kib();
    for (unsigned i = 0; i < runs; i++) {
        struct cz_c1 *c1 = NULL;
        struct cz_error err = {0};
        const double start = cpu_seconds();
        if (cz_c1_parse(&c1, t->data, t->len, &err) != CZ_OK) {
            (void)fprintf(stderr, "bench_c1: %s: %s\n", name, err.detail);
            return false;
        }
        seconds[i] = cpu_seconds() - start;
        *sector_size = c1->sector_size;
        cz_c1_destroy(c1);
    }
    qsort(seconds, runs, sizeof *seconds, by_value);
    const double s = seconds[runs / 2];
    (void)printf("%-9s %7.1f MB  %6.3f s  %5.0f MB/s  %6.3f s for 50 MB  peak + %.1f MiB\n", name, (double)t->len / 1e6,
                 s, (double)t->len / 1e6 / s, s * 50e6 / (double)t->len, (double)(peak_kib() - before) / 1024);
    return true;
}

int main(int argc, char **argv) {
    const unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    struct text bare, wrapped;
    struct cz_map map = {0};
    struct cz_error err = {0};
    uint64_t size = 0;
    if (argc < 2 || runs < 1 || runs > 64) {
        (void)fprintf(stderr, "usage: bench_c1 FILE.json.gz [runs, 1 to 64]\n");
        return 2;
    }
    if (!gunzip(&bare, argv[1]) || cz_map_open(&map, argv[1], &err) != CZ_OK) {
        (void)fprintf(stderr, "bench_c1: %s cannot be read\n", argv[1]);
        return 1;
    }
    const struct text packed = {(uint8_t *)map.data, map.size};
    bool ok = measure("bare", &bare, runs, &size) && measure("gzip", &packed, runs, &size) &&
              envelope(&wrapped, &bare, size) && measure("envelope", &wrapped, runs, &size);
    cz_map_close(&map);
    return ok ? 0 : 1;
}
