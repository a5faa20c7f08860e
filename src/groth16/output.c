#include "groth16/output.h"

#include "base/bytes.h"
#include "base/time.h"

#include <openssl/evp.h>
#include <pthread.h>

#define BLOCKS 4

enum { HASH, WRITE, STAGES };

struct cz_output {
    struct cz_file_writer *file;
    uint8_t *memory;
    size_t memory_size;
    EVP_MD_CTX *hash; /* or NULL */
    uint8_t *block[BLOCKS];
    size_t block_bytes, len[BLOCKS];

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved;
    uint64_t put, done[STAGES]; /* blocks so far */
    bool end;                   /* no more blocks come */
    bool failed;
    struct cz_error error;

    pthread_t thread[STAGES];
    unsigned started;
    uint64_t bytes; /* put */
    double wait, busy[STAGES];
};

/* What both threads do with a block. */

static enum cz_status hash_block(struct cz_output *o, const uint8_t *data, size_t len, struct cz_error *err) {
    if (!o->hash || EVP_DigestUpdate(o->hash, data, len) == 1) return CZ_OK;
    return cz_error_set(err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
}

static enum cz_status write_block(struct cz_output *o, const uint8_t *data, size_t len, struct cz_error *err) {
    if (o->file) return cz_file_writer_append(o->file, data, len, err);
    if (len > o->memory_size) return cz_error_set(err, CZ_ERR_INTERNAL, "setup: more bytes than were counted");
    memcpy(o->memory, data, len);
    o->memory += len;
    o->memory_size -= len;
    return CZ_OK;
}

static void run_stage(struct cz_output *o, int stage) {
    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->done[stage] == o->put && !o->end && !o->failed) pthread_cond_wait(&o->moved, &o->lock);
        if (o->done[stage] == o->put || o->failed) break;
        const size_t b = o->done[stage] % BLOCKS, len = o->len[b];
        pthread_mutex_unlock(&o->lock);
        struct cz_error err = {0};
        const uint64_t start = cz_time_now_ns();
        enum cz_status status = (stage == HASH ? hash_block : write_block)(o, o->block[b], len, &err);
        const double seconds = cz_time_since(start);
        pthread_mutex_lock(&o->lock);
        o->busy[stage] += seconds;
        o->done[stage]++;
        if (status != CZ_OK && !o->failed) {
            o->failed = true;
            o->error = err;
        }
        pthread_cond_broadcast(&o->moved);
    }
    pthread_mutex_unlock(&o->lock);
}
static void *hash_thread(void *ctx) {
    run_stage(ctx, HASH);
    return NULL;
}
static void *write_thread(void *ctx) {
    run_stage(ctx, WRITE);
    return NULL;
}

static void join(struct cz_output *o) {
    pthread_mutex_lock(&o->lock);
    o->end = true;
    pthread_cond_broadcast(&o->moved);
    pthread_mutex_unlock(&o->lock);
    while (o->started) pthread_join(o->thread[--o->started], NULL);
}

static void release(struct cz_output *o) {
    for (int i = 0; i < BLOCKS; i++) cz_free(o->block[i]);
    EVP_MD_CTX_free(o->hash);
    cz_file_writer_abort(o->file);
    pthread_cond_destroy(&o->moved);
    pthread_mutex_destroy(&o->lock);
    cz_free(o);
}

enum cz_status cz_output_create(struct cz_output **out, const char *path, uint8_t *memory, size_t size, bool hash,
                                size_t block_bytes, struct cz_error *err) {
    struct cz_output *o = cz_calloc(1, sizeof *o);
    if (!o) return cz_error_set(err, CZ_ERR_MEMORY, "setup: no memory for blocks of points");
    o->memory = memory;
    o->memory_size = size;
    o->block_bytes = block_bytes;
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->moved, NULL);
    if (hash) o->hash = EVP_MD_CTX_new();
    bool ok = !hash || (o->hash && EVP_DigestInit_ex(o->hash, EVP_sha256(), NULL) == 1);
    for (int i = 0; i < BLOCKS; i++) {
        o->block[i] = cz_malloc_array(block_bytes, 1);
        ok = ok && o->block[i];
    }
    enum cz_status status = ok ? CZ_OK : cz_error_set(err, CZ_ERR_MEMORY, "setup: no memory for blocks of points");
    if (status == CZ_OK && path) status = cz_file_writer_create(&o->file, path, err);
    static void *(*const body[STAGES])(void *) = {hash_thread, write_thread};
    while (status == CZ_OK && o->started < STAGES) {
        if (pthread_create(&o->thread[o->started], NULL, body[o->started], o) != 0)
            status = cz_error_set(err, CZ_ERR_MEMORY, "setup: no thread for the output");
        else
            o->started++;
    }
    if (status != CZ_OK) {
        cz_output_abort(o);
        return status;
    }
    *out = o;
    return CZ_OK;
}

uint8_t *cz_output_block(struct cz_output *o) {
    const uint64_t start = cz_time_now_ns();
    pthread_mutex_lock(&o->lock);
    while (!o->failed && (o->put >= o->done[HASH] + BLOCKS || o->put >= o->done[WRITE] + BLOCKS))
        pthread_cond_wait(&o->moved, &o->lock);
    uint8_t *block = o->failed ? NULL : o->block[o->put % BLOCKS];
    pthread_mutex_unlock(&o->lock);
    o->wait += cz_time_since(start);
    return block;
}

enum cz_status cz_output_put(struct cz_output *o, size_t len, struct cz_error *err) {
    enum cz_status status = CZ_OK;
    pthread_mutex_lock(&o->lock);
    if (o->failed) {
        if (err) *err = o->error;
        status = o->error.status;
    } else {
        o->len[o->put % BLOCKS] = len;
        o->put++;
        o->bytes += len;
        pthread_cond_broadcast(&o->moved);
    }
    pthread_mutex_unlock(&o->lock);
    return status;
}

enum cz_status cz_output_append(struct cz_output *o, const void *data, size_t len, struct cz_error *err) {
    const uint8_t *from = data;
    enum cz_status status = CZ_OK;
    while (len > 0 && status == CZ_OK) {
        const size_t n = len < o->block_bytes ? len : o->block_bytes;
        uint8_t *block = cz_output_block(o);
        if (block) memcpy(block, from, n);
        status = cz_output_put(o, n, err);
        from += n;
        len -= n;
    }
    return status;
}

enum cz_status cz_output_finish(struct cz_output *o, struct cz_output_result *result, struct cz_error *err) {
    struct cz_output_result r = {.bytes = o->bytes, .wait = o->wait};
    unsigned length = 0;
    const uint64_t start = cz_time_now_ns();
    join(o);
    r.wait += cz_time_since(start);
    r.hash = o->busy[HASH];
    r.write = o->busy[WRITE];
    enum cz_status status = o->failed ? o->error.status : CZ_OK;
    if (o->failed && err) *err = o->error;
    if (status == CZ_OK && o->hash && EVP_DigestFinal_ex(o->hash, r.sha256, &length) != 1)
        status = cz_error_set(err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
    if (status == CZ_OK && o->file) {
        const uint64_t sync = cz_time_now_ns();
        struct cz_file_writer *file = o->file;
        o->file = NULL; /* commit frees it */
        status = cz_file_writer_commit(file, err);
        r.sync = cz_time_since(sync);
    }
    if (status == CZ_OK) *result = r;
    release(o);
    return status;
}

void cz_output_abort(struct cz_output *o) {
    if (!o) return;
    pthread_mutex_lock(&o->lock);
    if (!o->failed) {
        o->failed = true;
        (void)cz_error_set(&o->error, CZ_ERR_INTERNAL, "setup: given up");
    }
    pthread_mutex_unlock(&o->lock);
    join(o);
    release(o);
}
