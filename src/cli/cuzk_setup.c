/* cuzk setup: parameters and verifying key of a circuit, from the system's randomness or from given toxic waste. */

#include "cli/command.h"
#include "cli/toxic_waste.h"

#include "base/bytes.h"
#include "filecoin/input.h"
#include "groth16/setup.h"

#include <errno.h>
#include <sys/stat.h>

struct setup_args {
    const char *circuit, *sector, *out, *waste;
};

static void print_result(const struct cz_common *common, const char *params, const char *vk,
                         const struct cz_setup_result *r) {
    char params_sha[65], vk_sha[65];
    cz_hex_encode(params_sha, r->params_sha256, 32);
    cz_hex_encode(vk_sha, r->vk_sha256, 32);
    if (common->json) {
        printf("{\"params\":");
        cz_print_json_text(stdout, params);
        printf(",\"params_sha256\":\"%s\",\"vk\":", params_sha);
        cz_print_json_text(stdout, vk);
        printf(",\"vk_sha256\":\"%s\"}\n", vk_sha);
        return;
    }
    printf("%s\n  %llu bytes, sha256 %s\n%s\n  sha256 %s\n%.1f s\n", params, (unsigned long long)r->params_bytes,
           params_sha, vk, vk_sha, r->seconds_total);
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
    enum cz_status status = args->waste ? cz_toxic_waste_read(&waste, args->waste, err) : cz_toxic_waste_random(&waste);
    if (status != CZ_OK) goto out;
    if (mkdir(args->out, 0755) != 0 && errno != EEXIST) {
        status = cz_error_set(err, CZ_ERR_IO, "%s: %s", args->out, strerror(errno));
        goto out;
    }
    status = cz_command_params_path(params, sizeof params, args->out, kind, sector, "params", err);
    if (status == CZ_OK) status = cz_command_params_path(vk, sizeof vk, args->out, kind, sector, "vk", err);
    if (status == CZ_OK) status = cz_pool_create(&pool, common->threads);
    if (status == CZ_OK) status = cz_device_create_cpu(&dev, pool);
    if (status == CZ_OK) status = cz_input_circuit_build(&r1cs, kind, sector, err);
    if (status != CZ_OK) goto out;
    cz_progress_start(&progress, "setup");
    status = cz_setup_write(&result, params, vk, r1cs, &waste, dev, pool, cz_progress_update, &progress, err);
    cz_progress_end(&progress);
    if (status == CZ_OK) print_result(common, params, vk, &result);
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
        {"toxic-waste", CZ_OPTIONS_TEXT, &args.waste, "FILE",
         "JSON with the secrets, for tests; default: the system's randomness, wiped", false},
    };
    int exit_status;
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    if (!cz_command_parse(&CZ_COMMAND_SETUP, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0, NULL,
                          &exit_status))
        return exit_status;
    if (!cz_command_circuit(&CZ_COMMAND_SETUP, args.circuit, args.sector, &kind, &sector, &exit_status))
        return exit_status;
    struct cz_error err = {0};
    enum cz_status status = setup(&args, &common, kind, sector, &err);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_SETUP, status, &err);
}

const struct cz_command CZ_COMMAND_SETUP = {
    .name = "setup",
    .usage = "setup --circuit KIND --sector SIZE --out DIR [--toxic-waste FILE]",
    .about =
        "Makes Groth16 parameters and their verifying key. For tests: whoever ran the setup could keep the secrets.",
    .run = run,
};
