/* Calls that wait for jobs, on an engine whose stages are fakes. */

#include "base/time.h"
#include "daemon/service.h"
#include "engine/engine_int.h"
#include "rpc/client.h"
#include "rpc/messages.h"
#include "unit/engine/fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct rig {
    struct fake f;
    struct cz_engine *e;
    struct cz_service *s;
    struct cz_rpc_client *client;
};

static void rig_start(struct rig *rig) {
    fake_init(&rig->f);
    struct cz_engine_options o = fake_options(&rig->f);
    assert_int_equal(cz_engine_create(&rig->e, &o, NULL), CZ_OK);
    static const char *const listen[] = {"127.0.0.1:0"};
    struct cz_error err = {0};
    if (cz_service_create(&rig->s, rig->e, listen, 1, &err) != CZ_OK) fail_msg("%s", err.detail);
    char address[64];
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", cz_service_port(rig->s, 0));
    assert_int_equal(cz_rpc_client_create(&rig->client, address, 0, NULL), CZ_OK);
}

static void rig_end(struct rig *rig) {
    cz_rpc_client_destroy(rig->client);
    cz_service_destroy(rig->s);
    cz_engine_destroy(rig->e);
    fake_done(&rig->f);
}

/* AwaitProof, given up by the client after client_ms; the reply's bytes are the caller's. */
static struct cz_rpc_reply await_proof(struct rig *rig, const char *job_id, uint64_t timeout_ms, uint64_t client_ms) {
    Cuzk__V1__AwaitProofRequest m = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    m.job_id = (char *)job_id;
    m.timeout_ms = timeout_ms;
    uint8_t data[256];
    assert_true(cuzk__v1__await_proof_request__get_packed_size(&m) <= sizeof data);
    size_t len = cuzk__v1__await_proof_request__pack(&m, data);
    struct cz_rpc_reply reply;
    assert_int_equal(cz_rpc_client_call(rig->client, CZ_RPC_AWAIT_PROOF, data, len, client_ms, &reply, NULL), CZ_OK);
    return reply;
}

static uint32_t watches(struct rig *rig) {
    uint32_t n = 0;
    cz_engine_lock(rig->e);
    for (const struct cz_watch *w = rig->e->watches; w; w = w->next) n++;
    cz_engine_unlock(rig->e);
    return n;
}

static void expect_watches(struct rig *rig, uint32_t want) {
    for (int i = 0; i < 2500 && watches(rig) != want; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    assert_int_equal(watches(rig), want);
}

static void expect_status(struct cz_rpc_reply *reply, Cuzk__V1__AwaitProofResponse__Status want) {
    assert_int_equal(reply->code, CZ_RPC_OK);
    Cuzk__V1__AwaitProofResponse *m = cuzk__v1__await_proof_response__unpack(NULL, reply->len, reply->data);
    assert_non_null(m);
    assert_int_equal(m->status, want);
    assert_int_equal(m->proof.len, want == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED ? 192 : 0);
    cuzk__v1__await_proof_response__free_unpacked(m, NULL);
    cz_rpc_reply_done(reply);
}

/* Clients that ask again and again and leave: nothing of them stays, and the job goes on. */
static void clients_leave(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_ASSIGN);
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 7, 1, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    for (int i = 0; i < 10; i++) {
        struct cz_rpc_reply reply = await_proof(&rig, t.job_id, i % 2 ? 0 : 60000, 30);
        assert_int_equal(reply.code, CZ_RPC_DEADLINE_EXCEEDED);
        cz_rpc_reply_done(&reply);
    }
    expect_watches(&rig, 0);
    struct cz_rpc_reply reply = await_proof(&rig, t.job_id, 20, 5000);
    expect_status(&reply, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT);
    fake_open(&rig.f, FAKE_ASSIGN);
    reply = await_proof(&rig, t.job_id, 0, 5000);
    expect_status(&reply, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    reply = await_proof(&rig, "job-none", 0, 5000);
    assert_int_equal(reply.code, CZ_RPC_NOT_FOUND);
    cz_rpc_reply_done(&reply);
    expect_watches(&rig, 0);
    rig_end(&rig);
}

/* Leaving while the job ends: each call is finished once, whoever comes first (for the sanitizers). */
static void leave_at_the_end(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    for (uint8_t i = 0; i < 30; i++) {
        struct cz_engine_ticket t;
        assert_int_equal(fake_submit(rig.e, &rig.f, "", i, 1, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
        struct cz_rpc_reply reply = await_proof(&rig, t.job_id, 0, 1 + i % 4);
        assert_true(reply.code == CZ_RPC_OK || reply.code == CZ_RPC_DEADLINE_EXCEEDED);
        cz_rpc_reply_done(&reply);
    }
    expect_watches(&rig, 0);
    rig_end(&rig);
}

static Cuzk__V1__GetStatusResponse *get_status(struct rig *rig) {
    struct cz_rpc_reply reply;
    assert_int_equal(cz_rpc_client_call(rig->client, CZ_RPC_GET_STATUS, NULL, 0, 5000, &reply, NULL), CZ_OK);
    assert_int_equal(reply.code, CZ_RPC_OK);
    Cuzk__V1__GetStatusResponse *m = cuzk__v1__get_status_response__unpack(NULL, reply.len, reply.data);
    assert_non_null(m);
    cz_rpc_reply_done(&reply);
    return m;
}

/* GPUs with what they do now; a lost one says why. Without any: the CPU. */
static void devices_shown(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    Cuzk__V1__GetStatusResponse *m = get_status(&rig);
    assert_int_equal(m->n_gpus, 1);
    assert_string_equal(m->gpus[0]->name, "fake");
    assert_int_equal(m->pinned_memory_limit_bytes, 1000000);
    cuzk__v1__get_status_response__free_unpacked(m, NULL);

    rig.f.device[0] = (struct cz_device_status){
        .name = "cuda:0", .model = "Card A", .gpu = true, .lost = true, .reason = "cudaErrorEccUncorrectable"};
    rig.f.device[1] = (struct cz_device_status){.name = "cuda:3",
                                                .model = "Card B",
                                                .ordinal = 3,
                                                .gpu = true,
                                                .workers = 1,
                                                .vram_total = 1000,
                                                .vram_free = 400,
                                                .pinned = 77,
                                                .utilisation = 93,
                                                .temperature = 71,
                                                .power_mw = -1,
                                                .throttle = "thermal"};
    rig.f.num_devices = 2;
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 7, 1, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_wait(&rig.f, FAKE_COMPUTE, 1);
    m = get_status(&rig);
    assert_int_equal(m->n_gpus, 2);
    assert_string_equal(m->gpus[0]->name, "Card A (lost: cudaErrorEccUncorrectable)");
    assert_string_equal(m->gpus[0]->current_job_id, "");
    assert_string_equal(m->gpus[1]->name, "Card B (held back: thermal)");
    assert_int_equal(m->gpus[1]->ordinal, 3);
    assert_int_equal(m->gpus[1]->vram_total_bytes, 1000);
    assert_int_equal(m->gpus[1]->vram_free_bytes, 400);
    assert_string_equal(m->gpus[1]->current_job_id, t.job_id);
    assert_string_equal(m->gpus[1]->current_proof_kind, "porep-c2");
    assert_int_equal(m->pinned_memory_bytes, 77);
    cuzk__v1__get_status_response__free_unpacked(m, NULL);

    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    char *text = cz_metrics_text(&s);
    assert_non_null(text);
    assert_non_null(strstr(text, "cuzk_device_lost{device=\"cuda:0\"} 1\n"));
    assert_non_null(strstr(text, "cuzk_device_temperature_celsius{device=\"cuda:3\"} 71\n"));
    assert_non_null(strstr(text, "cuzk_device_throttled{device=\"cuda:3\"} 1\n"));
    assert_null(strstr(text, "cuzk_device_power_milliwatts{device=\"cuda:3\"}"));
    free(text);
    fake_open(&rig.f, FAKE_COMPUTE);
    struct cz_rpc_reply reply = await_proof(&rig, t.job_id, 0, 5000);
    expect_status(&reply, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    rig_end(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_shown),
        cmocka_unit_test(clients_leave),
        cmocka_unit_test(leave_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
