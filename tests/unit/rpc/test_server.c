#include "base/bytes.h"
#include "base/time.h"
#include "rpc/client.h"
#include "rpc/server.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/cz-rpc-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

/* What the handlers do and see. */
struct seen {
    _Atomic(struct cz_rpc_call *) held;
    atomic_int cancelled, released, slow; /* calls of each */
    atomic_bool open;                     /* the slow handler may go on */
    int64_t remaining_ms;
};

static void nap(void) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static bool wait_for(atomic_int *what, int value) {
    for (int i = 0; i < 2500 && atomic_load(what) != value; i++) nap();
    return atomic_load(what) == value;
}

static void echo(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len) {
    ((struct seen *)ctx)->remaining_ms = cz_rpc_call_remaining_ms(call);
    cz_rpc_call_finish(call, CZ_RPC_OK, "ignored", request, len);
}

static void refuse(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len) {
    (void)ctx;
    (void)request;
    (void)len;
    cz_rpc_call_finish(call, CZ_RPC_INVALID_ARGUMENT, "randomness: \xc3\xa9 % wants 32 bytes", NULL, 0);
}

static void *answer_later(void *arg) {
    struct cz_rpc_call *call = arg;
    nap();
    cz_rpc_call_finish(call, CZ_RPC_OK, NULL, "later", 5);
    return NULL;
}

static void later(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len) {
    (void)ctx;
    (void)request;
    pthread_t thread;
    uint8_t *taken = cz_rpc_call_take_request(call);
    assert_true((taken == NULL) == (len == 0));
    cz_free(taken);
    assert_int_equal(pthread_create(&thread, NULL, answer_later, call), 0);
    (void)pthread_detach(thread);
}

static void cancelled(void *ctx) {
    atomic_fetch_add(&((struct seen *)ctx)->cancelled, 1);
}

static void released(void *ctx) {
    atomic_fetch_add(&((struct seen *)ctx)->released, 1);
}

/* Never answered by itself: the test finishes it. */
static void hold(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len) {
    (void)request;
    (void)len;
    struct seen *seen = ctx;
    cz_rpc_call_on_cancel(call, cancelled, released, seen);
    atomic_store(&seen->held, call);
}

static void slow(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len) {
    struct seen *seen = ctx;
    atomic_fetch_add(&seen->slow, 1);
    while (!atomic_load(&seen->open)) nap();
    cz_rpc_call_finish(call, CZ_RPC_OK, NULL, request, len);
}

static const struct cz_rpc_method METHODS[] = {
    {.path = "/test.S/Echo", .handler = echo},
    {.path = "/test.S/Refuse", .handler = refuse},
    {.path = "/test.S/Later", .handler = later},
    {.path = "/test.S/Hold", .handler = hold},
    {.path = "/test.S/Slow", .handler = slow, .slow = true},
};

static struct cz_rpc_server *start_limited(const char *listen, struct seen *seen, size_t max_message,
                                           size_t max_in_flight) {
    const char *const addresses[] = {listen};
    const struct cz_rpc_server_options options = {
        .listen = addresses,
        .n_listen = 1,
        .methods = METHODS,
        .n_methods = sizeof METHODS / sizeof METHODS[0],
        .ctx = seen,
        .max_message = max_message,
        .max_in_flight = max_in_flight,
        .threads = max_in_flight ? 1 : 0, /* one gives a call's bytes back before it takes the next call */
    };
    struct cz_rpc_server *server = NULL;
    struct cz_error err = {0};
    if (cz_rpc_server_create(&server, &options, &err) != CZ_OK) fail_msg("%s", err.detail);
    return server;
}

static struct cz_rpc_server *start(const char *listen, struct seen *seen, size_t max_message) {
    return start_limited(listen, seen, max_message, 0);
}

static struct cz_rpc_client *dial(const struct cz_rpc_server *server) {
    char address[64];
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u", cz_rpc_server_port(server, 0));
    struct cz_rpc_client *client = NULL;
    assert_int_equal(cz_rpc_client_create(&client, address, 0, NULL), CZ_OK);
    return client;
}

static enum cz_rpc_code call_code(struct cz_rpc_client *client, const char *method, const void *data, size_t len,
                                  uint64_t timeout_ms, const char *want_message, const char *want_reply) {
    struct cz_rpc_reply reply;
    struct cz_error err = {0};
    if (cz_rpc_client_call(client, method, data, len, timeout_ms, &reply, &err) != CZ_OK) fail_msg("%s", err.detail);
    if (want_message && !strstr(reply.message, want_message)) fail_msg("%s: %s", method, reply.message);
    if (want_reply) {
        assert_int_equal(reply.len, strlen(want_reply));
        if (reply.len) assert_memory_equal(reply.data, want_reply, reply.len);
    }
    enum cz_rpc_code code = reply.code;
    cz_rpc_reply_done(&reply);
    return code;
}

static void answers(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 0);
    struct cz_rpc_client *client = dial(server);
    assert_int_equal(call_code(client, "/test.S/Echo", "hello", 5, 5000, NULL, "hello"), CZ_RPC_OK);
    assert_true(seen.remaining_ms > 0 && seen.remaining_ms <= 5100);
    assert_int_equal(call_code(client, "/test.S/Echo", "", 0, 0, NULL, ""), CZ_RPC_OK);
    assert_true(seen.remaining_ms == INT64_MAX);
    assert_int_equal(call_code(client, "/test.S/Later", "x", 1, 5000, NULL, "later"), CZ_RPC_OK);
    assert_int_equal(call_code(client, "/test.S/Later", "", 0, 5000, NULL, "later"), CZ_RPC_OK);
    assert_int_equal(call_code(client, "/test.S/Refuse", "", 0, 5000, "randomness: \xc3\xa9 % wants 32 bytes", ""),
                     CZ_RPC_INVALID_ARGUMENT);
    assert_int_equal(call_code(client, "/test.S/None", "", 0, 5000, "unknown method", ""), CZ_RPC_UNIMPLEMENTED);
    static const char *const health = "/grpc.health.v1.Health/Check";
    assert_int_equal(call_code(client, health, "", 0, 5000, NULL, "\x08\x01"), CZ_RPC_OK);
    assert_int_equal(call_code(client, health, "\x0a\x06test.S", 8, 5000, NULL, "\x08\x01"), CZ_RPC_OK);
    assert_int_equal(call_code(client, health, "\x0a\x05test.", 7, 5000, NULL, NULL), CZ_RPC_NOT_FOUND);
    assert_int_equal(call_code(client, health, "\x0a\x7f", 2, 5000, NULL, NULL), CZ_RPC_NOT_FOUND);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

static void large(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 9 << 20);
    struct cz_rpc_client *client = dial(server);
    size_t len = (9 << 20) + 1;
    uint8_t *data = cz_malloc_array(len, 1);
    assert_non_null(data);
    for (size_t i = 0; i < len; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
    struct cz_rpc_reply reply;
    assert_int_equal(cz_rpc_client_call(client, "/test.S/Echo", data, len - 1, 20000, &reply, NULL), CZ_OK);
    assert_int_equal(reply.code, CZ_RPC_OK);
    assert_int_equal(reply.len, len - 1);
    assert_memory_equal(reply.data, data, len - 1);
    cz_rpc_reply_done(&reply);
    /* One byte over the limit is refused, and the server serves on. */
    assert_int_equal(call_code(client, "/test.S/Echo", data, len, 20000, NULL, ""), CZ_RPC_RESOURCE_EXHAUSTED);
    assert_int_equal(call_code(client, "/test.S/Echo", "a", 1, 5000, NULL, "a"), CZ_RPC_OK);
    cz_free(data);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

static void client_goes_away(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 0);
    struct cz_rpc_client *client = dial(server);
    assert_int_equal(call_code(client, "/test.S/Echo", "", 0, 20000, NULL, ""), CZ_RPC_OK); /* connected */
    /* On a busy machine the deadline may pass before the call is seen. */
    for (uint64_t ms = 100; ms < 20000 && !atomic_load(&seen.held); ms *= 3) {
        assert_int_equal(call_code(client, "/test.S/Hold", "", 0, ms, NULL, NULL), CZ_RPC_DEADLINE_EXCEEDED);
        for (int i = 0; i < 250 && !atomic_load(&seen.held); i++) nap();
    }
    assert_non_null(atomic_load(&seen.held));
    assert_true(wait_for(&seen.cancelled, 1));
    struct cz_rpc_call *call = atomic_load(&seen.held);
    assert_true(cz_rpc_call_cancelled(call));
    assert_int_equal(cz_rpc_call_remaining_ms(call), 0);
    assert_non_null(strstr(cz_rpc_call_peer(call), "127.0.0.1"));
    assert_int_equal(atomic_load(&seen.released), 0);
    cz_rpc_call_finish(call, CZ_RPC_OK, NULL, "late", 4); /* harmless */
    assert_true(wait_for(&seen.released, 1));
    assert_int_equal(atomic_load(&seen.cancelled), 1);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

struct background {
    struct cz_rpc_client *client;
    const char *method;
    enum cz_rpc_code code;
    const uint8_t *data;
    size_t len; /* 0: one byte */
};

static void *call_in_background(void *arg) {
    struct background *b = arg;
    b->code =
        call_code(b->client, b->method, b->len ? (const void *)b->data : "s", b->len ? b->len : 1, 20000, NULL, NULL);
    return NULL;
}

/* Slow handlers fill their threads; quick calls are answered all the same. */
static void slow_methods(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 0);
    struct cz_rpc_client *client = dial(server);
    enum { N = 9 };
    pthread_t thread[N];
    struct background b[N];
    for (int i = 0; i < N; i++) {
        b[i] = (struct background){.client = client, .method = "/test.S/Slow", .code = CZ_RPC_UNKNOWN};
        assert_int_equal(pthread_create(&thread[i], NULL, call_in_background, &b[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(call_code(client, "/test.S/Echo", "q", 1, 2000, NULL, "q"), CZ_RPC_OK);
    }
    atomic_store(&seen.open, true);
    for (int i = 0; i < N; i++) {
        (void)pthread_join(thread[i], NULL);
        assert_int_equal(b[i].code, CZ_RPC_OK);
    }
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

/* A sanitizer's allocator keeps what is freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static size_t resident_bytes(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%*u %zu", &pages) != 1) pages = 0;
        (void)fclose(f);
    }
    return pages * 4096;
}

/* Slow calls wait with their requests: those beyond the limit are refused at once, until the bytes are given back. */
static void bytes_in_flight(void **state) {
    (void)state;
    enum { N = 3, ROUNDS = 5, MIB = 1 << 20, EACH = 16 * MIB, LIMIT = N * EACH + 100, KEPT = (ROUNDS - 1) * EACH };
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start_limited("127.0.0.1:0", &seen, LIMIT, LIMIT);
    struct cz_rpc_client *client = dial(server);
    uint8_t *data = cz_calloc(LIMIT, 1);
    assert_non_null(data);
    assert_int_equal(call_code(client, "/test.S/Echo", "a", 1, 5000, NULL, "a"), CZ_RPC_OK);
    size_t before = resident_bytes();
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[N];
        struct background b[N];
        atomic_store(&seen.open, false);
        atomic_store(&seen.slow, 0);
        for (int i = 0; i < N; i++) {
            b[i] = (struct background){.client = client, .method = "/test.S/Slow", .data = data, .len = EACH};
            b[i].code = CZ_RPC_UNKNOWN;
            assert_int_equal(pthread_create(&thread[i], NULL, call_in_background, &b[i]), 0);
        }
        assert_true(wait_for(&seen.slow, N));
        static const char *const text = "too many large requests";
        assert_int_equal(call_code(client, "/test.S/Slow", data, 101, 5000, text, ""), CZ_RPC_RESOURCE_EXHAUSTED);
        assert_int_equal(call_code(client, "/test.S/Echo", data, EACH, 5000, text, ""), CZ_RPC_RESOURCE_EXHAUSTED);
        assert_int_equal(call_code(client, "/test.S/None", data, 100, 5000, NULL, ""), CZ_RPC_UNIMPLEMENTED);
        assert_int_equal(call_code(client, "/test.S/Echo", "a", 1, 5000, NULL, "a"), CZ_RPC_OK);
        atomic_store(&seen.open, true);
        for (int i = 0; i < N; i++) {
            (void)pthread_join(thread[i], NULL);
            assert_int_equal(b[i].code, CZ_RPC_OK);
        }
        /* All of it is given back, perhaps a little after the replies. */
        enum cz_rpc_code code = CZ_RPC_RESOURCE_EXHAUSTED;
        for (int i = 0; i < 500 && code == CZ_RPC_RESOURCE_EXHAUSTED; i++) {
            nap();
            code = call_code(client, "/test.S/Refuse", data, LIMIT, 5000, NULL, "");
        }
        assert_int_equal(code, CZ_RPC_INVALID_ARGUMENT);
        for (int i = 0; i < 4; i++)
            assert_int_equal(call_code(client, "/test.S/Later", data, EACH, 5000, NULL, "later"), CZ_RPC_OK);
    }
    /* The requests' memory goes back to the system. What gRPC and malloc keep is less than one request a round. */
    size_t after = 0;
    for (int i = 0; i < 500; i++) {
        after = resident_bytes();
        if (after < before + KEPT) break;
        nap();
    }
    if (!SANITIZED && after >= before + KEPT) fail_msg("%zu MiB resident, %zu before", after / MIB, before / MIB);
    cz_free(data);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

static void *finish_held_soon(void *arg) {
    struct seen *seen = arg;
    for (int i = 0; i < 50; i++) nap();
    cz_rpc_call_finish(atomic_load(&seen->held), CZ_RPC_OK, NULL, "done", 4);
    return NULL;
}

static void shutdown_waits(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 0);
    struct cz_rpc_client *client = dial(server);
    pthread_t caller, finisher;
    struct background b = {.client = client, .method = "/test.S/Hold", .code = CZ_RPC_UNKNOWN};
    assert_int_equal(pthread_create(&caller, NULL, call_in_background, &b), 0);
    for (int i = 0; i < 2500 && !atomic_load(&seen.held); i++) nap();
    assert_non_null(atomic_load(&seen.held));
    uint64_t begin = cz_time_now_ns();
    assert_int_equal(cz_rpc_server_shutdown(server, 50), CZ_ERR_TIMEOUT);
    assert_true(cz_time_since(begin) >= 0.05);
    /* No new call gets through while the old one goes on. */
    struct cz_rpc_client *other = dial(server);
    assert_int_equal(call_code(other, "/test.S/Echo", "a", 1, 3000, NULL, NULL), CZ_RPC_UNAVAILABLE);
    cz_rpc_client_destroy(other);
    assert_int_equal(pthread_create(&finisher, NULL, finish_held_soon, &seen), 0);
    assert_int_equal(cz_rpc_server_shutdown(server, 10000), CZ_OK);
    (void)pthread_join(finisher, NULL);
    (void)pthread_join(caller, NULL);
    assert_int_equal(b.code, CZ_RPC_OK); /* finished, not cut off */
    assert_int_equal(atomic_load(&seen.cancelled), 0);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(server);
}

static void *finish_when_cancelled(void *arg) {
    struct seen *seen = arg;
    assert_true(wait_for(&seen->cancelled, 1));
    cz_rpc_call_finish(atomic_load(&seen->held), CZ_RPC_CANCELLED, NULL, NULL, 0);
    return NULL;
}

static void destroy_cancels(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    struct cz_rpc_server *server = start("127.0.0.1:0", &seen, 0);
    struct cz_rpc_client *client = dial(server);
    pthread_t caller, finisher;
    struct background b = {.client = client, .method = "/test.S/Hold", .code = CZ_RPC_OK};
    assert_int_equal(pthread_create(&caller, NULL, call_in_background, &b), 0);
    for (int i = 0; i < 2500 && !atomic_load(&seen.held); i++) nap();
    assert_int_equal(pthread_create(&finisher, NULL, finish_when_cancelled, &seen), 0);
    cz_rpc_server_destroy(server);
    (void)pthread_join(finisher, NULL);
    (void)pthread_join(caller, NULL);
    assert_int_not_equal(b.code, CZ_RPC_OK);
    assert_int_equal(atomic_load(&seen.released), 1);
    cz_rpc_client_destroy(client);
}

static void addresses_in_use(void **state) {
    (void)state;
    struct seen seen = {.held = NULL};
    char unix_address[128];
    (void)snprintf(unix_address, sizeof unix_address, "unix://%s/cuzk.sock", folder);
    struct cz_rpc_server *first = start(unix_address, &seen, 0), *second = NULL;
    assert_int_equal(cz_rpc_server_port(first, 0), 0);
    const char *const again[] = {"127.0.0.1:0", unix_address};
    struct cz_rpc_server_options options = {.listen = again, .n_listen = 2};
    struct cz_error err = {0};
    assert_int_equal(cz_rpc_server_create(&second, &options, &err), CZ_ERR_EXISTS);
    assert_non_null(strstr(err.detail, "in use"));
    assert_null(second);
    /* The first still has its socket. */
    struct cz_rpc_client *client = NULL;
    assert_int_equal(cz_rpc_client_create(&client, unix_address, 0, NULL), CZ_OK);
    assert_int_equal(call_code(client, "/test.S/Echo", "u", 1, 3000, NULL, "u"), CZ_RPC_OK);
    cz_rpc_client_destroy(client);
    cz_rpc_server_destroy(first);
    assert_int_equal(access(unix_address + 7, F_OK), -1); /* removed */

    first = start("127.0.0.1:0", &seen, 0);
    char tcp[64];
    (void)snprintf(tcp, sizeof tcp, "127.0.0.1:%u", cz_rpc_server_port(first, 0));
    const char *const same[] = {tcp};
    options.listen = same, options.n_listen = 1;
    assert_int_equal(cz_rpc_server_create(&second, &options, &err), CZ_ERR_EXISTS);
    assert_non_null(strstr(err.detail, "in use"));
    cz_rpc_server_destroy(first);
    const char *const malformed[] = {"nonsense"};
    options.listen = malformed;
    assert_int_equal(cz_rpc_server_create(&second, &options, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_rpc_client_create(&client, "nonsense", 0, &err), CZ_ERR_ARGUMENT);
    cz_rpc_server_destroy(NULL);
    cz_rpc_client_destroy(NULL);
}

static void no_server(void **state) {
    (void)state;
    struct cz_rpc_client *client = NULL;
    char address[128];
    (void)snprintf(address, sizeof address, "unix://%s/none.sock", folder);
    assert_int_equal(cz_rpc_client_create(&client, address, 0, NULL), CZ_OK);
    assert_int_equal(call_code(client, "/test.S/Echo", "", 0, 3000, NULL, NULL), CZ_RPC_UNAVAILABLE);
    cz_rpc_client_destroy(client);
}

int main(void) {
    /* As the daemon does: resident_bytes() is to fall. */
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),          cmocka_unit_test(large),          cmocka_unit_test(client_goes_away),
        cmocka_unit_test(slow_methods),     cmocka_unit_test(shutdown_waits), cmocka_unit_test(destroy_cancels),
        cmocka_unit_test(addresses_in_use), cmocka_unit_test(no_server),      cmocka_unit_test(bytes_in_flight),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
