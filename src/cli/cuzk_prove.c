/* cuzk prove: a proof of every partition of an input, on the CPU or a GPU, verified before it is written. */

#include "cli/source.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"
#include "groth16/params.h"
#include "groth16/prove.h"
#include "groth16/verify.h"

struct prove_args {
    struct cz_source source;
    const char *params, *out, *unsafe, *device;
    uint32_t vram_limit; /* MiB, 0: what is free */
    bool check;
};

/* Everything that one run holds; done() ends what there is. */
struct prover {
    struct cz_pool *pool;
    struct cz_device *dev;
    struct cz_input *input;
    uint32_t first, end; /* partitions */
    struct cz_r1cs *r1cs;
    struct cz_params params;
    struct cz_srs *srs;
    struct cz_witness witness;
    struct cz_blinding blinding;
    bool fixed; /* blinding was given */
    double parse, load, assign, verify;
    struct cz_partition_timing compute; /* summed over partitions */
};

static void done(struct prover *p) {
    cz_memzero(&p->blinding, sizeof p->blinding);
    cz_witness_done(&p->witness);
    cz_srs_destroy(p->srs);
    cz_params_close(&p->params);
    cz_r1cs_destroy(p->r1cs);
    cz_input_destroy(p->input);
    cz_device_destroy(p->dev);
    cz_pool_destroy(p->pool);
}

/* "R,S": two scalars of 64 hex digits, little endian. */
static enum cz_status parse_blinding(struct cz_blinding *out, const char *text, struct cz_error *err) {
    char part[2][65];
    uint8_t bytes[32];
    enum cz_status status = CZ_OK;
    if (strlen(text) != 129 || text[64] != ',') {
        return cz_error_set(err, CZ_ERR_FORMAT, "--unsafe-randomness wants R,S of 64 hex digits each");
    }
    for (int i = 0; i < 2 && status == CZ_OK; i++) {
        memcpy(part[i], text + 65 * i, 64);
        part[i][64] = 0;
        status = cz_hex_decode(bytes, 32, part[i]);
        if (status == CZ_OK) status = cz_fr_from_le(i ? &out->s : &out->r, bytes);
    }
    cz_memzero(part, sizeof part);
    cz_memzero(bytes, sizeof bytes);
    if (status != CZ_OK) return cz_error_set(err, status, "--unsafe-randomness: %s", cz_status_text(status));
    return CZ_OK;
}

/* "cpu", or "cuda:N". */
static enum cz_status open_device(struct prover *p, const struct prove_args *args, struct cz_error *err) {
    if (!args->device || strcmp(args->device, "cpu") == 0) return cz_device_create_cpu(&p->dev, p->pool);
    const char *n = args->device + 5;
    if (strncmp(args->device, "cuda:", 5) != 0 || n[0] < '0' || n[0] > '9' || n[1])
        return cz_error_set(err, CZ_ERR_ARGUMENT, "--device %.40s: not cpu or cuda:0 to cuda:9", args->device);
    struct cz_gpu_options o = {
        .ordinal = n[0] - '0', .workers = 1, .vram_limit = (size_t)args->vram_limit << 20, .pairs = true};
    struct cz_gpu_card card;
    struct cz_gpu_plan plan;
    enum cz_status status = cz_gpu_look(&card, o.ordinal, err);
    if (status != CZ_OK) return status;
    const size_t vram = o.vram_limit ? o.vram_limit + CZ_GPU_PLAN_RESERVE : card.vram_free;
    status = cz_gpu_plan_make(&plan, p->r1cs, vram, 1, err);
    if (status != CZ_OK) return status;
    o.residents = plan.residents;
    return cz_gpu_create(&p->dev, &o, p->pool, err);
}

static enum cz_status load(struct prover *p, const struct prove_args *args, const struct cz_common *common,
                           struct cz_progress *progress, struct cz_error *err) {
    uint64_t start = cz_time_now_ns();
    char path[4096];
    enum cz_status status = args->unsafe ? parse_blinding(&p->blinding, args->unsafe, err) : CZ_OK;
    if (status != CZ_OK) return status;
    p->fixed = args->unsafe;
    status = cz_source_load(&p->input, &args->source, err);
    if (status == CZ_OK) status = cz_source_partitions(&p->first, &p->end, &args->source, p->input, err);
    if (status != CZ_OK) return status;
    p->parse = cz_time_since(start);
    const struct cz_c1 *c1 = p->input->c1;
    if (c1 && cz_registered_seal_version(c1->proof) == CZ_SEAL_NON_INTERACTIVE) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s needs aggregation, which comes later",
                            cz_registered_seal_name(c1->proof));
    }
    start = cz_time_now_ns();
    status = cz_command_params_path(path, sizeof path, args->params, p->input->kind, p->input->sector, "params", err);
    if (status == CZ_OK) status = cz_input_circuit_build(&p->r1cs, p->input->kind, p->input->sector, err);
    if (status == CZ_OK) status = cz_params_open(&p->params, path, p->r1cs, err);
    if (status == CZ_OK) status = cz_pool_create(&p->pool, common->threads);
    if (status == CZ_OK && args->check) {
        cz_progress_stage(progress, "checking points");
        status = cz_params_check_points(&p->params, p->pool, cz_progress_update, progress, err);
        if (status != CZ_OK) (void)cz_error_prefix(err, "%s", path);
    }
    if (status == CZ_OK) status = open_device(p, args, err);
    if (status == CZ_OK) status = cz_srs_create(&p->srs, p->dev, p->r1cs, &p->params.view, err);
    p->load = cz_time_since(start);
    return status;
}

static void add_timing(struct cz_partition_timing *sum, const struct cz_partition_timing *t) {
    sum->eval += t->eval;
    sum->ntt += t->ntt;
    sum->msm_h += t->msm_h;
    sum->sum_l += t->sum_l;
    sum->sum_a += t->sum_a;
    sum->sum_b_g1 += t->sum_b_g1;
    sum->sum_b_g2 += t->sum_b_g2;
    sum->total += t->total;
}

/* A proof that does not verify: the inputs, or points of the parameters that nobody has looked at yet, are wrong. */
static enum cz_status explain_invalid(struct prover *p, uint32_t k, struct cz_progress *progress,
                                      struct cz_error *err) {
    const char *name = NULL;
    uint32_t row = cz_witness_first_unsatisfied(&p->witness, p->r1cs, &name);
    if (row < p->r1cs->num_constraints) {
        return cz_error_set(err, CZ_ERR_UNSATISFIED,
                            "partition %u: the vanilla proof does not satisfy the circuit, first at constraint %u (%s)",
                            k, row, name ? name : "?");
    }
    cz_progress_stage(progress, "the proof is not valid: checking points");
    enum cz_status status = cz_params_check_points(&p->params, p->pool, cz_progress_update, progress, err);
    if (status != CZ_OK) return cz_error_prefix(err, "parameters are damaged"), status;
    return cz_error_set(err, CZ_ERR_PROOF_INVALID,
                        "partition %u: the proof made does not verify under the key of these parameters", k);
}

static enum cz_status prove_partition(struct prover *p, uint32_t k, uint8_t out[CZ_PROOF_BYTES],
                                      struct cz_progress *progress, struct cz_error *err) {
    struct cz_proof proof;
    struct cz_partition_timing timing = {0};
    bool valid = false;
    uint64_t start = cz_time_now_ns();
    enum cz_status status = cz_witness_init(&p->witness, p->r1cs);
    if (status == CZ_OK) status = cz_input_assign(&p->witness, p->r1cs, p->input, k, err);
    p->assign += cz_time_since(start);
    if (status != CZ_OK) return status;
    char stage[64];
    (void)snprintf(stage, sizeof stage, "partition %u of %u", k + 1, p->input->num_partitions);
    cz_progress_stage(progress, stage);
    if (k > p->first) cz_progress_update(progress, (double)(k - p->first) / (p->end - p->first));
    status = cz_prove(&proof, &timing, p->srs, &p->params.vk, &p->witness, p->fixed ? &p->blinding : NULL, err);
    if (status != CZ_OK) return status;
    add_timing(&p->compute, &timing);
    start = cz_time_now_ns();
    status = cz_verify(&valid, &p->params.vk, &proof, p->witness.input + 1, p->witness.num_inputs - 1);
    p->verify += cz_time_since(start);
    if (status == CZ_OK && !valid) status = explain_invalid(p, k, progress, err);
    if (status == CZ_OK) cz_proof_write(out, &proof);
    cz_witness_done(&p->witness);
    p->witness = (struct cz_witness){0};
    return status;
}

static void print_result(const struct prover *p, const struct cz_common *common, size_t bytes, double total) {
    const struct cz_partition_timing *t = &p->compute;
    if (common->json) {
        printf(
            "{\"proof_bytes\":%zu,\"seconds\":{\"parse\":%.4f,\"load\":%.4f,\"assign\":%.4f,\"eval\":%.4f,\"ntt\":%.4f,"
            "\"msm_h\":%.4f,\"sum_l\":%.4f,\"sum_a\":%.4f,\"sum_b_g1\":%.4f,\"sum_b_g2\":%.4f,\"verify\":%.4f,"
            "\"total\":%.4f}}\n",
            bytes, p->parse, p->load, p->assign, t->eval, t->ntt, t->msm_h, t->sum_l, t->sum_a, t->sum_b_g1,
            t->sum_b_g2, p->verify, total);
        return;
    }
    printf("%zu bytes, verified, %.2f s (parse %.2f, load %.2f, assign %.3f, eval %.2f, ntt %.2f, H %.2f, L %.2f, A "
           "%.2f, B1 %.2f, B2 %.2f, verify %.3f)\n",
           bytes, total, p->parse, p->load, p->assign, t->eval, t->ntt, t->msm_h, t->sum_l, t->sum_a, t->sum_b_g1,
           t->sum_b_g2, p->verify);
}

static enum cz_status prove(struct prover *p, const struct prove_args *args, const struct cz_common *common,
                            struct cz_error *err) {
    struct cz_progress progress;
    struct cz_file_writer *out; /* first of all: a folder that cannot be written is known before the work */
    uint8_t *bytes = NULL;
    uint64_t start = cz_time_now_ns();
    enum cz_status status = cz_file_writer_create(&out, args->out, err);
    if (status != CZ_OK) return status;
    cz_progress_start(&progress, "prove");
    status = load(p, args, common, &progress, err);
    size_t len = status == CZ_OK ? (size_t)(p->end - p->first) * CZ_PROOF_BYTES : 0;
    if (status == CZ_OK && !(bytes = cz_calloc(len, 1)))
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for the proof");
    for (uint32_t k = p->first; status == CZ_OK && k < p->end; k++) {
        status = prove_partition(p, k, bytes + (size_t)(k - p->first) * CZ_PROOF_BYTES, &progress, err);
    }
    cz_progress_end(&progress);
    if (status == CZ_OK) status = cz_file_writer_append(out, bytes, len, err);
    if (status == CZ_OK)
        status = cz_file_writer_commit(out, err);
    else
        cz_file_writer_abort(out);
    if (status == CZ_OK) print_result(p, common, len, cz_time_since(start));
    cz_free(bytes);
    return status;
}

static int run(int argc, char **argv) {
    struct prove_args args = {.check = false};
    struct cz_common common = {0};
    struct cz_option option[CZ_SOURCE_OPTIONS + 6];
    const struct cz_option own[6] = {
        {"params", CZ_OPTIONS_TEXT, &args.params, "DIR", "folder with the v28 parameter files", true},
        {"out", CZ_OPTIONS_TEXT, &args.out, "FILE", "where the proof goes, 192 bytes a partition", true},
        {"check-params", CZ_OPTIONS_FLAG, &args.check, NULL, "check every point of the parameters first", false},
        {"unsafe-randomness", CZ_OPTIONS_TEXT, &args.unsafe, "R,S",
         "fixed r and s for every partition, hex: the proof then hides nothing", false},
        {"device", CZ_OPTIONS_TEXT, &args.device, "NAME", "cpu (the default) or cuda:0, cuda:1, ...", false},
        {"vram-limit", CZ_OPTIONS_U32, &args.vram_limit, "MIB", "GPU memory to take; what does not fit is streamed",
         false},
    };
    int exit_status;
    cz_source_init(&args.source);
    cz_source_options(&args.source, option);
    memcpy(option + CZ_SOURCE_OPTIONS, own, sizeof own);
    if (!cz_source_parse(&args.source, &CZ_COMMAND_PROVE, argc, argv, option, CZ_SOURCE_OPTIONS + 6, &common,
                         &exit_status)) {
        return exit_status;
    }
    struct cz_error err = {0};
    struct prover p = {0};
    enum cz_status status = prove(&p, &args, &common, &err);
    done(&p);
    cz_source_done(&args.source);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_PROVE, status, &err);
}

const struct cz_command CZ_COMMAND_PROVE = {
    .name = "prove",
    .usage = "prove --c1 FILE | --type KIND --vanilla FILE… …  --params DIR --out FILE [--check-params]\n"
             "                 [--unsafe-randomness R,S] [--device NAME] [--vram-limit MIB]",
    .about = "Proves every partition of a C1 output, or of PoSt or update vanilla proofs. The proof is verified before "
             "it is written.",
    .run = run,
};
