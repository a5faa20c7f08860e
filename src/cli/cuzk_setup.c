/* cuzk setup: parameters and verifying key of a circuit, from the system's randomness or from given toxic waste. */

#include "cli/command.h"
#include "cli/toxic_waste.h"

#include "base/bytes.h"
#include "base/time.h"
#include "compute/gpu.h"
#include "filecoin/input.h"
#include "groth16/setup.h"

#include <errno.h>
#include <sys/stat.h>

struct setup_args {
    const char *circuit, *sector, *out, *waste, *device;
    bool vk_only, no_hash, stats;
};

/* Two tables of up to 0.65 and 1.3 GB, and a batch of 2^20 points. */
#define GPU_RESIDENTS ((size_t)2304 << 20)
#define GPU_MEMORY ((size_t)4 << 30)

static void print_stats(const struct cz_setup_result *r, double circuit) {
    printf("  circuit %.2f s, scalars %.2f s, points %.2f s (device %.2f s, waiting %.2f s; beside it SHA-256 %.2f s, "
           "writing %.2f s), sync %.2f s; %llu points compared with the host's\n",
           circuit, r->seconds_qap, r->seconds_points, r->seconds_device, r->seconds_wait, r->seconds_hash,
           r->seconds_write, r->seconds_sync, (unsigned long long)r->samples);
}

static void print_result(const struct cz_common *common, const struct setup_args *args, const char *params,
                         const char *vk, const struct cz_setup_result *r, double circuit) {
    char params_sha[65], vk_sha[65];
    cz_hex_encode(params_sha, r->params_sha256, 32);
    cz_hex_encode(vk_sha, r->vk_sha256, 32);
    if (common->json) {
        printf("{");
        if (!args->vk_only) {
            printf("\"params\":");
            cz_print_json_text(stdout, params);
            if (args->no_hash)
                printf(",");
            else
                printf(",\"params_sha256\":\"%s\",", params_sha);
        }
        printf("\"vk\":");
        cz_print_json_text(stdout, vk);
        printf(",\"vk_sha256\":\"%s\"", vk_sha);
        if (args->stats)
            printf(",\"params_bytes\":%llu,\"seconds\":{\"circuit\":%.3f,\"scalars\":%.3f,\"points\":%.3f,"
                   "\"device\":%.3f,\"wait\":%.3f,\"hash\":%.3f,\"write\":%.3f,\"sync\":%.3f,\"total\":%.3f}",
                   (unsigned long long)r->params_bytes, circuit, r->seconds_qap, r->seconds_points, r->seconds_device,
                   r->seconds_wait, r->seconds_hash, r->seconds_write, r->seconds_sync, r->seconds_total);
        printf("}\n");
        return;
    }
    if (!args->vk_only)
        printf("%s\n  %llu bytes%s%s\n", params, (unsigned long long)r->params_bytes, args->no_hash ? "" : ", sha256 ",
               args->no_hash ? "" : params_sha);
    printf("%s\n  sha256 %s\n", vk, vk_sha);
    if (args->stats) print_stats(r, circuit);
    printf("%.1f s\n", r->seconds_total);
}

/* "cpu", or "cuda:N". */
static enum cz_status open_device(struct cz_device **dev, const char *name, struct cz_pool *pool,
                                  struct cz_error *err) {
    if (!name || strcmp(name, "cpu") == 0) return cz_device_create_cpu(dev, pool);
    const char *n = name + 5;
    if (strncmp(name, "cuda:", 5) != 0 || n[0] < '0' || n[0] > '9' || n[1])
        return cz_error_set(err, CZ_ERR_ARGUMENT, "--device %.40s: not cpu or cuda:0 to cuda:9", name);
    const struct cz_gpu_options o = {
        .ordinal = n[0] - '0', .workers = 1, .vram_limit = GPU_MEMORY, .residents = GPU_RESIDENTS};
    return cz_gpu_create(dev, &o, pool, err);
}

static enum cz_status setup(const struct setup_args *args, const struct cz_common *common, enum cz_circuit_kind kind,
                            const struct cz_sector_info *sector, struct cz_error *err) {
    struct cz_pool *pool = NULL;
    struct cz_device *dev = NULL;
    struct cz_r1cs *r1cs = NULL;
    struct cz_toxic_waste waste;
    struct cz_setup_result result;
    struct cz_progress progress;
    char params[4096], vk[4096];
    uint64_t start = 0;
    double circuit = 0;
    enum cz_status status = args->waste ? cz_toxic_waste_read(&waste, args->waste, err) : cz_toxic_waste_random(&waste);
    if (status != CZ_OK) goto out;
    if (mkdir(args->out, 0755) != 0 && errno != EEXIST) {
        status = cz_error_set(err, CZ_ERR_IO, "%s: %s", args->out, strerror(errno));
        goto out;
    }
    status = cz_command_params_path(params, sizeof params, args->out, kind, sector, "params", err);
    if (status == CZ_OK) status = cz_command_params_path(vk, sizeof vk, args->out, kind, sector, "vk", err);
    if (status == CZ_OK) status = cz_pool_create(&pool, common->threads);
    if (status == CZ_OK) status = open_device(&dev, args->device, pool, err);
    start = cz_time_now_ns();
    if (status == CZ_OK) status = cz_input_circuit_build(&r1cs, kind, sector, err);
    circuit = cz_time_since(start);
    if (status != CZ_OK) goto out;
    cz_progress_start(&progress, "setup");
    status = args->vk_only ? cz_setup_write_vk(&result, vk, r1cs, &waste, dev, pool, err)
                           : cz_setup_write(&result, params, vk, !args->no_hash, r1cs, &waste, dev, pool,
                                            cz_progress_update, &progress, err);
    cz_progress_end(&progress);
    if (status == CZ_OK) print_result(common, args, params, vk, &result, circuit);
out:
    cz_toxic_waste_wipe(&waste);
    cz_r1cs_destroy(r1cs);
    cz_device_destroy(dev);
    cz_pool_destroy(pool);
    return status;
}

static int run(int argc, char **argv) {
    struct setup_args args = {0};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"circuit", CZ_OPTIONS_TEXT, &args.circuit, "KIND", "porep, winning, window, update or update-poseidon", true},
        {"sector", CZ_OPTIONS_TEXT, &args.sector, "SIZE", "2KiB … 64GiB, any case", true},
        {"out", CZ_OPTIONS_TEXT, &args.out, "DIR", "folder for the .params and .vk files (made if absent)", true},
        {"device", CZ_OPTIONS_TEXT, &args.device, "NAME", "cpu (the default) or cuda:0, cuda:1, ...", false},
        {"vk-only", CZ_OPTIONS_FLAG, &args.vk_only, NULL, "the .vk file alone: a fraction of the time and memory",
         false},
        {"no-hash", CZ_OPTIONS_FLAG, &args.no_hash, NULL,
         "no SHA-256 of the .params file, which takes longest on a GPU", false},
        {"stats", CZ_OPTIONS_FLAG, &args.stats, NULL, "seconds of each part", false},
        {"toxic-waste", CZ_OPTIONS_TEXT, &args.waste, "FILE",
         "JSON with the secrets, for tests; default: the system's randomness, wiped", false},
    };
    int exit_status;
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    if (!cz_command_parse(&CZ_COMMAND_SETUP, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0, NULL,
                          &exit_status))
        return exit_status;
    if (args.vk_only && !args.waste)
        return cz_command_usage_error(&CZ_COMMAND_SETUP,
                                      "--vk-only without --toxic-waste: a key that no parameters fit");
    if (!cz_command_circuit(&CZ_COMMAND_SETUP, args.circuit, args.sector, &kind, &sector, &exit_status))
        return exit_status;
    struct cz_error err = {0};
    enum cz_status status = setup(&args, &common, kind, sector, &err);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_SETUP, status, &err);
}

const struct cz_command CZ_COMMAND_SETUP = {
    .name = "setup",
    .usage = "setup --circuit KIND --sector SIZE --out DIR [--toxic-waste FILE]\n"
             "                 [--device NAME] [--vk-only] [--no-hash] [--stats]",
    .about =
        "Makes Groth16 parameters and their verifying key. For tests: whoever ran the setup could keep the secrets.",
    .run = run,
};
