/* cuzk params: which of the published parameter sets a folder holds, whether they are whole, and what is missing. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/file.h"
#include "filecoin/published.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#define PREFIX_BYTES 16

enum state { STATE_OK, STATE_PRESENT, STATE_MISSING, STATE_LENGTH, STATE_DIGEST, STATE_UNREADABLE };

static const char *const STATE_NAME[] = {
    [STATE_OK] = "ok",
    [STATE_PRESENT] = "present",
    [STATE_MISSING] = "missing",
    [STATE_LENGTH] = "wrong length",
    [STATE_DIGEST] = "wrong digest",
    [STATE_UNREADABLE] = "unreadable",
};

static enum cz_status digest_file(uint8_t out[PREFIX_BYTES], const char *path, struct cz_progress *progress,
                                  struct cz_error *err) {
    struct cz_map map;
    enum cz_status status = cz_map_open(&map, path, err);
    if (status != CZ_OK) return status;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t full[EVP_MAX_MD_SIZE];
    bool good = ctx && EVP_DigestInit_ex(ctx, EVP_blake2b512(), NULL) == 1;
    for (size_t at = 0; good && at < map.size;) {
        size_t n = map.size - at < (64u << 20) ? map.size - at : 64u << 20;
        good = EVP_DigestUpdate(ctx, map.data + at, n) == 1;
        at += n;
        cz_progress_update(progress, (double)at / (double)map.size);
    }
    good = good && EVP_DigestFinal_ex(ctx, full, NULL) == 1;
    EVP_MD_CTX_free(ctx);
    cz_map_close(&map);
    if (!good) return cz_error_set(err, CZ_ERR_INTERNAL, "%s: BLAKE2b failed", path);
    memcpy(out, full, PREFIX_BYTES);
    return CZ_OK;
}

static enum state file_state(const char *path, uint64_t bytes, const uint8_t digest[PREFIX_BYTES], bool verify) {
    struct stat st;
    if (stat(path, &st) != 0) return errno == ENOENT ? STATE_MISSING : STATE_UNREADABLE;
    if (!S_ISREG(st.st_mode)) return STATE_UNREADABLE;
    if ((uint64_t)st.st_size != bytes) return STATE_LENGTH;
    if (!verify) return STATE_PRESENT;
    uint8_t own[PREFIX_BYTES];
    struct cz_progress progress;
    cz_progress_start(&progress, "BLAKE2b");
    enum cz_status status = digest_file(own, path, &progress, NULL);
    cz_progress_end(&progress);
    if (status != CZ_OK) return STATE_UNREADABLE;
    return memcmp(own, digest, PREFIX_BYTES) == 0 ? STATE_OK : STATE_DIGEST;
}

static void print_set(const struct cz_common *common, const struct cz_published *set, const char *stem,
                      const struct cz_sector_info *sector, enum state params, enum state vk) {
    const char *kind = cz_circuit_kind_name(set->kind);
    if (common->json) {
        printf("{\"circuit\":\"%s\",\"sector\":\"%s\",\"name\":\"%s\",\"params_bytes\":%llu,\"params\":\"%s\",\"vk\":"
               "\"%s\"}\n",
               kind, sector->name, stem, (unsigned long long)set->params_bytes, STATE_NAME[params], STATE_NAME[vk]);
    } else {
        printf("%-15s %-7s %15llu  %-13s %-13s %s\n", kind, sector->name, (unsigned long long)set->params_bytes,
               STATE_NAME[params], STATE_NAME[vk], stem);
    }
}

static bool is_wrong(enum state s) {
    return s == STATE_LENGTH || s == STATE_DIGEST || s == STATE_UNREADABLE;
}

static enum cz_status go(const struct cz_common *common, const char *folder, bool verify, bool *wrong,
                         struct cz_error *err) {
    struct stat st;
    if (stat(folder, &st) != 0) return cz_error_set(err, CZ_ERR_NOT_FOUND, "%s: %s", folder, strerror(errno));
    if (!common->json)
        printf("%-15s %-7s %15s  %-13s %-13s %s\n", "circuit", "sector", "bytes", "params", "vk", "name");
    for (uint32_t i = 0; i < CZ_NUM_PUBLISHED; i++) {
        const struct cz_published *set = &CZ_PUBLISHED[i];
        const struct cz_sector_info *sector = cz_sector_by_size(set->sector_size);
        char stem[256], path[4096];
        if (!sector) return cz_error_set(err, CZ_ERR_INTERNAL, "published set %u has no sector", i);
        enum cz_status status = cz_params_stem(stem, sizeof stem, set->kind, sector);
        if (status != CZ_OK) return cz_error_set(err, status, "published set %u has no name", i);
        status = cz_command_params_path(path, sizeof path, folder, set->kind, sector, "params", err);
        if (status != CZ_OK) return status;
        enum state params = file_state(path, set->params_bytes, set->params_digest, verify);
        status = cz_command_params_path(path, sizeof path, folder, set->kind, sector, "vk", err);
        if (status != CZ_OK) return status;
        enum state vk = file_state(path, set->vk_bytes, set->vk_digest, verify);
        print_set(common, set, stem, sector, params, vk);
        *wrong = *wrong || is_wrong(params) || is_wrong(vk);
    }
    return CZ_OK;
}

static int run(int argc, char **argv) {
    struct cz_common common = {0};
    const char *word[2] = {0};
    size_t words = 0;
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_PARAMS, argc, argv, NULL, 0, &common, word, 2, &words, &exit_status))
        return exit_status;
    bool list = words == 2 && strcmp(word[0], "list") == 0, verify = words == 2 && strcmp(word[0], "verify") == 0;
    if (!list && !verify) return cz_command_usage_error(&CZ_COMMAND_PARAMS, "wants \"list DIR\" or \"verify DIR\"");
    struct cz_error err = {0};
    bool wrong = false;
    enum cz_status status = go(&common, word[1], verify, &wrong, &err);
    if (status != CZ_OK) return cz_command_fail(&CZ_COMMAND_PARAMS, status, &err);
    return wrong ? CZ_EXIT_FAILED : CZ_EXIT_DONE;
}

const struct cz_command CZ_COMMAND_PARAMS = {
    .name = "params",
    .usage = "params list|verify DIR",
    .about = "Says which of the 22 published parameter sets a folder holds and what is missing for which proof. list "
             "looks at\n"
             "lengths; verify also computes the BLAKE2b digests. Exit status 1 when a file that is there is not the "
             "published one.",
    .run = run,
};
