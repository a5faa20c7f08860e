/* A C1 output as the reference writes it: the keys in its order, no white space. */

#include "base/bytes.h"
#include "base/file.h"
#include "filecoin/graph.h"
#include "filecoin/synth/porep.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#define BUFFER (64u << 10)
#define ROOM 256 /* the longest piece that is put at once: a node, 32·4 + 1 bytes, or the name of a key */

struct writer {
    struct cz_file_writer *file;
    z_stream *gzip; /* NULL: plain */
    enum cz_status status;
    struct cz_error *err;
    struct {
        char text[4]; /* with a comma */
        uint8_t len;
    } byte[256];
    size_t at;
    uint8_t text[BUFFER], packed[BUFFER];
};

/* ---- text ---- */

static void deflate_text(struct writer *w, int flush) {
    z_stream *z = w->gzip;
    int code;
    z->next_in = w->text;
    z->avail_in = (uInt)w->at;
    do {
        z->next_out = w->packed;
        z->avail_out = BUFFER;
        code = deflate(z, flush);
        if (code == Z_STREAM_ERROR) {
            w->status = cz_error_set(w->err, CZ_ERR_INTERNAL, "zlib: %d", code);
            return;
        }
        w->status = cz_file_writer_append(w->file, w->packed, BUFFER - z->avail_out, w->err);
    } while (w->status == CZ_OK && z->avail_out == 0);
}

static void flush_text(struct writer *w, int flush) {
    if (w->status == CZ_OK && w->gzip) {
        deflate_text(w, flush);
    } else if (w->status == CZ_OK) {
        w->status = cz_file_writer_append(w->file, w->text, w->at, w->err);
    }
    w->at = 0;
}

static void make_room(struct writer *w) {
    if (w->at > BUFFER - ROOM) flush_text(w, Z_NO_FLUSH);
}

static void put(struct writer *w, const char *text) {
    const size_t n = strlen(text);
    make_room(w);
    memcpy(w->text + w->at, text, n);
    w->at += n;
}

static void put_number(struct writer *w, uint64_t v) {
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, v);
    put(w, text);
}

static void put_node(struct writer *w, const uint8_t node[32]) {
    make_room(w);
    uint8_t *to = w->text + w->at;
    *to++ = '[';
    for (unsigned i = 0; i < 32; i++) {
        memcpy(to, w->byte[node[i]].text, 4);
        to += w->byte[node[i]].len;
    }
    to[-1] = ']';
    w->at = (size_t)(to - w->text);
}

static void put_bytes_table(struct writer *w) {
    for (unsigned i = 0; i < 256; i++) {
        char text[8];
        const int n = snprintf(text, sizeof text, "%u,", i);
        memcpy(w->byte[i].text, text, 4);
        w->byte[i].len = (uint8_t)n;
    }
}

/* ---- proofs ---- */

static void put_path(struct writer *w, const struct cz_merkle_level *level, uint32_t levels) {
    put(w, "{\"path\":[");
    for (uint32_t l = 0; l < levels; l++) {
        put(w, l ? ",{\"hashes\":[" : "{\"hashes\":[");
        for (uint32_t j = 0; j < level[l].num_siblings; j++) {
            if (j) put(w, ",");
            put_node(w, level[l].sibling[j]);
        }
        put(w, "],\"index\":");
        put_number(w, level[l].index);
        put(w, "}");
    }
    put(w, "]}");
}

/* base: its levels; what comes above them are the sub and the top level. */
static void put_merkle(struct writer *w, const struct cz_merkle_proof *m, uint32_t base) {
    const uint32_t above = m->num_levels - base;
    if (above == 0) {
        put(w, "{\"data\":{\"Single\":{\"root\":");
        put_node(w, m->root);
        put(w, ",\"leaf\":");
        put_node(w, m->leaf);
        put(w, ",\"path\":");
        put_path(w, m->level, base);
        put(w, "}}}");
        return;
    }
    put(w, above == 1 ? "{\"data\":{\"Sub\":{\"base_proof\":" : "{\"data\":{\"Top\":{\"base_proof\":");
    put_path(w, m->level, base);
    for (uint32_t i = 0; i < above; i++) {
        put(w, i == 0 ? ",\"sub_proof\":" : ",\"top_proof\":");
        put_path(w, m->level + base + i, 1);
    }
    put(w, ",\"root\":");
    put_node(w, m->root);
    put(w, ",\"leaf\":");
    put_node(w, m->leaf);
    put(w, "}}}");
}

static void put_columns(struct writer *w, const struct cz_sector_info *sector, const struct cz_column_proof *c,
                        unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        put(w, i ? ",{\"column\":{\"index\":" : "{\"column\":{\"index\":");
        put_number(w, c[i].index);
        put(w, ",\"rows\":[");
        for (uint32_t l = 0; l < sector->layers; l++) {
            if (l) put(w, ",");
            put_node(w, c[i].row[l]);
        }
        put(w, "],\"_h\":null},\"inclusion_proof\":");
        put_merkle(w, &c[i].inclusion, sector->base_levels);
        put(w, "}");
    }
}

/* What is hashed for a label: 37 labels of parents, base ones of this layer, expander ones of the layer before. */
static void put_labeling(struct writer *w, const struct cz_porep_challenge *p, uint32_t layer) {
    const unsigned count = layer == 1 ? CZ_DRG_PARENTS : CZ_DRG_PARENTS + CZ_EXP_PARENTS;
    put(w, "{\"parents\":[");
    for (unsigned i = 0; i < CZ_GRAPH_LABEL_PARENTS; i++) {
        const unsigned j = i % count;
        if (i) put(w, ",");
        put_node(w, j < CZ_DRG_PARENTS ? p->drg[j].row[layer - 1] : p->exp[j - CZ_DRG_PARENTS].row[layer - 2]);
    }
    put(w, "],\"layer_index\":");
    put_number(w, layer);
    put(w, ",\"node\":");
    put_number(w, p->node);
    put(w, "}");
}

static void put_challenge(struct writer *w, const struct cz_sector_info *sector, const struct cz_porep_challenge *p) {
    put(w, "{\"comm_d_proofs\":");
    put_merkle(w, &p->comm_d, p->comm_d.num_levels);
    put(w, ",\"comm_r_last_proof\":");
    put_merkle(w, &p->comm_r_last, sector->base_levels);
    put(w, ",\"replica_column_proofs\":{\"c_x\":");
    put_columns(w, sector, &p->c_x, 1);
    put(w, ",\"drg_parents\":[");
    put_columns(w, sector, p->drg, CZ_DRG_PARENTS);
    put(w, "],\"exp_parents\":[");
    put_columns(w, sector, p->exp, CZ_EXP_PARENTS);
    put(w, "]},\"labeling_proofs\":[");
    for (uint32_t layer = 1; layer <= sector->layers; layer++) {
        if (layer > 1) put(w, ",");
        put_labeling(w, p, layer);
    }
    put(w, "],\"encoding_proof\":");
    put_labeling(w, p, sector->layers);
    put(w, "}");
}

static void put_c1(struct writer *w, const struct cz_c1 *c1) {
    const struct cz_sector_info *sector = cz_registered_seal_sector(c1->proof);
    const struct cz_porep_challenge *p = c1->challenge;
    put(w, "{\"registered_proof\":\"");
    put(w, cz_registered_seal_name(c1->proof));
    put(w, "\",\"vanilla_proofs\":{\"StackedDrg"); /* the size decides; the key is V1 for every version */
    put(w, sector->name);
    put(w, "V1\":[");
    for (uint32_t k = 0; k < c1->num_partitions; k++) {
        put(w, k ? ",[" : "[");
        for (uint32_t i = 0; i < c1->challenges_per_partition; i++) {
            if (i) put(w, ",");
            put_challenge(w, sector, p++);
        }
        put(w, "]");
    }
    const struct {
        const char *key;
        const uint8_t *value;
    } last[] = {{"]},\"comm_r\":", c1->comm_r},
                {",\"comm_d\":", c1->comm_d},
                {",\"replica_id\":", c1->replica_id},
                {",\"seed\":", c1->seed},
                {",\"ticket\":", c1->ticket}};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        put(w, last[i].key);
        put_node(w, last[i].value);
    }
    put(w, "}");
}

static bool ends_in_gz(const char *path) {
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

enum cz_status cz_synth_porep_write(const char *path, const struct cz_c1 *c1, struct cz_error *err) {
    z_stream z = {0};
    struct writer *w = cz_calloc(1, sizeof *w);
    if (!w) return cz_error_set(err, CZ_ERR_MEMORY, "%s: out of memory", path);
    w->err = err;
    put_bytes_table(w);
    /* Random digits: more effort saves little. 16: with gzip's header, which has no time and no name. */
    if (ends_in_gz(path)) {
        if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
            cz_free(w);
            return cz_error_set(err, CZ_ERR_MEMORY, "%s: out of memory", path);
        }
        w->gzip = &z;
    }
    enum cz_status status = w->status = cz_file_writer_create(&w->file, path, err);
    if (status == CZ_OK) {
        put_c1(w, c1);
        flush_text(w, Z_FINISH);
        status = w->status;
        if (status == CZ_OK) {
            status = cz_file_writer_commit(w->file, err);
        } else {
            cz_file_writer_abort(w->file);
        }
    }
    if (w->gzip) (void)deflateEnd(&z);
    cz_free(w);
    return status;
}
