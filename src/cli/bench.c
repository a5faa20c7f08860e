/* cuzk-bench: drives a daemon over gRPC. */

#include "cli/bench.h"

#include "base/bytes.h"

static const struct cz_bench_command *const COMMANDS[] = {&CZ_BENCH_SINGLE,   &CZ_BENCH_BATCH,   &CZ_BENCH_STATUS,
                                                          &CZ_BENCH_PRELOAD,  &CZ_BENCH_METRICS, &CZ_BENCH_GEN_VANILLA,
                                                          &CZ_BENCH_WATERFALL};
enum { NUM_COMMANDS = sizeof COMMANDS / sizeof COMMANDS[0] };

bool cz_bench_start(const struct cz_options_command *command, const struct cz_bench_common *common, int argc,
                    char **argv, const struct cz_options_entry *entry, size_t n, struct cz_options_list *words,
                    struct cz_rpc_client **client, int *exit_status) {
    for (int at = 1; at < argc;) {
        if (!cz_options_read(command, argc, argv, &at, entry, n, exit_status)) return false;
        if (at == argc) break;
        if (!words || words->n == 0 || !cz_options_list_add(words, argv[at])) {
            *exit_status = cz_options_usage_error(command, "unexpected word \"%.80s\"", argv[at]);
            return false;
        }
        at++;
    }
    struct cz_error err = {0};
    enum cz_status status = cz_rpc_client_create(client, common->address, 0, &err);
    if (status == CZ_OK) return true;
    *exit_status = status == CZ_ERR_ARGUMENT ? cz_options_usage_error(command, "%s", err.detail)
                                             : cz_bench_fail(command, status, &err);
    return false;
}

int cz_bench_fail(const struct cz_options_command *command, enum cz_status status, const struct cz_error *err) {
    char *clean = cz_output_clean(err->detail[0] ? err->detail : cz_status_text(status));
    for (char *c = clean; c && *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
    }
    (void)fprintf(stderr, "%s: %s\n", command->program, clean ? clean : "");
    cz_free(clean);
    return CZ_OPTIONS_FAILED;
}

enum cz_status cz_bench_call(struct cz_rpc_client *client, const char *method, const ProtobufCMessage *request,
                             uint64_t timeout_ms, struct cz_rpc_reply *reply, struct cz_error *err) {
    size_t len = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = cz_malloc_array(len + 1, 1);
    if (!bytes) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for the request");
    (void)protobuf_c_message_pack(request, bytes);
    enum cz_status status = cz_rpc_client_call(client, method, bytes, len, timeout_ms, reply, err);
    cz_free(bytes);
    if (status != CZ_OK || reply->code == CZ_RPC_OK) return status;
    status = cz_error_set(err, CZ_ERR_NETWORK, "%s: %s", cz_rpc_code_text(reply->code), reply->message);
    cz_rpc_reply_done(reply);
    return status;
}

static const char *about(void) {
    static char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text, "Drives a cuzk-daemon.\n\nCommands (each has --help):");
    for (int i = 0; i < NUM_COMMANDS && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "\n  %-11s %s", COMMANDS[i]->name, COMMANDS[i]->line);
    }
    return text;
}

int main(int argc, char **argv) {
    struct cz_bench_common common = {.address = "http://127.0.0.1:9820"};
    bool version = false;
    const struct cz_options_entry entries[] = {
        CZ_BENCH_COMMON_ENTRIES(&common),
        {.name = "version", .kind = CZ_OPTIONS_FLAG, .target = &version, .help = "print the version"},
    };
    const struct cz_options_command command = {"cuzk-bench", "cuzk-bench [options] COMMAND [options]", about()};
    int at = 1, exit_status;
    if (!cz_options_read(&command, argc, argv, &at, entries, sizeof entries / sizeof entries[0], &exit_status)) {
        return exit_status;
    }
    if (version) return printf("cuzk-bench %s, %s\n", CZ_VERSION, CZ_BENCH_BUILD) < 0;
    if (at == argc) return cz_options_usage_error(&command, "wants a command");
    for (int i = 0; i < NUM_COMMANDS; i++) {
        if (strcmp(argv[at], COMMANDS[i]->name) == 0) return COMMANDS[i]->run(&common, argc - at, argv + at);
    }
    return cz_options_usage_error(&command, "unknown command \"%.40s\"", argv[at]);
}
