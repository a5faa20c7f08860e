/*
 * Whether a worker's memory is enough for the sums of a partition, whatever is resident: the sizes that partition.c
 * chooses for the circuits and cards that matter, and a small partition on a runtime without a GPU (tests/fake_cuda).
 */

#include "fake_cuda/fake_cuda.h"

#include "base/bytes.h"
#include "compute/cuda/partition.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"
#include "filecoin/input.h"
#include "support.h"

#include <string.h>

#define GIB ((size_t)1 << 30)
/* Scalar and index of an element of a list. */
#define LIST_BYTES 36
/* H, then the sums of bits. */
#define VECTORS (1 + CZ_CUDA_SUMS_OF_BITS)

/* Multiprocessors: fewer than any card has that a 32 GiB partition fits into, those of an H200, more than any has. */
static const int multiprocessors[] = {32, 132, 192};

/* An SRS as srs.c counts it, without its points; elements[i]: of list i. */
struct shape {
    struct cz_cuda_srs srs;
    struct cz_r1cs *r1cs;
    size_t n, elements[3];
};

static void shape_make(struct shape *s, enum cz_circuit_kind kind, const char *sector) {
    struct cz_error err = {0};
    memset(s, 0, sizeof *s);
    if (cz_input_circuit_build(&s->r1cs, kind, cz_sector_by_name(sector), &err) != CZ_OK) fail_msg("%s", err.detail);
    struct cz_cuda_density *density = s->srs.density;
    const size_t num_aux = s->r1cs->num_aux, words = (num_aux + 63) / 64;
    uint64_t *in = cz_calloc(((size_t)s->r1cs->num_inputs + 63) / 64, 8);
    for (int i = 1; i < 3; i++) density[i].mask = cz_calloc(words + 1, 8);
    assert_true(in && density[1].mask && density[2].mask);
    cz_r1cs_density(s->r1cs, density[1].mask, density[2].mask, in);
    density[1].first = s->r1cs->num_inputs;
    density[2].first = cz_device_popcount(in, s->r1cs->num_inputs);
    cz_free(in);
    s->elements[0] = num_aux - s->r1cs->num_bits;
    for (int i = 1; i < 3; i++) {
        s->elements[i] = density[i].first;
        for (size_t k = 0; k < words; k++)
            s->elements[i] += (size_t)__builtin_popcountll(density[i].mask[k] & ~s->r1cs->aux_is_bit[k]);
    }
    s->n = (size_t)1 << cz_r1cs_domain_log2(s->r1cs);
    s->srs.circuit.num_aux = s->r1cs->num_aux;
    s->srs.h = (struct cz_cuda_vector){.group = CZ_CUDA_G1, .n = s->n - 1};
    for (unsigned i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++) {
        const struct cz_cuda_density *d = &density[cz_cuda_list_of(i)];
        s->srs.vector[i].group = i == CZ_CUDA_SUM_B_G2 ? CZ_CUDA_G2 : CZ_CUDA_G1;
        s->srs.vector[i].n = d->mask ? d->first + cz_device_popcount(d->mask, num_aux) : num_aux;
    }
}

static void shape_done(struct shape *s) {
    for (int i = 1; i < 3; i++) cz_free(s->srs.density[i].mask);
    cz_r1cs_destroy(s->r1cs);
}

/* resident: a bit of each vector. False: something is streamed. */
static bool place(struct shape *s, unsigned resident) {
    s->srs.h.d_point = resident & 1 ? &s->srs : NULL;
    for (unsigned i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++)
        s->srs.vector[i].d_point = resident >> (1 + i) & 1 ? &s->srs : NULL;
    for (int i = 0; i < 3; i++) s->srs.list[i].n = s->elements[i];
    return resident + 1 == 1u << VECTORS;
}

/* In how many parts an MSM of n points is done in `room` bytes. */
static size_t parts(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t beside, size_t room) {
    size_t least, best;
    const size_t part = cz_cuda_partition_part(info, group, n, beside, room);
    if (n == 0) return 0;
    cz_cuda_msm_bytes(&least, &best, info, group, part);
    if (beside) least += cz_cuda_rounded(part, 32) + cz_cuda_rounded(part, 4);
    if (least == 0 || least > room) fail_msg("%zu of %zu points take %zu MiB of %zu", part, n, least >> 20, room >> 20);
    return (n + part - 1) / part;
}

/* The blocks of a streamed vector: they fit into their buffer, their sums into the room beside. */
static void check_blocks(struct shape *s, const struct cz_cuda_info *info, unsigned sum, size_t buffer, size_t room) {
    const struct cz_cuda_vector *v = &s->srs.vector[sum];
    const size_t size = cz_cuda_point_bytes(v->group), elements = s->elements[cz_cuda_list_of(sum)];
    struct cz_cuda_block block;
    size_t aux0 = 0, base0 = 0;
    s->srs.list[cz_cuda_list_of(sum)].n = 0; /* there is no list to be searched */
    while (cz_cuda_block_next(&block, &s->srs, sum, &aux0, &base0, buffer / size)) {
        assert_true(block.bases * size <= buffer);
        assert_true(cz_cuda_bitsum_bytes(info, v->group, block.aux, 0) <= room);
        assert_true(parts(info, v->group, block.bases < elements ? block.bases : elements, LIST_BYTES, room) <= 1);
    }
}

/* Every sum of a partition, in a worker of so many bytes; most: parts of an MSM. */
static size_t check_sums(struct shape *s, unsigned resident, size_t worker, size_t witness, int sms, bool blocks) {
    const struct cz_cuda_info info = {.sms = sms};
    const size_t h = cz_cuda_rounded(s->n, 32);
    size_t most = 0, buffer = 0;
    assert_true(worker >= witness + 3 * h);
    size_t room = worker - witness - h;
    const bool all = place(s, resident);
    if (!all) {
        buffer = cz_cuda_partition_buffer(&info, &s->srs, room);
        if (!buffer) fail_msg("no buffers: domain %zu, residents %x, %zu MiB", s->n, resident, room >> 20);
        room -= 2 * cz_cuda_rounded(buffer, 1);
    }
    if (resident & 1)
        most = parts(&info, CZ_CUDA_G1, s->n - 1, 0, room);
    else
        assert_true(parts(&info, CZ_CUDA_G1, buffer / 96 < s->n ? buffer / 96 : s->n, 0, room) == 1);
    if (all) room += h;
    for (unsigned i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++) {
        const struct cz_cuda_vector *v = &s->srs.vector[i];
        if (!v->d_point) {
            if (blocks) check_blocks(s, &info, i, buffer, room);
            continue;
        }
        const size_t n = parts(&info, v->group, s->elements[cz_cuda_list_of(i)], LIST_BYTES, room);
        assert_true(cz_cuda_bitsum_bytes(&info, v->group, s->srs.circuit.num_aux, 0) <= room);
        if (n > most) most = n;
    }
    return most;
}

/* The least room that there are buffers for: the bases of the many inputs of a window PoSt fit into them. */
static void smallest_buffer(void **state) {
    (void)state;
    const struct cz_cuda_info info = {.sms = multiprocessors[1]};
    struct shape s;
    size_t none = 0, room = 4 * GIB;
    fake_cuda_reset();
    shape_make(&s, CZ_CIRCUIT_WINDOW, "32GiB");
    assert_false(place(&s, 0));
    while (room - none > 1) {
        const size_t middle = none + (room - none) / 2;
        if (cz_cuda_partition_buffer(&info, &s.srs, middle))
            room = middle;
        else
            none = middle;
    }
    const size_t buffer = cz_cuda_partition_buffer(&info, &s.srs, room);
    assert_true(buffer >= (s.srs.density[1].first + 64) * 96 && buffer < (size_t)16 << 20);
    for (unsigned i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++)
        check_blocks(&s, &info, i, buffer, room - 2 * cz_cuda_rounded(buffer, 1));
    shape_done(&s);
}

/* As a plan says by name what is where. */
static unsigned residents_of(const struct cz_gpu_plan *p) {
    static const char *const name[VECTORS] = {"H and its index", "L", "A", "B in G1", "B in G2"};
    unsigned resident = 0;
    for (size_t i = 0; i < p->num_items; i++)
        for (unsigned k = 0; k < VECTORS; k++)
            if (strcmp(p->item[i].name, name[k]) == 0 && p->item[i].place == CZ_GPU_RESIDENT) resident |= 1u << k;
    return resident;
}

/*
 * The worker that a plan gives; then its least, and the 26 GiB of the daemon's, with any vectors resident: another
 * circuit may have taken the room.
 */
static void circuit(void **state) {
    const enum cz_circuit_kind kind = (enum cz_circuit_kind)(uintptr_t)*state;
    static const unsigned gib[] = {16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 70, 72, 80, 96, 141};
    struct shape s;
    fake_cuda_reset();
    shape_make(&s, kind, "32GiB");
    size_t least = SIZE_MAX, witness = 0;
    for (size_t i = 0; i < sizeof gib / sizeof *gib; i++) {
        for (unsigned workers = 1; workers <= 2; workers++) {
            struct cz_gpu_plan p;
            if (cz_gpu_plan_make(&p, s.r1cs, gib[i] * GIB, workers, NULL) != CZ_OK) continue;
            witness = p.witness;
            least = p.witness + (p.vectors > p.sums_least ? p.vectors : p.sums_least);
            for (size_t k = 0; k < sizeof multiprocessors / sizeof *multiprocessors; k++) {
                const size_t n = check_sums(&s, residents_of(&p), p.worker, p.witness, multiprocessors[k], k == 1);
                assert_true(n <= (gib[i] == 141 ? 1 : 4));
            }
        }
    }
    assert_true(least != SIZE_MAX);
    for (unsigned resident = 0; resident < 1u << VECTORS; resident++)
        for (size_t k = 0; k < sizeof multiprocessors / sizeof *multiprocessors; k++)
            for (int i = 0; i < 2; i++)
                assert_true(check_sums(&s, resident, i ? 26 * GIB : least, witness, multiprocessors[k], false) <= 4);
    shape_done(&s);
}

/* Launches of a partition with everything resident and this much for the worker; 0: it says that it does not fit. */
static unsigned launches(struct shape *s, const struct cz_srs_view *view, const struct cz_witness *witness,
                         size_t worker) {
    const size_t residents = GIB;
    const struct cz_gpu_options o = {
        .workers = 1, .vram_limit = residents + worker, .residents = residents, .pinned = (size_t)4 << 20};
    struct cz_device *dev = NULL;
    struct cz_srs *srs = NULL;
    struct cz_partition_sums sums;
    struct cz_error err = {0};
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
    struct cz_cuda *cuda = ((struct cz_cuda_device *)dev)->cuda;
    const size_t room = cz_cuda_resident_room(cuda);
    if (cz_srs_create(&srs, dev, s->r1cs, view, &err) != CZ_OK) fail_msg("%s", err.detail);
    /* What the SRS says that it takes is what has gone, but for the blocks' rounding. */
    const size_t gone = room - cz_cuda_resident_room(cuda), vram = cz_gpu_srs_vram(dev, srs);
    if (vram > gone || gone - vram > 32 * CZ_CUDA_GRAIN) fail_msg("%zu bytes, not %zu", vram, gone);
    assert_true(cz_srs_bytes(srs) > vram);
    assert_non_null(((struct cz_cuda_srs *)srs)->vector[CZ_CUDA_SUM_B_G2].d_point);
    const unsigned before = fake_cuda_calls_of("__cudaLaunchKernel");
    const enum cz_status status = cz_device_prove_partition(&sums, NULL, srs, witness, &err);
    const unsigned n = fake_cuda_calls_of("__cudaLaunchKernel") - before;
    if (status != CZ_OK && status != CZ_ERR_BUDGET) fail_msg("%s", err.detail);
    cz_srs_destroy(srs);
    cz_device_destroy(dev);
    return status == CZ_OK ? n : 0;
}

/* What a, b and c take is too little for the MSM of h at once, and enough for it in parts. */
static void partition(void **state) {
    (void)state;
    struct shape s;
    struct cz_witness witness;
    fake_cuda_reset();
    shape_make(&s, CZ_CIRCUIT_UPDATE, "2KiB");
    assert_int_equal(cz_witness_init(&witness, s.r1cs), CZ_OK);
    uint8_t *point = cz_calloc(s.n > s.srs.vector[CZ_CUDA_SUM_L].n ? s.n : s.srs.vector[CZ_CUDA_SUM_L].n, 192);
    const struct cz_srs_view view = {.h = point,
                                     .l = point,
                                     .a = point,
                                     .b_g1 = point,
                                     .b_g2 = point,
                                     .num_h = (uint32_t)s.srs.h.n,
                                     .num_l = (uint32_t)s.srs.vector[CZ_CUDA_SUM_L].n,
                                     .num_a = (uint32_t)s.srs.vector[CZ_CUDA_SUM_A].n,
                                     .num_b = (uint32_t)s.srs.vector[CZ_CUDA_SUM_B_G1].n};
    struct cz_gpu_plan p;
    assert_non_null(point);
    assert_int_equal(cz_gpu_plan_make(&p, s.r1cs, 4 * GIB, 1, NULL), CZ_OK);
    const unsigned whole = launches(&s, &view, &witness, 2 * GIB);
    const unsigned cut = launches(&s, &view, &witness, p.witness + p.vectors);
    print_message("%u launches, %u where MSMs are cut\n", whole, cut);
    assert_true(whole > 0 && cut > whole);
    assert_int_equal(launches(&s, &view, &witness, p.vectors), 0);
    cz_free(point);
    cz_witness_done(&witness);
    shape_done(&s);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        {"porep", circuit, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_POREP},
        {"winning", circuit, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINNING},
        {"window", circuit, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINDOW},
        {"update", circuit, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_UPDATE},
        cmocka_unit_test(smallest_buffer),
        cmocka_unit_test(partition),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
