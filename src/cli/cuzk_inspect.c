/* cuzk inspect: says what a .params, .vk, .prf, proof or C1 file holds. The content decides, not the name. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/file.h"
#include "curve/encoding.h"
#include "groth16/params.h"
#include "groth16/verify.h"

#include <ctype.h>

static bool ends_with(const char *path, const char *suffix) {
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcasecmp(path + n - m, suffix) == 0;
}

static void print_g1(const char *name, const struct cz_g1_affine *p) {
    uint8_t b[CZ_G1_COMPRESSED];
    cz_g1_encode(b, p);
    printf("%s", name);
    cz_print_json_hex(stdout, b, sizeof b);
}

static void print_g2(const char *name, const struct cz_g2_affine *p) {
    uint8_t b[CZ_G2_COMPRESSED];
    cz_g2_encode(b, p);
    printf("%s", name);
    cz_print_json_hex(stdout, b, sizeof b);
}

static void print_key(const struct cz_common *common, const struct cz_vk *vk) {
    print_g1(common->json ? ",\"alpha_g1\":" : "alpha_g1 ", &vk->alpha_g1);
    print_g1(common->json ? ",\"beta_g1\":" : "\nbeta_g1  ", &vk->beta_g1);
    print_g2(common->json ? ",\"beta_g2\":" : "\nbeta_g2  ", &vk->beta_g2);
    print_g2(common->json ? ",\"gamma_g2\":" : "\ngamma_g2 ", &vk->gamma_g2);
    print_g1(common->json ? ",\"delta_g1\":" : "\ndelta_g1 ", &vk->delta_g1);
    print_g2(common->json ? ",\"delta_g2\":" : "\ndelta_g2 ", &vk->delta_g2);
    if (!common->json) printf("\n");
}

static enum cz_status inspect_params(const struct cz_common *common, const char *path, struct cz_error *err) {
    struct cz_params p;
    enum cz_status status = cz_params_open(&p, path, NULL, err);
    if (status != CZ_OK) return status;
    if (common->json) {
        printf("{\"kind\":\"params\",\"bytes\":%zu,\"inputs\":%u,\"h\":%u,\"l\":%u,\"a\":%u,\"b\":%u", p.map.size,
               p.vk.num_ic, p.view.num_h, p.view.num_l, p.view.num_a, p.view.num_b);
    } else {
        printf("Groth16 parameters, %zu bytes: %u inputs (with ONE), h %u, l %u, a %u, b %u points\n", p.map.size,
               p.vk.num_ic, p.view.num_h, p.view.num_l, p.view.num_a, p.view.num_b);
    }
    print_key(common, &p.vk);
    if (common->json) printf("}\n");
    cz_params_close(&p);
    return CZ_OK;
}

static enum cz_status inspect_vk(const struct cz_common *common, const char *path, struct cz_error *err) {
    struct cz_vk vk = {0};
    enum cz_status status = cz_vk_read_file(&vk, path, err);
    if (status != CZ_OK) return status;
    printf(common->json ? "{\"kind\":\"vk\",\"bytes\":%zu,\"inputs\":%u"
                        : "Verifying key, %zu bytes: %u inputs (with ONE)\n",
           cz_vk_bytes(vk.num_ic), vk.num_ic);
    print_key(common, &vk);
    if (common->json) printf("}\n");
    cz_vk_done(&vk);
    return CZ_OK;
}

static enum cz_status inspect_prf(const struct cz_common *common, const struct cz_map *map, struct cz_error *err) {
    bool valid = false;
    uint64_t count = 0;
    enum cz_status status = cz_verify_prf(&valid, &count, map->data, map->size, err);
    if (status != CZ_OK) return status;
    printf(common->json ? "{\"kind\":\"prf\",\"bytes\":%zu,\"proofs\":%llu,\"valid\":%s}\n"
                        : "Key, inputs and proofs in one file, %zu bytes: %llu proofs, valid: %s\n",
           map->size, (unsigned long long)count, valid ? "true" : "false");
    return CZ_OK;
}

static enum cz_status inspect_proof(const struct cz_common *common, const struct cz_map *map, struct cz_error *err) {
    size_t n = map->size / CZ_PROOF_BYTES;
    for (size_t k = 0; k < n; k++) {
        struct cz_proof proof;
        enum cz_status status = cz_proof_read(&proof, map->data + k * CZ_PROOF_BYTES, err);
        if (status != CZ_OK) return cz_error_prefix(err, "proof of partition %zu", k), status;
    }
    printf(common->json ? "{\"kind\":\"proof\",\"bytes\":%zu,\"partitions\":%zu"
                        : "Groth16 proof, %zu bytes: %zu partitions, every point in its subgroup\n",
           map->size, n);
    if (common->json) printf("}\n");
    return CZ_OK;
}

static enum cz_status inspect_c1(const struct cz_common *common, const char *path, struct cz_error *err) {
    struct cz_c1 *c1;
    enum cz_status status = cz_c1_parse_file(&c1, path, err);
    if (status != CZ_OK) return status;
    char comm_r[65], comm_d[65], replica_id[65];
    cz_hex_encode(comm_r, c1->comm_r, 32);
    cz_hex_encode(comm_d, c1->comm_d, 32);
    cz_hex_encode(replica_id, c1->replica_id, 32);
    printf(common->json ? "{\"kind\":\"c1\",\"registered_proof\":\"%s\",\"sector_size\":%llu,\"partitions\":%u,"
                          "\"challenges_per_partition\":%u,"
                          "\"comm_r\":\"%s\",\"comm_d\":\"%s\",\"replica_id\":\"%s\"}\n"
                        : "C1 output of %s, sector of %llu bytes: %u partitions of %u challenges\ncomm_r     "
                          "%s\ncomm_d     %s\nreplica_id %s\n",
           cz_registered_seal_name(c1->proof), (unsigned long long)c1->sector_size, c1->num_partitions,
           c1->challenges_per_partition, comm_r, comm_d, replica_id);
    cz_c1_destroy(c1);
    return CZ_OK;
}

static bool looks_like_json(const struct cz_map *map) {
    if (map->size >= 2 && map->data[0] == 0x1f && map->data[1] == 0x8b) return true;
    size_t i = 0;
    while (i < map->size && i < 4096 && isspace(map->data[i])) i++;
    return i < map->size && map->data[i] == '{';
}

static bool looks_like_key(const struct cz_map *map, bool exact) {
    if (map->size < CZ_VK_HEADER_BYTES) return false;
    uint32_t n = cz_load_be32(map->data + 864);
    return n > 0 && n <= CZ_VK_MAX_IC && (exact ? map->size == cz_vk_bytes(n) : map->size > cz_vk_bytes(n));
}

static enum cz_status inspect(const struct cz_common *common, const char *path, struct cz_error *err) {
    struct cz_map map;
    enum cz_status status = cz_map_open(&map, path, err);
    if (status != CZ_OK) return status;
    if (map.size > 0 && map.data[0] == '<') {
        status = cz_error_set(err, CZ_ERR_FORMAT, "%s: this is an HTML page, perhaps an error page saved by a download",
                              path);
    } else if (looks_like_json(&map)) {
        status = inspect_c1(common, path, err);
    } else if (looks_like_key(&map, true)) {
        status = inspect_vk(common, path, err);
    } else if (ends_with(path, ".prf")) {
        status = inspect_prf(common, &map, err);
    } else if (map.size > 0 && map.size % CZ_PROOF_BYTES == 0 && map.size <= 4096 * CZ_PROOF_BYTES &&
               !ends_with(path, ".params")) {
        status = inspect_proof(common, &map, err);
    } else if (ends_with(path, ".params") || looks_like_key(&map, false)) {
        status = inspect_params(common, path, err);
    } else {
        status =
            cz_error_set(err, CZ_ERR_FORMAT, "%s: no .params, .vk, .prf, proof or C1 file (%zu bytes)", path, map.size);
    }
    cz_map_close(&map);
    return status;
}

static int run(int argc, char **argv) {
    struct cz_common common = {0};
    const char *path = NULL;
    size_t words;
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_INSPECT, argc, argv, NULL, 0, &common, &path, 1, &words, &exit_status))
        return exit_status;
    if (words != 1) return cz_command_usage_error(&CZ_COMMAND_INSPECT, "wants one file");
    struct cz_error err = {0};
    enum cz_status status = inspect(&common, path, &err);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_INSPECT, status, &err);
}

const struct cz_command CZ_COMMAND_INSPECT = {
    .name = "inspect",
    .usage = "inspect FILE",
    .about = "Says what a .params, .vk, .prf, proof or C1 file holds.",
    .run = run,
};
