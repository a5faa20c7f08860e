#include "filecoin/graph.h"

#include "base/bytes.h"
#include "hash/sha256.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>

/* ---- base parents: DRSample with buckets ---- */

static inline uint32_t rotl(uint32_t x, unsigned k) {
    return x << k | x >> (32 - k);
}

static inline void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    *a += *b, *d = rotl(*d ^ *a, 16);
    *c += *d, *b = rotl(*b ^ *c, 12);
    *a += *b, *d = rotl(*d ^ *a, 8);
    *c += *d, *b = rotl(*b ^ *c, 7);
}

/* One block of ChaCha8, nonce 0, as rand_chacha has it. OpenSSL's has 20 rounds. */
static void chacha8_block(uint32_t out[16], const uint8_t key[32], uint32_t counter) {
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, [12] = counter};
    for (unsigned i = 0; i < 8; i++) in[4 + i] = cz_load_le32(key + 4 * i);
    uint32_t x[16];
    memcpy(x, in, sizeof x);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned c = 0; c < 4; c++) quarter(&x[c], &x[4 + c], &x[8 + c], &x[12 + c]);
        for (unsigned c = 0; c < 4; c++) quarter(&x[c], &x[4 + (c + 1) % 4], &x[8 + (c + 2) % 4], &x[12 + (c + 3) % 4]);
    }
    for (unsigned i = 0; i < 16; i++) out[i] = x[i] + in[i];
}

/* ceil(log2 v), at least 1. */
static unsigned log2_ceil(uint64_t v) {
    unsigned n = 1;
    while (n < 63 && UINT64_C(1) << n < v) n++;
    return n;
}

void cz_graph_base_parents(uint32_t out[CZ_GRAPH_BASE_PARENTS], const struct cz_graph *g, uint64_t v) {
    const unsigned drawn = CZ_GRAPH_BASE_PARENTS - 1;
    memset(out, 0, CZ_GRAPH_BASE_PARENTS * sizeof *out);
    if (v < 2) return;

    uint8_t key[32];
    uint32_t word[32]; /* two draws of 64 bits for each of five parents */
    memcpy(key, g->drg_seed, sizeof g->drg_seed);
    cz_store_le32(key + sizeof g->drg_seed, (uint32_t)v);
    chacha8_block(word, key, 0);
    chacha8_block(word + 16, key, 1);

    /* Each node stands for five meta nodes; a draw picks a distance in a random power-of-two bucket. */
    const uint64_t meta = v * drawn;
    const unsigned buckets = log2_ceil(meta);
    uint32_t *parent = g->v1_0 ? out : out + 1;
    for (unsigned i = 0; i < drawn; i++) {
        const uint32_t *w = word + 4 * i;
        const uint64_t bucket = (w[0] | (uint64_t)w[1] << 32) % buckets + 1;
        const uint64_t largest = meta < UINT64_C(1) << bucket ? meta : UINT64_C(1) << bucket;
        const uint64_t smallest = largest >> 1 > 2 ? largest >> 1 : 2;
        const uint64_t distance = smallest + (w[2] | (uint64_t)w[3] << 32) % (largest - smallest + 1);
        const uint64_t u = (meta - distance) / drawn;
        parent[i] = (uint32_t)(u == v ? v - 1 : u);
    }
    out[g->v1_0 ? drawn : 0] = (uint32_t)(v - 1);
}

/* ---- expander parents: a Feistel permutation ---- */

static enum cz_status openssl_failed(struct cz_error *err) {
    return cz_error_set(err, CZ_ERR_INTERNAL, "OpenSSL gives no BLAKE2b or ChaCha20");
}

/* Round function: the first eight bytes of BLAKE2b-512(x ‖ key), big endian all. */
static bool feistel_round(uint64_t *out, EVP_MD_CTX *ctx, const EVP_MD *md, uint64_t x, uint64_t key) {
    uint8_t in[16], digest[64];
    cz_store_be64(in, x);
    cz_store_be64(in + 8, key);
    if (EVP_DigestInit_ex(ctx, md, NULL) != 1 || EVP_DigestUpdate(ctx, in, sizeof in) != 1 ||
        EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
        return false;
    *out = cz_load_be64(digest);
    return true;
}

static bool feistel_permute(uint64_t *out, const struct cz_graph *g, EVP_MD_CTX *ctx, const EVP_MD *md,
                            uint64_t index) {
    const uint64_t mask = (UINT64_C(1) << g->half_bits) - 1;
    do { /* cycle walking: until the result is in the domain */
        uint64_t left = index >> g->half_bits, right = index & mask;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t f;
            if (!feistel_round(&f, ctx, md, right, g->key[i])) return false;
            uint64_t next = left ^ (f & mask);
            left = right;
            right = next;
        }
        index = left << g->half_bits | right;
    } while (index >= g->nodes * CZ_GRAPH_EXP_PARENTS);
    *out = index;
    return true;
}

enum cz_status cz_graph_exp_parents(uint32_t out[CZ_GRAPH_EXP_PARENTS], const struct cz_graph *g, uint64_t v,
                                    struct cz_error *err) {
    uint32_t parent[CZ_GRAPH_EXP_PARENTS];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_MD *md = EVP_MD_fetch(NULL, "BLAKE2B-512", NULL);
    bool ok = ctx && md;
    for (unsigned j = 0; ok && j < CZ_GRAPH_EXP_PARENTS; j++) {
        uint64_t x = 0;
        ok = feistel_permute(&x, g, ctx, md, v * CZ_GRAPH_EXP_PARENTS + j);
        /* Version 1.0 kept 32 bits before the division. */
        parent[j] = g->v1_0 ? (uint32_t)x / CZ_GRAPH_EXP_PARENTS : (uint32_t)(x / CZ_GRAPH_EXP_PARENTS);
    }
    EVP_MD_free(md);
    EVP_MD_CTX_free(ctx);
    if (!ok) return openssl_failed(err);
    memcpy(out, parent, sizeof parent);
    return CZ_OK;
}

void cz_graph_init(struct cz_graph *g, uint64_t nodes, const uint8_t porep_id[32], bool v1_0) {
    struct cz_sha256 s;
    uint8_t digest[32];
    *g = (struct cz_graph){.nodes = nodes, .v1_0 = v1_0, .half_bits = 1};
    cz_sha256_init(&s);
    cz_sha256_update(&s, "Filecoin_DRSample", 17);
    cz_sha256_update(&s, porep_id, 32);
    cz_sha256_final(&s, digest);
    memcpy(g->drg_seed, digest, sizeof g->drg_seed);
    cz_sha256_init(&s);
    cz_sha256_update(&s, "Filecoin_Feistel", 16);
    cz_sha256_update(&s, porep_id, 32);
    cz_sha256_final(&s, digest);
    for (unsigned i = 0; i < 3; i++) g->key[i] = cz_load_le64(digest + 8 * i);
    while (UINT64_C(1) << 2 * g->half_bits < nodes * CZ_GRAPH_EXP_PARENTS) g->half_bits++;
}

void cz_graph_init_seal(struct cz_graph *g, enum cz_registered_seal proof) {
    uint8_t porep_id[32];
    cz_registered_seal_porep_id(porep_id, proof);
    const uint64_t nodes = UINT64_C(1) << cz_registered_seal_sector(proof)->nodes_log2;
    cz_graph_init(g, nodes, porep_id, cz_registered_seal_version(proof) == CZ_SEAL_V1);
}

/* ---- labels ---- */

void cz_graph_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer, uint64_t node,
                    const uint8_t (*parent)[32], unsigned count) {
    struct cz_sha256 s;
    uint8_t prefix[64] = {0};
    memcpy(prefix, replica_id, 32);
    cz_store_be32(prefix + 32, layer);
    cz_store_be64(prefix + 36, node);
    cz_sha256_init(&s);
    cz_sha256_update(&s, prefix, sizeof prefix);
    for (unsigned done = 0; count && done < CZ_GRAPH_LABEL_PARENTS;) {
        unsigned n = CZ_GRAPH_LABEL_PARENTS - done < count ? CZ_GRAPH_LABEL_PARENTS - done : count;
        cz_sha256_update(&s, parent, n * 32);
        done += n;
    }
    cz_sha256_final(&s, out);
    out[31] &= 0x3f;
}

/* ---- challenges ---- */

/* The little-endian number in d, mod (nodes - 1), plus 1. */
static uint64_t reduce(const uint8_t d[32], uint64_t nodes) {
    unsigned __int128 rest = 0;
    for (unsigned i = 4; i-- > 0;) rest = (rest << 64 | cz_load_le64(d + 8 * i)) % (nodes - 1);
    return (uint64_t)rest + 1;
}

static uint64_t hashed_challenge(const struct cz_challenge_seed *c, uint32_t j) {
    static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
    const bool ni = c->version == CZ_SEAL_NON_INTERACTIVE;
    struct cz_sha256 s;
    uint8_t number[4], digest[32];
    cz_store_le32(number, j);
    cz_sha256_init(&s);
    if (ni) cz_sha256_update(&s, tag, sizeof tag - 1);
    cz_sha256_update(&s, c->replica_id, 32);
    cz_sha256_update(&s, ni ? c->comm_r : c->seed, 32);
    cz_sha256_update(&s, number, sizeof number);
    cz_sha256_final(&s, digest);
    return reduce(digest, c->nodes);
}

/* BLAKE2b-256 keyed with `tag` over a ‖ b. */
static bool blake2b_keyed(uint8_t out[32], const char *tag, const uint8_t a[32], const uint8_t b[32]) {
    size_t size = 32, len = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size), OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
    EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
    bool ok = ctx && EVP_MAC_init(ctx, (const uint8_t *)tag, strlen(tag), params) == 1 &&
              EVP_MAC_update(ctx, a, 32) == 1 && EVP_MAC_update(ctx, b, 32) == 1 &&
              EVP_MAC_final(ctx, out, &len, 32) == 1 && len == 32;
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    return ok;
}

/* n bytes of ChaCha20's key stream from byte `at` on; n <= 64, within one block. */
static bool chacha20_bytes(uint8_t *out, size_t n, const uint8_t key[32], uint64_t at) {
    static const uint8_t zero[64];
    static const char nonce[12] = "synth-porep"; /* the last byte is 0 */
    uint8_t iv[16], block[64];
    int len = 0;
    cz_store_le32(iv, (uint32_t)(at / 64)); /* OpenSSL: counter, then nonce */
    memcpy(iv + 4, nonce, sizeof nonce);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    bool ok = ctx && EVP_EncryptInit_ex(ctx, EVP_chacha20(), NULL, key, iv) == 1 &&
              EVP_EncryptUpdate(ctx, block, &len, zero, 64) == 1 && len == 64;
    EVP_CIPHER_CTX_free(ctx);
    if (ok) memcpy(out, block + at % 64, n);
    return ok;
}

static bool synthetic_challenge(uint64_t *out, const uint8_t generation_key[32], uint32_t n, uint64_t nodes) {
    uint8_t digest[32];
    if (!chacha20_bytes(digest, 32, generation_key, UINT64_C(32) * n)) return false;
    *out = reduce(digest, nodes);
    return true;
}

static bool generation_key(uint8_t out[32], const struct cz_challenge_seed *c) {
    return blake2b_keyed(out, "filecoin.io|PoRep|1|Synthetic|1|Generation", c->replica_id, c->comm_r);
}

enum cz_status cz_graph_synthetic_challenge(uint64_t *out, uint32_t n, const struct cz_challenge_seed *seed,
                                            struct cz_error *err) {
    uint8_t key[32];
    if (!generation_key(key, seed) || !synthetic_challenge(out, key, n, seed->nodes)) return openssl_failed(err);
    return CZ_OK;
}

enum cz_status cz_graph_challenges(uint64_t *out, uint32_t first, uint32_t count, const struct cz_challenge_seed *seed,
                                   struct cz_error *err) {
    if (seed->version != CZ_SEAL_SYNTHETIC) {
        for (uint32_t i = 0; i < count; i++) out[i] = hashed_challenge(seed, first + i);
        return CZ_OK;
    }
    const uint32_t most = UINT32_C(1) << 18;
    uint32_t total = seed->num_synthetic;
    if (!total) total = seed->nodes < most ? (uint32_t)seed->nodes : most;
    uint8_t generation[32], selection[32];
    if (!generation_key(generation, seed) ||
        !blake2b_keyed(selection, "filecoin.io|PoRep|1|Synthetic|1|Selection", seed->replica_id, seed->seed))
        return openssl_failed(err);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t word[4];
        if (!chacha20_bytes(word, 4, selection, UINT64_C(4) * (first + i)) ||
            !synthetic_challenge(&out[i], generation, cz_load_le32(word) % total, seed->nodes))
            return openssl_failed(err);
    }
    return CZ_OK;
}
