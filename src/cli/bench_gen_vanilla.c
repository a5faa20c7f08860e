/* cuzk-bench gen-vanilla: valid inputs of any size from a seed, without a sector (filecoin/synth). Needs no daemon. */

#include "cli/bench.h"

#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include "filecoin/synth/porep.h"
#include "filecoin/synth/post.h"
#include "filecoin/synth/snap.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

struct gen_args {
    const char *kind, *sector, *version, *out;
    uint64_t seed, miner;
    uint32_t sectors, partition;
    struct cz_pool *pool;
};

/* DIR/vanilla-0.bin … and DIR/expected.json. */
static enum cz_status write_folder(const char *dir, const struct cz_bytes *blob, uint32_t n, const char *json,
                                   struct cz_error *err) {
    char path[4096];
    if (strlen(dir) > sizeof path - 64) return cz_error_set(err, CZ_ERR_ARGUMENT, "--out: the path is too long");
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) return cz_error_set(err, CZ_ERR_IO, "%s: %m", dir);
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/vanilla-%" PRIu32 ".bin", dir, i);
        enum cz_status status = cz_file_write(path, blob[i].data, blob[i].len, err);
        if (status != CZ_OK) return status;
    }
    (void)snprintf(path, sizeof path, "%s/expected.json", dir);
    return cz_file_write(path, json, strlen(json), err);
}

/* The registered proof's number is 5·group + the size's place, and so is that of the smallest size plus it. */
static enum cz_status size_place(uint32_t *out, const struct gen_args *a, struct cz_error *err) {
    const struct cz_sector_info *sector = cz_sector_by_name(a->sector);
    for (uint32_t i = 0; sector && i < CZ_REGISTERED_UPDATE_COUNT; i++) {
        if (cz_registered_update_sector((enum cz_registered_update)i)->size != sector->size) continue;
        *out = i;
        return CZ_OK;
    }
    return cz_error_set(err, CZ_ERR_ARGUMENT, "--sector %.40s: 2KiB, 8MiB, 512MiB, 32GiB or 64GiB", a->sector);
}

static enum cz_status seal_proof(enum cz_registered_seal *out, const struct gen_args *a, struct cz_error *err) {
    const char *version = a->version ? a->version : "V1_1";
    const struct cz_sector_info *sector = cz_sector_by_name(a->sector);
    char name[80];
    uint32_t place = 0;
    enum cz_status status = size_place(&place, a, err);
    if (status != CZ_OK) return status;
    if (strcmp(version, "synthetic") == 0) version = "V1_1_Feat_SyntheticPoRep";
    if (strcmp(version, "non-interactive") == 0) version = "V1_2_Feat_NonInteractivePoRep";
    int n = snprintf(name, sizeof name, "StackedDrg%s%s", sector->name, version);
    if (n < (int)sizeof name && cz_registered_seal_parse(out, name, (size_t)n) == CZ_OK) return CZ_OK;
    return cz_error_set(err, CZ_ERR_ARGUMENT, "--version %.40s: porep has V1 and V1_1", version);
}

/* One file: what C2 takes. */
static enum cz_status gen_porep(const struct gen_args *a, struct cz_error *err) {
    struct cz_synth_porep_request q = {.seed = a->seed, .miner = a->miner};
    struct cz_c1 *c1 = NULL;
    char comm_r[65];
    if (a->sectors != 1) return cz_error_set(err, CZ_ERR_ARGUMENT, "--sectors: a PoRep is of one sector");
    if (a->partition) return cz_error_set(err, CZ_ERR_ARGUMENT, "--partition: a PoRep has all of its partitions");
    enum cz_status status = seal_proof(&q.proof, a, err);
    if (status == CZ_OK) status = cz_synth_porep_make(&c1, &q, a->pool, err);
    if (status == CZ_OK) status = cz_synth_porep_write(a->out, c1, err);
    if (status == CZ_OK) {
        cz_hex_encode(comm_r, c1->comm_r, 32);
        (void)printf("%s: sector %" PRIu64 " of miner %" PRIu64 ", comm_r %s\n", cz_registered_seal_name(c1->proof),
                     c1->sector_number, a->miner, comm_r);
    }
    cz_c1_destroy(c1);
    return status;
}

static enum cz_status gen_post(const struct gen_args *a, unsigned group, struct cz_error *err) {
    struct cz_synth_post_request q = {
        .seed = a->seed, .miner = a->miner, .num_sectors = a->sectors, .first_partition = a->partition};
    struct cz_synth_post post = {0};
    char json[1024];
    uint32_t place = 0;
    enum cz_status status = size_place(&place, a, err);
    q.proof = (enum cz_registered_post)(5 * group + place);
    if (status == CZ_OK) status = cz_synth_post_make(&post, &q, a->pool, err);
    if (status != CZ_OK) return status;
    cz_synth_post_json(json, &post);
    status = write_folder(a->out, post.vanilla, post.num_sectors, json, err);
    cz_synth_post_done(&post);
    return status;
}

static enum cz_status gen_winning(const struct gen_args *a, struct cz_error *err) {
    if (a->version) return cz_error_set(err, CZ_ERR_ARGUMENT, "--version: winning PoSt has one");
    return gen_post(a, 0, err);
}

/* The chain calls the newer one V1_1, the proofs library V1_2. */
static enum cz_status gen_window(const struct gen_args *a, struct cz_error *err) {
    if (!a->version || strcmp(a->version, "V1_2") == 0 || strcmp(a->version, "V1_1") == 0) return gen_post(a, 2, err);
    if (strcmp(a->version, "V1") == 0) return gen_post(a, 1, err);
    return cz_error_set(err, CZ_ERR_ARGUMENT, "--version %.40s: window PoSt has V1 and V1_2", a->version);
}

static enum cz_status gen_snap(const struct gen_args *a, struct cz_error *err) {
    struct cz_synth_snap_request q = {.seed = a->seed};
    struct cz_synth_snap snap = {0};
    char json[1024];
    uint32_t place = 0;
    if (a->version) return cz_error_set(err, CZ_ERR_ARGUMENT, "--version: snap has one");
    if (a->sectors != 1) return cz_error_set(err, CZ_ERR_ARGUMENT, "--sectors: an update is of one sector");
    enum cz_status status = size_place(&place, a, err);
    q.proof = (enum cz_registered_update)place;
    if (status == CZ_OK) status = cz_synth_snap_make(&snap, &q, a->pool, err);
    if (status != CZ_OK) return status;
    cz_synth_snap_json(json, &snap);
    status = write_folder(a->out, snap.vanilla, snap.num_partitions, json, err);
    cz_synth_snap_done(&snap);
    return status;
}

static const struct {
    const char *name;
    enum cz_status (*make)(const struct gen_args *a, struct cz_error *err);
} KINDS[] = {{"porep", gen_porep}, {"winning", gen_winning}, {"window", gen_window}, {"snap", gen_snap}};
enum { NUM_KINDS = sizeof KINDS / sizeof KINDS[0] };

static const char ABOUT[] =
    "Makes valid inputs of phase 2 from a seed, in seconds and without a sector.\n"
    "KIND porep: PATH is the C1 output, gzipped when its name ends in .gz. The sector's number is printed.\n"
    "Interactive proofs only: synthetic and non-interactive challenges depend on comm_r, hence on a whole sector.\n"
    "KIND winning, window or snap: PATH is a folder, made when it is not there, and gets vanilla-0.bin … (a sector\n"
    "each; snap: a partition each) and expected.json with what a proof needs beside them: the registered proof,\n"
    "randomness and prover_id, or comm_r_old, comm_r_new and comm_d_new.\n"
    "The same seed gives the same bytes.";

static int run(struct cz_bench_common *common, int argc, char **argv) {
    struct gen_args a = {.sector = "2KiB", .miner = 1000, .sectors = 1};
    uint32_t threads = 0;
    const struct cz_options_entry entries[] = {
        {.name = "sector",
         .kind = CZ_OPTIONS_TEXT,
         .target = &a.sector,
         .arg = "SIZE",
         .help = "2KiB (default), 8MiB, 512MiB, 32GiB or 64GiB"},
        {.name = "seed", .kind = CZ_OPTIONS_U64, .target = &a.seed, .arg = "N", .help = "default: 0"},
        {.name = "out",
         .letter = 'o',
         .kind = CZ_OPTIONS_TEXT,
         .target = &a.out,
         .arg = "PATH",
         .help = "porep: the file; other kinds: folder for the files"},
        {.name = "sectors",
         .kind = CZ_OPTIONS_U32,
         .target = &a.sectors,
         .arg = "N",
         .help =
             "window: how many (default: 1; a partition of 32GiB has 2349 at most, of 64GiB 2300, of the others 2)"},
        {.name = "partition",
         .kind = CZ_OPTIONS_U32,
         .target = &a.partition,
         .arg = "N",
         .help = "window V1: the first partition's number in its deadline (default: 0)"},
        {.name = "version",
         .kind = CZ_OPTIONS_TEXT,
         .target = &a.version,
         .arg = "V",
         .help = "porep: V1 or V1_1 (default). Window: V1 or V1_2 (default; the chain's name for it is V1_1)"},
        {.name = "miner-id", .kind = CZ_OPTIONS_U64, .target = &a.miner, .arg = "N", .help = "default: 1000"},
        {.name = "threads",
         .kind = CZ_OPTIONS_U32,
         .target = &threads,
         .arg = "N",
         .max = 1024,
         .help = "default: all cores"},
    };
    const struct cz_options_command command = {
        "cuzk-bench gen-vanilla", "cuzk-bench gen-vanilla KIND --sector SIZE --seed N --out PATH [options]", ABOUT};
    int exit_status;
    (void)common;
    for (int at = 1; at < argc;) {
        if (!cz_options_read(&command, argc, argv, &at, entries, sizeof entries / sizeof entries[0], &exit_status))
            return exit_status;
        if (at == argc) break;
        if (a.kind) return cz_options_usage_error(&command, "unexpected word \"%.80s\"", argv[at]);
        a.kind = argv[at++];
    }
    if (!a.kind) return cz_options_usage_error(&command, "wants a kind: porep, winning, window or snap");
    if (!a.out) return cz_options_usage_error(&command, "--out is missing");
    for (int i = 0; i < NUM_KINDS; i++) {
        if (strcmp(KINDS[i].name, a.kind) != 0) continue;
        struct cz_error err = {0};
        uint64_t start = cz_time_now_ns();
        enum cz_status status = cz_pool_create(&a.pool, threads);
        if (status == CZ_OK) status = KINDS[i].make(&a, &err);
        cz_pool_destroy(a.pool);
        if (status == CZ_ERR_ARGUMENT || status == CZ_ERR_LIMIT || status == CZ_ERR_UNSUPPORTED)
            return cz_options_usage_error(&command, "%s", err.detail);
        if (status != CZ_OK) return cz_bench_fail(&command, status, &err);
        (void)printf("%s in %.2f s\n", a.out, cz_time_since(start));
        return CZ_OPTIONS_DONE;
    }
    return cz_options_usage_error(&command, "unknown kind \"%.40s\": porep, winning, window or snap", a.kind);
}

const struct cz_bench_command CZ_BENCH_GEN_VANILLA = {"gen-vanilla", "make valid inputs without a sector", run};
