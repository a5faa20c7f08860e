#ifndef CUZK_RPC_MESSAGES_H
#define CUZK_RPC_MESSAGES_H

/*
 * The messages of proto/cuzk/v1/proving.proto as protoc-c makes them in the build folder (Cuzk__V1__ProveRequest and
 * so on), and the paths of the calls. Unpacked messages are freed with cuzk__v1__…__free_unpacked(message, NULL).
 * Lengths are checked against the buffer, but strings are not checked to be UTF-8: text from the wire is untrusted.
 */

#include "proving.pb-c.h"

#define CZ_RPC_SUBMIT_PROOF "/cuzk.v1.ProvingEngine/SubmitProof"
#define CZ_RPC_AWAIT_PROOF "/cuzk.v1.ProvingEngine/AwaitProof"
#define CZ_RPC_PROVE "/cuzk.v1.ProvingEngine/Prove"
#define CZ_RPC_CANCEL_PROOF "/cuzk.v1.ProvingEngine/CancelProof"
#define CZ_RPC_GET_STATUS "/cuzk.v1.ProvingEngine/GetStatus"
#define CZ_RPC_GET_METRICS "/cuzk.v1.ProvingEngine/GetMetrics"
#define CZ_RPC_PRELOAD_SRS "/cuzk.v1.ProvingEngine/PreloadSRS"
#define CZ_RPC_EVICT_SRS "/cuzk.v1.ProvingEngine/EvictSRS"

#endif
