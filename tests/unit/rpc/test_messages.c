#include "base/bytes.h"
#include "rpc/code.h"
#include "rpc/messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The bytes that a client in the field sends, by hand: field numbers are the contract. */
static void submit_fields(void **state) {
    (void)state;
    static const uint8_t wire[] = {
        0x0a, 0x02, 'i',  'd',        /* 1 request_id */
        0x10, 0x01,                   /* 2 proof_kind */
        0x18, 0x80, 0x10,             /* 3 sector_size 2048 */
        0x20, 0x05,                   /* 4 registered_proof */
        0x28, 0x04,                   /* 5 priority */
        0x52, 0x02, '{',  '}',        /* 10 vanilla_proof */
        0x5a, 0x01, 0x07, 0x5a, 0x00, /* 11 vanilla_proofs, two */
        0xa0, 0x01, 0x09,             /* 20 sector_number */
        0xa8, 0x01, 0xe8, 0x07,       /* 21 miner_id 1000 */
        0xb2, 0x01, 0x01, 0x0b,       /* 22 randomness */
        0xb8, 0x01, 0x03,             /* 23 partition_index */
        0xf2, 0x01, 0x01, 0x0c,       /* 30 comm_r_old */
        0xfa, 0x01, 0x01, 0x0d,       /* 31 comm_r_new */
        0x82, 0x02, 0x01, 0x0e,       /* 32 comm_d_new */
    };
    Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, sizeof wire, wire);
    assert_non_null(m);
    assert_string_equal(m->request_id, "id");
    assert_int_equal(m->proof_kind, CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT);
    assert_int_equal(m->sector_size, 2048);
    assert_int_equal(m->registered_proof, 5);
    assert_int_equal(m->priority, CUZK__V1__PRIORITY__CRITICAL);
    assert_int_equal(m->vanilla_proof.len, 2);
    assert_int_equal(m->n_vanilla_proofs, 2);
    assert_int_equal(m->vanilla_proofs[1].len, 0);
    assert_int_equal(m->sector_number, 9);
    assert_int_equal(m->miner_id, 1000);
    assert_int_equal(m->randomness.data[0], 0x0b);
    assert_int_equal(m->partition_index, 3);
    assert_int_equal(m->comm_r_old.data[0], 0x0c);
    assert_int_equal(m->comm_r_new.data[0], 0x0d);
    assert_int_equal(m->comm_d_new.data[0], 0x0e);
    uint8_t again[sizeof wire];
    assert_int_equal(cuzk__v1__submit_proof_request__get_packed_size(m), sizeof wire);
    (void)cuzk__v1__submit_proof_request__pack(m, again);
    assert_memory_equal(again, wire, sizeof wire);
    cuzk__v1__submit_proof_request__free_unpacked(m, NULL);

    /* Cut anywhere within a field it is no message. */
    assert_null(cuzk__v1__submit_proof_request__unpack(NULL, sizeof wire - 1, wire));
    assert_null(cuzk__v1__submit_proof_request__unpack(NULL, 3, wire));
}

static void reply_fields(void **state) {
    (void)state;
    Cuzk__V1__AwaitProofResponse r = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    char job[] = "j", text[] = "e";
    uint8_t proof[] = {0xaa};
    r.job_id = job;
    r.status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
    r.proof = (ProtobufCBinaryData){.len = 1, .data = proof};
    r.error_message = text;
    r.queue_wait_ms = 1, r.srs_load_ms = 2, r.synthesis_ms = 3, r.gpu_compute_ms = 4, r.total_ms = 5;
    static const uint8_t want[] = {0x0a, 1, 'j',  0x10, 4,    0x1a, 1,    0xaa, 0x22, 1, 'e',
                                   0x50, 1, 0x58, 2,    0x60, 3,    0x68, 4,    0x70, 5};
    uint8_t got[sizeof want];
    assert_int_equal(cuzk__v1__await_proof_response__get_packed_size(&r), sizeof want);
    (void)cuzk__v1__await_proof_response__pack(&r, got);
    assert_memory_equal(got, want, sizeof want);
}

static void codes(void **state) {
    (void)state;
    assert_string_equal(cz_rpc_code_text(CZ_RPC_INVALID_ARGUMENT), "INVALID_ARGUMENT");
    assert_string_equal(cz_rpc_code_text(CZ_RPC_UNIMPLEMENTED), "UNIMPLEMENTED");
    assert_string_equal(cz_rpc_code_text(CZ_RPC_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(cz_rpc_code_text((enum cz_rpc_code)17), "UNKNOWN");
    assert_int_equal(cz_rpc_code_of_status(CZ_OK), CZ_RPC_OK);
    assert_int_equal(cz_rpc_code_of_status(CZ_ERR_FIELD_RANGE), CZ_RPC_INVALID_ARGUMENT);
    assert_int_equal(cz_rpc_code_of_status(CZ_ERR_NOT_FOUND), CZ_RPC_NOT_FOUND);
    assert_int_equal(cz_rpc_code_of_status(CZ_ERR_FULL), CZ_RPC_RESOURCE_EXHAUSTED);
    assert_int_equal(cz_rpc_code_of_status(CZ_ERR_SHUTDOWN), CZ_RPC_UNAVAILABLE);
    assert_int_equal(cz_rpc_code_of_status(CZ_ERR_PROOF_INVALID), CZ_RPC_INTERNAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_fields),
        cmocka_unit_test(reply_fields),
        cmocka_unit_test(codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
