/*
 * What a 32 GiB PoRep partition asks of a GPU beside its sums: witness upload, expansion and evaluation, and h.
 * Medians. bench_cuda_prove [--c1 FILE] [--runs N]: with the C1 output of a 32 GiB sector its own witness, else random
 * values. --partition WORKERS: whole partitions instead, with --residents GiB of SRS and tables, --full 1 for a mapping
 * of 45 GiB that repeats no memory, --spin 1 for threads that do not sleep while they wait.
 */

#include "base/bytes.h"
#include "base/time.h"
#include "compute/cuda/ntt_types.h"
#include "compute/cuda/partition.h"
#include "compute/gpu.h"
#include "curve/encoding.h"
#include "filecoin/input.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_RUNS 25

static struct cz_cuda_device *dev;
static struct cz_cuda_worker *w;
static int runs = 7;
static size_t residents_gib = 80;
static bool full, spin;

static void check(enum cz_status status, const char *what, const struct cz_error *err) {
    if (status == CZ_OK) return;
    fprintf(stderr, "bench_cuda_prove: %s: %s (%s)\n", what, cz_status_text(status), err ? err->detail : w->err.detail);
    exit(1);
}
static void cuda(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "bench_cuda_prove: %s\n", cudaGetErrorName(error));
    exit(1);
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}
static void report(const char *what, float *ms, int n) {
    qsort(ms, (size_t)n, sizeof *ms, by_size);
    printf("%-52s %8.2f ms (%.2f-%.2f)\n", what, (double)ms[n / 2], (double)ms[0], (double)ms[n - 1]);
    (void)fflush(stdout);
}

static void begin(void) {
    cuda(cudaEventRecord(w->timer[0], w->stream));
}
static float end(void) {
    float ms;
    cuda(cudaEventRecord(w->timer[1], w->stream));
    cuda(cudaEventSynchronize(w->timer[1]));
    cuda(cudaEventElapsedTime(&ms, w->timer[0], w->timer[1]));
    return ms;
}

static uint64_t seed = 7;
static uint64_t next(void) {
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1du;
}

static void make_witness(struct cz_witness *witness, const struct cz_r1cs *r1cs, const char *c1_path) {
    struct cz_error err = {0};
    check(cz_witness_init(witness, r1cs), "witness", NULL);
    if (c1_path) {
        struct cz_c1 *c1;
        struct cz_input *input;
        check(cz_c1_parse_file(&c1, c1_path, &err), "c1", &err);
        check(cz_input_of_c1(&input, c1), "c1", NULL);
        check(cz_input_assign(witness, r1cs, input, 0, &err), "assign", &err);
        cz_input_destroy(input);
        return;
    }
    for (size_t i = 0; i < (witness->num_bits + 63) / 64; i++) witness->bit[i] = next();
    for (uint32_t i = 0; i < witness->num_elems; i++)
        for (int j = 0; j < 4; j++) witness->elem[i].l[j] = j == 3 ? next() >> 2 : next();
}

static void bench_eval(const char *c1_path) {
    struct cz_error err = {0};
    struct cz_r1cs *r1cs;
    struct cz_witness witness;
    struct cz_cuda_circuit circuit;
    struct cz_cuda_witness dw = {0};
    float up[MAX_RUNS], expand[MAX_RUNS], eval[MAX_RUNS];
    uint64_t start = cz_time_now_ns();
    check(cz_input_circuit_build(&r1cs, CZ_CIRCUIT_POREP, cz_sector_by_name("32GiB"), &err), "circuit", &err);
    printf("circuit built in %.2f s: %u templates, %u instances, %zu MiB on the host, %zu on the device\n",
           cz_time_since(start), r1cs->num_templates, r1cs->num_instances, cz_r1cs_bytes(r1cs) >> 20,
           cz_cuda_circuit_bytes(r1cs) >> 20);
    start = cz_time_now_ns();
    make_witness(&witness, r1cs, c1_path);
    printf("witness in %.2f s: %u bits, %u elements\n", cz_time_since(start), witness.num_bits, witness.num_elems);
    start = cz_time_now_ns();
    check(cz_cuda_circuit_create(&circuit, w, r1cs), "circuit", NULL);
    printf("circuit on the device in %.2f s\n", cz_time_since(start));
    const size_t n = (size_t)1 << circuit.log_domain;
    uint64_t *d_value = cz_cuda_mem(w, (size_t)r1cs->num_aux / 64 + 1, 8);
    struct cz_fr *x[3];
    for (int i = 0; i < 3; i++) x[i] = cz_cuda_mem(w, n, sizeof **x);
    for (int i = 0; i < runs + 1; i++) {
        struct cz_cuda_mark mark = cz_cuda_mark(w);
        const int r = i ? i - 1 : 0;
        begin();
        check(cz_cuda_witness_upload(&dw, w, &circuit, &witness), "upload", NULL);
        up[r] = end();
        begin();
        check(cz_cuda_expand(w, &circuit, &dw, d_value), "expand", NULL);
        expand[r] = end();
        begin();
        check(cz_cuda_eval(w, &circuit, &dw, x[0], x[1], x[2]), "eval", NULL);
        eval[r] = end();
        cz_cuda_release(w, mark);
    }
    report("32 GiB PoRep: upload of the witness", up, runs);
    report("expansion of the bits", expand, runs);
    report("a, b, c", eval, runs);
    /* Samples against the host. */
    const uint32_t instances = r1cs->num_instances;
    struct cz_fr *host[3], *got = cz_calloc((size_t)r1cs->num_constraints + 1, sizeof *got);
    for (int i = 0; i < 3; i++) host[i] = cz_calloc((size_t)r1cs->num_constraints + 1, sizeof **host);
    if (!got || !host[0] || !host[1] || !host[2]) exit(1);
    struct cz_pool *pool;
    (void)pool;
    size_t compared = 0, wrong = 0;
    for (uint32_t i = 0; i < instances; i += instances / 20000 + 1)
        cz_witness_eval(host[0], host[1], host[2], &witness, r1cs, i, 1);
    for (int m = 0; m < 3; m++) {
        check(cz_cuda_download(w, got, x[m], (size_t)r1cs->num_constraints * sizeof *got), "download", NULL);
        for (uint32_t i = 0; i < instances; i += instances / 20000 + 1) {
            const struct cz_r1cs_instance *inst = &r1cs->instance[i];
            const uint32_t rows = r1cs->tmpl[inst->template_id].num_constraints;
            compared += rows;
            for (uint32_t k = 0; k < rows; k++)
                wrong += !cz_fr_eq(&got[inst->first_constraint + k], &host[m][inst->first_constraint + k]);
        }
        cz_free(host[m]);
    }
    cz_free(got);
    printf("%zu rows compared with the host's, %zu differ\n", compared, wrong);
    if (wrong) exit(1);
    cz_cuda_circuit_destroy(&circuit, dev->cuda);
    cz_witness_done(&witness);
    cz_r1cs_destroy(r1cs);
}

static void bench_h(void) {
    const size_t n = (size_t)1 << 27;
    struct cz_fr *x[3], factor;
    float ms[MAX_RUNS];
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    for (int i = 0; i < 3; i++) x[i] = cz_cuda_mem(w, n, sizeof **x);
    if (!x[2]) exit(1);
    check(cz_cuda_tables_large(dev->tables, w), "tables", NULL);
    for (int plain = 0; plain < 2; plain++) {
        for (int i = 0; i < runs + 1; i++) {
            begin();
            check(cz_cuda_ntt_quotient(w, dev->tables, &factor, x[0], x[1], x[2], 27, plain), "h", NULL);
            ms[i ? i - 1 : 0] = end();
        }
        report(plain ? "h at 2^27, without large tables" : "h at 2^27", ms, runs);
    }
    for (int up = 0; up < 2; up++) {
        for (int i = 0; i < runs + 1; i++) {
            begin();
            check(up ? cz_cuda_ntt_up(w, dev->tables, x[0], 27, false)
                     : cz_cuda_ntt_down(w, dev->tables, x[0], 27, true),
                  "ntt", NULL);
            ms[i ? i - 1 : 0] = end();
        }
        report(up ? "one transform up of 2^27, without large tables" : "one transform down", ms, runs);
    }
    /* Single passes, with any values as twiddles. */
    static const char *const name[] = {"down 1, table", "down 2, table", "down 3",       "up 1",
                                       "up 2, table",   "up 3, table",   "middle",       "last",
                                       "down 1, power", "up 3, power",   "product a x b"};
    for (int k = 0; k < 11; k++) {
        struct cz_cuda_pass p = {.root = {x[1], x[1]}, .w512 = x[1], .table = x[1], .log_n = 27, .bits = 9};
        p.up = (k >= 3 && k <= 5) || k == 9;
        p.log_m = k == 2 || k == 3 ? 9 : k == 1 || k == 4 ? 18 : 27;
        p.twiddle = k == 2 || k == 3 ? CZ_CUDA_TWIDDLE_NONE : k >= 8 ? CZ_CUDA_TWIDDLE_POWER : CZ_CUDA_TWIDDLE_TABLE;
        for (int i = 0; i < runs + 1; i++) {
            begin();
            check(k == 6    ? cz_cuda_k_pass_middle(w, x[0], 27, x[1], x[1], x[1])
                  : k == 7  ? cz_cuda_k_pass_last(w, x[0], 27, x[1], x[1], x[2])
                  : k == 10 ? cz_cuda_k_product(w, x[0], x[1], n)
                            : cz_cuda_k_pass512(w, x[0], &p),
                  "pass", NULL);
            ms[i ? i - 1 : 0] = end();
        }
        report(name[k], ms, runs);
    }
    cz_cuda_release(w, mark);
}

/* Whole partitions over an SRS of full size whose vectors repeat 2^18 different points: the mapping repeats, too. */
#define DIFFERENT ((size_t)1 << 18)

struct piece {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
};
static void *copy_piece(void *ctx) {
    struct piece *p = ctx;
    memcpy(p->to, p->from, p->bytes);
    return NULL;
}

/* A copy in memory of its own, as the page cache holds a file's; mapped anew, so that no page is in the tables yet. */
static uint8_t *unfolded(const uint8_t *from, size_t bytes) {
    enum { THREADS = 16 };
    struct piece piece[THREADS];
    pthread_t thread[THREADS];
    const int fd = memfd_create("srs", 0);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) exit(1);
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) exit(1);
    const uint64_t start = cz_time_now_ns();
    for (size_t i = 0; i < THREADS; i++) {
        const size_t at = bytes / THREADS * i;
        piece[i] = (struct piece){p + at, from + at, i + 1 < THREADS ? bytes / THREADS : bytes - at};
        if (pthread_create(&thread[i], NULL, copy_piece, &piece[i]) != 0) exit(1);
    }
    for (int i = 0; i < THREADS; i++) (void)pthread_join(thread[i], NULL);
    printf("%.1f GiB made in %.1f s\n", (double)bytes / (1 << 30), cz_time_since(start));
    if (munmap(p, bytes) != 0) exit(1);
    p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) exit(1);
    return p;
}

static double cpu_seconds(void) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) exit(1);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static uint8_t *repeated(size_t bytes, size_t size) {
    const size_t period = DIFFERENT * size;
    const int fd = memfd_create("points", 0);
    if (fd < 0 || ftruncate(fd, (off_t)period) != 0) exit(1);
    uint8_t *all = mmap(NULL, (bytes / period + 1) * period, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *p = mmap(NULL, period, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED || p == MAP_FAILED) exit(1);
    struct cz_g1 g1;
    struct cz_g2 g2;
    cz_g1_from_affine(&g1, &CZ_G1_GENERATOR);
    cz_g2_from_affine(&g2, &CZ_G2_GENERATOR);
    const struct cz_g1 s1 = g1;
    const struct cz_g2 s2 = g2;
    for (size_t at = 0; at < DIFFERENT; at += 1024) {
        static struct cz_g1 j1[1024];
        static struct cz_g2 j2[1024];
        static struct cz_g1_affine a1[1024];
        static struct cz_g2_affine a2[1024];
        static struct cz_fp f1[1024];
        static struct cz_fp2 f2[1024];
        for (size_t i = 0; i < 1024; i++) {
            j1[i] = g1;
            j2[i] = g2;
            if (size == 96)
                cz_g1_add(&g1, &g1, &s1);
            else
                cz_g2_add(&g2, &g2, &s2);
        }
        if (size == 96)
            cz_g1_to_affine_n(a1, j1, f1, 1024);
        else
            cz_g2_to_affine_n(a2, j2, f2, 1024);
        for (size_t i = 0; i < 1024; i++) {
            if (size == 96)
                cz_g1_encode_uncompressed(p + (at + i) * size, &a1[i]);
            else
                cz_g2_encode_uncompressed(p + (at + i) * size, &a2[i]);
        }
    }
    for (size_t at = 0; at <= bytes; at += period)
        if (mmap(all + at, period, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) exit(1);
    return full ? unfolded(all, bytes) : all;
}

struct prover {
    struct cz_srs *srs;
    const struct cz_witness *witness;
    int n;
    struct cz_partition_timing last;
};
static void *prove_some(void *ctx) {
    struct prover *p = ctx;
    struct cz_partition_sums sums;
    struct cz_error err = {0};
    for (int i = 0; i < p->n; i++)
        check(cz_device_prove_partition(&sums, &p->last, p->srs, p->witness, &err), "partition", &err);
    return NULL;
}

static void bench_partition(const char *c1_path, unsigned workers) {
    struct cz_error err = {0};
    struct cz_r1cs *r1cs;
    struct cz_witness witness;
    struct cz_srs_view view = {0};
    struct cz_srs *srs;
    struct cz_device *device;
    check(cz_input_circuit_build(&r1cs, CZ_CIRCUIT_POREP, cz_sector_by_name("32GiB"), &err), "circuit", &err);
    make_witness(&witness, r1cs, c1_path);
    const size_t words = (size_t)r1cs->num_aux / 64 + 1;
    uint64_t *a = cz_calloc(2 * words + r1cs->num_inputs, 8), *b = a + words, *in = b + words;
    if (!a) exit(1);
    cz_r1cs_density(r1cs, a, b, in);
    view.num_h = (1u << 27) - 1;
    view.num_l = r1cs->num_aux;
    view.num_a = (uint32_t)(r1cs->num_inputs + cz_device_popcount(a, r1cs->num_aux));
    view.num_b = (uint32_t)(cz_device_popcount(in, r1cs->num_inputs) + cz_device_popcount(b, r1cs->num_aux));
    cz_free(a);
    const size_t points = (size_t)view.num_h + view.num_l + view.num_a + view.num_b;
    /* One after another where each has memory of its own, else each from the start. */
    view.h = repeated(full ? points * 96 : (size_t)1 << 27 << 7, 96);
    view.l = view.h + (full ? view.num_h : 1) * 96;
    view.a = view.l + (full ? view.num_l : 1) * 96;
    view.b_g1 = view.a + (full ? view.num_a : 1) * 96;
    view.b_g2 = repeated((size_t)view.num_b * 192, 192);
    const struct cz_gpu_options o = {.workers = workers, .residents = residents_gib << 30, .pairs = true};
    check(cz_gpu_create(&device, &o, NULL, &err), "device", &err);
    if (spin) cuda(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    double cpu = cpu_seconds();
    uint64_t start = cz_time_now_ns();
    check(cz_srs_create(&srs, device, r1cs, &view, &err), "srs", &err);
    printf("SRS resident in %.2f s (%.1f s of CPU), %.1f GiB\n", cz_time_since(start), cpu_seconds() - cpu,
           (double)cz_srs_bytes(srs) / (1 << 30));
    struct prover p[8];
    pthread_t thread[8];
    for (unsigned used = 1; used <= workers; used++) {
        for (unsigned i = 0; i < used; i++) p[i] = (struct prover){.srs = srs, .witness = &witness, .n = 1};
        (void)prove_some(&p[0]); /* warm */
        for (unsigned i = 0; i < used; i++) p[i].n = 4;
        cpu = cpu_seconds();
        start = cz_time_now_ns();
        for (unsigned i = 0; i < used; i++)
            if (pthread_create(&thread[i], NULL, prove_some, &p[i]) != 0) exit(1);
        for (unsigned i = 0; i < used; i++) (void)pthread_join(thread[i], NULL);
        const struct cz_partition_timing *t = &p[0].last;
        printf("%u workers: %.1f ms a partition, %.1f ms of CPU; one takes %.1f ms: eval %.1f, h %.1f, H %.1f, L %.1f, "
               "A %.1f, B1 %.1f, "
               "B2 %.1f\n",
               used, cz_time_since(start) * 1e3 / (4 * used), (cpu_seconds() - cpu) * 1e3 / (4 * used), t->total * 1e3,
               t->eval * 1e3, t->ntt * 1e3, t->msm_h * 1e3, t->sum_l * 1e3, t->sum_a * 1e3, t->sum_b_g1 * 1e3,
               t->sum_b_g2 * 1e3);
    }
    cz_srs_destroy(srs);
    cz_device_destroy(device);
    cz_witness_done(&witness);
    cz_r1cs_destroy(r1cs);
}

int main(int argc, char **argv) {
    const char *c1 = NULL;
    unsigned partition = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--c1") == 0) c1 = argv[i + 1];
        if (strcmp(argv[i], "--runs") == 0) runs = (int)strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--residents") == 0) residents_gib = strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--full") == 0) full = argv[i + 1][0] == '1';
        if (strcmp(argv[i], "--spin") == 0) spin = argv[i + 1][0] == '1';
    }
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--partition") == 0) partition = (unsigned)strtoul(argv[i + 1], NULL, 10);
    if (partition >= 1 && partition <= 8) {
        bench_partition(c1, partition);
        return 0;
    }
    if (runs < 1 || runs > MAX_RUNS) return 2;
    struct cz_error err = {0};
    struct cz_device *device;
    const struct cz_gpu_options o = {.workers = 1, .residents = (size_t)16 << 30};
    check(cz_gpu_create(&device, &o, NULL, &err), "device", &err);
    dev = (struct cz_cuda_device *)device;
    check(cz_cuda_take(&w, dev->cuda, &err), "worker", &err);
    bench_eval(c1);
    /* On what the evaluation left: values of a real witness, or random ones. */
    bench_h();
    cz_cuda_give(w);
    cz_device_destroy(device);
    return 0;
}
