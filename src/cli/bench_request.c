#include "cli/bench.h"

#include "base/bytes.h"
#include "base/random.h"
#include "filecoin/registered.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <zlib.h>

/* The daemon takes messages up to 256 MiB. */
#define MAX_FILE ((size_t)256 << 20)

static const struct {
    const char *name;
    Cuzk__V1__ProofKind kind;
} TYPES[] = {
    {"porep", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT},
    {"snap", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
    {"wpost", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
    {"winning", CUZK__V1__PROOF_KIND__WINNING_POST},
};

/* A whole file, gunzipped when it is gzipped. */
static enum cz_status read_file(uint8_t **out, size_t *len, const char *path, struct cz_error *err) {
    gzFile f = gzopen(path, "rb");
    if (!f) return cz_error_set(err, CZ_ERR_IO, "%s: %m", path);
    size_t room = (size_t)1 << 20, n = 0;
    uint8_t *bytes = malloc(room);
    enum cz_status status = bytes ? CZ_OK : cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    while (status == CZ_OK) {
        int got = gzread(f, bytes + n, (unsigned)(room - n));
        int code = Z_OK;
        const char *why = gzerror(f, &code);
        if (got < 0 || code == Z_BUF_ERROR) {
            status = cz_error_set(err, CZ_ERR_IO, "%s: %s", path, code == Z_ERRNO ? "cannot be read" : why);
        }
        if (got <= 0) break;
        n += (size_t)got;
        if (n < room) continue;
        uint8_t *more = room <= MAX_FILE ? realloc(bytes, room * 2) : NULL;
        if (!more)
            status = cz_error_set(err, CZ_ERR_LIMIT, "%s: over 256 MiB", path);
        else
            bytes = more, room *= 2;
    }
    (void)gzclose(f);
    if (status == CZ_OK && n > MAX_FILE) status = cz_error_set(err, CZ_ERR_LIMIT, "%s: over 256 MiB", path);
    if (status != CZ_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *len = n;
    return CZ_OK;
}

/* Strict: full groups of four, padding at the end. Room for len / 4 * 3 bytes at out; false when malformed. */
static bool base64_decode(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len) {
    if (len % 4 || len > INT32_MAX) return false;
    for (size_t i = 0; i < len; i++) {
        bool ok = (in[i] >= 'A' && in[i] <= 'Z') || (in[i] >= 'a' && in[i] <= 'z') || (in[i] >= '0' && in[i] <= '9') ||
                  in[i] == '+' || in[i] == '/' ||
                  (in[i] == '=' && (i + 1 == len || (i + 2 == len && in[i + 1] == '=')));
        if (!ok) return false;
    }
    if (len && EVP_DecodeBlock(out, in, (int)len) < 0) return false;
    *out_len = len / 4 * 3 - (len && in[len - 1] == '=') - (len && in[len - 2] == '=');
    return true;
}

/* The value of the first `"name": "…"` in a JSON text, without its quotes; NULL when there is none. */
static const uint8_t *find_string(const uint8_t *json, size_t len, const char *name, size_t *value_len) {
    const uint8_t *end = json + len, *at = memmem(json, len, name, strlen(name));
    if (!at) return NULL;
    at += strlen(name);
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n' || *at == ':')) at++;
    if (at == end || *at != '"') return NULL;
    at++;
    const uint8_t *close = memchr(at, '"', (size_t)(end - at));
    if (!close) return NULL;
    *value_len = (size_t)(close - at);
    return at;
}

/* What the C1 output says of itself; left alone when it says nothing that we know: the daemon judges it. */
static void look_into_c1(Cuzk__V1__SubmitProofRequest *submit, const uint8_t *c1, size_t len) {
    size_t n;
    const uint8_t *name = find_string(c1, len, "\"registered_proof\"", &n);
    enum cz_registered_seal proof;
    if (!name || cz_registered_seal_parse(&proof, (const char *)name, n) != CZ_OK) return;
    submit->registered_proof = (uint64_t)proof;
    submit->sector_size = cz_registered_seal_sector(proof)->size;
}

static bool is_json(const uint8_t *data, size_t len) {
    size_t i = 0;
    while (i < len && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n')) i++;
    return i < len && data[i] == '{';
}

/* {"SectorNum":N,"Phase1Out":"…","SectorSize":N} around the bytes. */
static enum cz_status wrap(ProtobufCBinaryData *out, const Cuzk__V1__SubmitProofRequest *submit, const uint8_t *c1,
                           size_t len, struct cz_error *err) {
    char head[80], tail[80];
    int head_len = snprintf(head, sizeof head, "{\"SectorNum\":%" PRIu64 ",\"Phase1Out\":\"", submit->sector_number);
    int tail_len = snprintf(tail, sizeof tail, "\",\"SectorSize\":%" PRIu64 "}", submit->sector_size);
    size_t body = (len + 2) / 3 * 4, total = (size_t)head_len + body + (size_t)tail_len;
    uint8_t *text = malloc(total + 1);
    if (!text) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for the envelope");
    memcpy(text, head, (size_t)head_len);
    (void)EVP_EncodeBlock(text + head_len, c1, (int)len);
    memcpy(text + (size_t)head_len + body, tail, (size_t)tail_len);
    *out = (ProtobufCBinaryData){.len = total, .data = text};
    return CZ_OK;
}

static enum cz_status read_c1(struct cz_bench_request *request, const struct cz_bench_input *input,
                              struct cz_error *err) {
    Cuzk__V1__SubmitProofRequest *submit = &request->submit;
    uint8_t *data = NULL;
    size_t len = 0, coded_len, c1_len;
    enum cz_status status = read_file(&data, &len, input->c1, err);
    if (status != CZ_OK) return status;
    const uint8_t *coded = find_string(data, len, "\"Phase1Out\"", &coded_len);
    if (coded) {
        uint8_t *c1 = malloc(coded_len + 1);
        if (c1 && base64_decode(c1, &c1_len, coded, coded_len)) look_into_c1(submit, c1, c1_len);
        free(c1);
        submit->vanilla_proof = (ProtobufCBinaryData){.len = len, .data = data};
        return CZ_OK;
    }
    look_into_c1(submit, data, len);
    if (is_json(data, len))
        status = wrap(&submit->vanilla_proof, submit, data, len, err);
    else
        status = cz_error_set(err, CZ_ERR_FORMAT, "%s: not a JSON object", input->c1);
    free(data);
    return status;
}

/* ---- vanilla proofs ---- */

static enum cz_status read_vanilla(struct cz_bench_request *request, const struct cz_options_list *files,
                                   struct cz_error *err) {
    Cuzk__V1__SubmitProofRequest *s = &request->submit;
    enum cz_status status = cz_vanilla_read(&request->vanilla, files->item, files->n, err);
    if (status != CZ_OK) return status;
    if (request->vanilla.n == 0) return cz_error_set(err, CZ_ERR_FORMAT, "%s: no vanilla proof", files->item[0]);
    s->vanilla_proofs = calloc(request->vanilla.n, sizeof *s->vanilla_proofs);
    if (!s->vanilla_proofs) return cz_error_set(err, CZ_ERR_MEMORY, "no memory");
    s->n_vanilla_proofs = request->vanilla.n;
    for (size_t i = 0; i < request->vanilla.n; i++) {
        const struct cz_bytes *b = &request->vanilla.blob[i];
        s->vanilla_proofs[i] = (ProtobufCBinaryData){.len = b->len, .data = (uint8_t *)b->data};
    }
    return CZ_OK;
}

/* ---- the request ---- */

static enum cz_status read_hex(ProtobufCBinaryData *out, const char *name, const char *text, struct cz_error *err) {
    if (!text) return CZ_OK;
    uint8_t *bytes = malloc(32);
    if (!bytes) return cz_error_set(err, CZ_ERR_MEMORY, "no memory");
    *out = (ProtobufCBinaryData){.len = 32, .data = bytes};
    if (cz_hex_decode(bytes, 32, text) == CZ_OK) return CZ_OK;
    return cz_error_set(err, CZ_ERR_ARGUMENT, "--%s wants 64 hex digits", name);
}

static enum cz_status fill(struct cz_bench_request *request, const struct cz_bench_input *input, struct cz_error *err) {
    Cuzk__V1__SubmitProofRequest *s = &request->submit;
    s->priority = (Cuzk__V1__Priority)input->priority;
    s->miner_id = input->miner_id;
    s->sector_number = input->sector_number;
    s->partition_index = input->partition;
    bool porep = s->proof_kind == CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    if (porep != (input->c1 != NULL) || porep == (input->vanilla.n > 0)) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "type %s wants --%s FILE", input->type, porep ? "c1" : "vanilla");
    }
    enum cz_status status = read_hex(&s->randomness, "randomness", input->randomness, err);
    if (status == CZ_OK) status = read_hex(&s->comm_r_old, "comm-r-old", input->comm_r_old, err);
    if (status == CZ_OK) status = read_hex(&s->comm_r_new, "comm-r-new", input->comm_r_new, err);
    if (status == CZ_OK) status = read_hex(&s->comm_d_new, "comm-d-new", input->comm_d_new, err);
    if (status == CZ_OK && input->sector && !cz_sector_by_name(input->sector)) {
        status = cz_error_set(err, CZ_ERR_ARGUMENT, "unknown sector size \"%.40s\" (2KiB … 64GiB)", input->sector);
    }
    if (status == CZ_OK) status = porep ? read_c1(request, input, err) : read_vanilla(request, &input->vanilla, err);
    if (status != CZ_OK) return status;
    if (input->has_registered_proof) s->registered_proof = input->registered_proof;
    if (input->sector) s->sector_size = cz_sector_by_name(input->sector)->size;
    return CZ_OK;
}

enum cz_status cz_bench_request_init(struct cz_bench_request *out, const struct cz_bench_input *input,
                                     struct cz_error *err) {
    if (!input->type) return cz_error_set(err, CZ_ERR_ARGUMENT, "--type is missing: porep, snap, wpost or winning");
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (strcmp(TYPES[i].name, input->type) != 0) continue;
        struct cz_bench_request request = {.submit = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT, .label = TYPES[i].name};
        request.submit.proof_kind = TYPES[i].kind;
        enum cz_status status = fill(&request, input, err);
        if (status != CZ_OK)
            cz_bench_request_done(&request);
        else
            *out = request;
        return status;
    }
    return cz_error_set(err, CZ_ERR_ARGUMENT, "unknown type \"%.40s\": porep, snap, wpost or winning", input->type);
}

void cz_bench_input_done(struct cz_bench_input *input) {
    free(input->vanilla.item);
    input->vanilla = (struct cz_options_list){0};
}

void cz_bench_request_done(struct cz_bench_request *request) {
    Cuzk__V1__SubmitProofRequest *s = &request->submit;
    free(s->vanilla_proofs);
    cz_vanilla_done(&request->vanilla);
    free(s->vanilla_proof.data);
    free(s->randomness.data);
    free(s->comm_r_old.data);
    free(s->comm_r_new.data);
    free(s->comm_d_new.data);
    *request = (struct cz_bench_request){.submit = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT};
}

enum cz_status cz_bench_request_id(char out[64], const char *label, struct cz_error *err) {
    uint8_t random[8];
    char hex[17];
    enum cz_status status = cz_random_bytes(random, sizeof random);
    if (status != CZ_OK) return cz_error_set(err, status, "no randomness for a request id");
    cz_hex_encode(hex, random, sizeof random);
    (void)snprintf(out, 64, "bench-%s-%s", label, hex);
    return CZ_OK;
}

enum cz_status cz_bench_prove(struct cz_rpc_client *client, const struct cz_bench_request *request,
                              const char *request_id, uint64_t timeout_ms, Cuzk__V1__ProveResponse **result,
                              struct cz_error *err) {
    Cuzk__V1__SubmitProofRequest submit = request->submit;
    Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
    submit.request_id = (char *)request_id;
    prove.submit = &submit;
    struct cz_rpc_reply reply;
    enum cz_status status = cz_bench_call(client, CZ_RPC_PROVE, &prove.base, timeout_ms, &reply, err);
    if (status != CZ_OK) return status;
    Cuzk__V1__ProveResponse *response = cuzk__v1__prove_response__unpack(NULL, reply.len, reply.data);
    cz_rpc_reply_done(&reply);
    if (!response || !response->result) {
        if (response) cuzk__v1__prove_response__free_unpacked(response, NULL);
        return cz_error_set(err, CZ_ERR_NETWORK, "the reply to Prove cannot be read");
    }
    *result = response;
    return CZ_OK;
}

const char *cz_bench_status_text(Cuzk__V1__AwaitProofResponse__Status status) {
    static const char *const text[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};
    return (unsigned)status < sizeof text / sizeof text[0] ? text[status] : "UNKNOWN";
}
