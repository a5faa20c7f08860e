/* cuzk gpu: the cards that this machine has, and how a circuit's proving divides a card's memory. */

#include "cli/command.h"

#include "base/bytes.h"
#include "compute/cuda/nvml.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"
#include "filecoin/input.h"

struct gpu_args {
    const char *circuit, *sector, *vram;
    uint32_t workers;
};

/* "16GiB", "900MiB". */
static bool parse_size(size_t *out, const char *text) {
    char *end;
    if (text[0] < '0' || text[0] > '9') return false;
    unsigned long long n = strtoull(text, &end, 10);
    const unsigned shift = strcmp(end, "GiB") == 0 ? 30 : strcmp(end, "MiB") == 0 ? 20 : 0;
    if (!shift || n > (UINT64_C(1) << 20)) return false;
    *out = (size_t)n << shift;
    return true;
}

static double gib(size_t bytes) {
    return (double)bytes / (double)(UINT64_C(1) << 30);
}

static void print_plan(const struct cz_gpu_plan *p, bool json) {
    static const char *const place[] = {"resident", "streamed", "left out"};
    if (json) {
        printf("{\"domain\":%u,\"vram\":%zu,\"workers\":%u,\"items\":[", p->log_domain, p->vram, p->workers);
        for (size_t i = 0; i < p->num_items; i++)
            printf("%s{\"name\":\"%s\",\"bytes\":%zu,\"place\":\"%s\"}", i ? "," : "", p->item[i].name,
                   p->item[i].bytes, place[p->item[i].place]);
        printf("],\"resident\":%zu,\"streamed\":%zu,\"worker\":%zu,\"witness\":%zu,\"vectors\":%zu,\"peak\":%zu}\n",
               p->residents, p->streamed, p->worker, p->witness, p->vectors, p->peak);
        return;
    }
    for (size_t i = 0; i < p->num_items; i++)
        printf("%-22s %8.2f GiB  %s\n", p->item[i].name, gib(p->item[i].bytes), place[p->item[i].place]);
    printf("%-22s %8.2f GiB  of each of %u; a, b, c take %.2f, the witness %.2f\n", "worker", gib(p->worker),
           p->workers, gib(p->vectors), gib(p->witness));
    printf("%-22s %8.2f GiB  resident; every partition streams %.2f GiB\n", "together", gib(p->residents),
           gib(p->streamed));
    printf("%-22s %8.2f GiB  of %.2f at the least, %.2f of it for the driver\n", "peak", gib(p->peak), gib(p->vram),
           gib(CZ_GPU_PLAN_RESERVE));
}

static int run_plan(int argc, char **argv) {
    struct gpu_args args = {.workers = 1};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"circuit", CZ_OPTIONS_TEXT, &args.circuit, "KIND", "porep, winning, window, update or update-poseidon", true},
        {"sector", CZ_OPTIONS_TEXT, &args.sector, "SIZE", "2KiB … 64GiB, any case", true},
        {"vram", CZ_OPTIONS_TEXT, &args.vram, "SIZE", "the card's memory: 16GiB, 24GiB, 141GiB", true},
        {"workers", CZ_OPTIONS_U32, &args.workers, "N", "partitions at once (default 1)", false},
    };
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_GPU, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0, NULL,
                          &exit_status))
        return exit_status;
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    size_t vram;
    if (!cz_command_circuit(&CZ_COMMAND_GPU, args.circuit, args.sector, &kind, &sector, &exit_status))
        return exit_status;
    if (!parse_size(&vram, args.vram))
        return cz_command_usage_error(&CZ_COMMAND_GPU, "--vram wants a size like 16GiB, not \"%.40s\"", args.vram);
    struct cz_error err = {0};
    struct cz_r1cs *r1cs = NULL;
    struct cz_gpu_plan plan = {0};
    enum cz_status status = cz_input_circuit_build(&r1cs, kind, sector, &err);
    if (status == CZ_OK) {
        status = cz_gpu_plan_make(&plan, r1cs, vram, args.workers, &err);
        if (plan.num_items) print_plan(&plan, common.json);
    }
    cz_r1cs_destroy(r1cs);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_GPU, status, &err);
}

static void print_telemetry(bool json) {
    struct cz_nvml *nvml = NULL;
    struct cz_error err = {0};
    if (cz_nvml_open(&nvml, &err) != CZ_OK) {
        if (!json) printf("telemetry: %s\n", err.detail);
        return;
    }
    for (unsigned i = 0; i < cz_nvml_count(nvml) && !json; i++) {
        struct cz_nvml_card card;
        char why[160];
        if (!cz_nvml_read(&card, nvml, i)) continue;
        cz_nvml_throttle_text(why, sizeof why, card.throttle);
        printf("card %u: %s, %.1f of %.1f GiB used, %d %% busy, %d C, %d W, %d MHz%s%s\n", i, card.name,
               gib(card.memory_used), gib(card.memory_total), card.utilisation, card.temperature, card.power_mw / 1000,
               card.sm_clock_mhz, why[0] ? ", held back: " : "", why);
    }
    cz_nvml_close(nvml);
}

/* Exit status 1 and the reason when there is no usable card. */
static int run_list(int argc, char **argv) {
    struct cz_common common = {0};
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_GPU, argc, argv, NULL, 0, &common, NULL, 0, NULL, &exit_status))
        return exit_status;
    struct cz_error err = {0};
    int found = 0;
    if (common.json) printf("[");
    for (int i = 0; i < 16; i++) {
        struct cz_device *dev = NULL;
        struct cz_gpu_info info;
        const struct cz_gpu_options o = {.ordinal = i, .workers = 1, .vram_limit = (size_t)64 << 20, .pinned = 1 << 20};
        struct cz_error one = {0};
        if (cz_gpu_create(&dev, &o, NULL, &one) != CZ_OK) {
            if (i == 0) err = one;
            break;
        }
        if (cz_gpu_describe(&info, dev)) {
            found++;
            if (common.json)
                printf("%s{\"device\":\"cuda:%d\",\"name\":\"%s\",\"arch\":%d,\"multiprocessors\":%d,\"vram\":%zu}",
                       i ? "," : "", i, info.name, info.arch, info.multiprocessors, info.vram_total);
            else
                printf("cuda:%d  %s, sm_%d, %d multiprocessors, %.1f GiB\n", i, info.name, info.arch,
                       info.multiprocessors, gib(info.vram_total));
        }
        cz_device_destroy(dev);
    }
    if (common.json) printf("]\n");
    print_telemetry(common.json);
    return found ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_GPU, CZ_ERR_UNSUPPORTED, &err);
}

static int run(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "list") == 0) return run_list(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "plan") == 0) return run_plan(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        printf("cuzk %s\n%s\n", CZ_COMMAND_GPU.usage, CZ_COMMAND_GPU.about);
        return CZ_EXIT_DONE;
    }
    return cz_command_usage_error(&CZ_COMMAND_GPU, "wants list or plan");
}

const struct cz_command CZ_COMMAND_GPU = {
    .name = "gpu",
    .usage = "gpu list | plan --circuit KIND --sector SIZE --vram SIZE [--workers N]",
    .about =
        "list: the cards that this machine has. plan: how cuzk prove divides a card's memory: what of a circuit's\n"
        "parameters stays there, what is streamed, and the peak.",
    .run = run,
};
