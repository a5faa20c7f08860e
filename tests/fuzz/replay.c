/*
 * main for fuzz targets without libFuzzer: runs every file of the folder given, each also cut short at some lengths
 * and with some bits flipped, the same in every run.
 */

#include "base/bytes.h"
#include "base/file.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VARIANTS 64
#define LIMIT ((size_t)64 << 20)

/* In a buffer of its own size, so that the address sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t size, uint64_t flip) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    if (flip && size) copy[(flip >> 3) % size] ^= (uint8_t)(1u << (flip & 7));
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* xorshift64 */
static uint64_t next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void run_file(const char *path) {
    uint8_t *data;
    size_t size;
    struct cz_error err = {0};
    if (cz_file_read(&data, &size, path, LIMIT, &err) != CZ_OK) {
        fprintf(stderr, "%s\n", err.detail);
        exit(1);
    }
    uint64_t seed = 7;
    run(data, size, 0);
    for (int i = 0; i < VARIANTS && size > 0; i++) {
        run(data, next(&seed) % size, 0);
        run(data, size, next(&seed) | 8);
    }
    cz_free(data);
}

int main(int argc, char **argv) {
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    unsigned files = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char path[1024];
        if (e->d_name[0] == '.') continue;
        if (snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name) >= (int)sizeof path) return 1;
        run_file(path);
        files++;
    }
    closedir(dir);
    printf("%u files\n", files);
    return files > 0 ? 0 : 1;
}
