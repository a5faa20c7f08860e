#ifndef CUZK_TESTS_FAKE_CUDA_H
#define CUZK_TESTS_FAKE_CUDA_H

/*
 * A CUDA runtime without a GPU, linked in place of NVIDIA's: the device's own C files and launchers run on it as they
 * are. Device memory is host memory, streams do everything at once, kernels do nothing. Every call is counted, and one
 * of them can be made to fail. Errors behave as the real ones: a failed call leaves its error for cudaGetLastError,
 * sticky ones come back from every call afterwards.
 */

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The card that there is; fake_cuda_reset gives 4 GiB, one multiprocessor, sm_90. */
struct fake_cuda_card {
    const char *name;
    int major, minor, sms, count; /* count: of devices */
    size_t vram, vram_free;
    int shared;     /* bytes a multiprocessor */
    bool has_code;  /* the binary holds code for it */
    uint32_t small; /* what a copy of 4 bytes to the host brings: counts that kernels would have made */
};
extern struct fake_cuda_card fake_cuda_card;

/** Back to a working card; no call fails, the counter starts at 0. */
void fake_cuda_reset(void);
/** The call with this number (from 0) fails with `error`. */
void fake_cuda_fail(unsigned call, cudaError_t error);
/** Calls since fake_cuda_reset or fake_cuda_fail. */
unsigned fake_cuda_calls(void);
/** Calls of one function, over all of the process: to see that a test reaches it. */
unsigned fake_cuda_calls_of(const char *name);
/** The name of the call that failed ("launch of …" is its kernel's mangled name), or NULL while none has. */
const char *fake_cuda_failed(void);
/** Streams, events, allocations and pinned blocks that are there. */
int fake_cuda_live(void);
/** Bytes of the largest allocation of device memory since reset. */
size_t fake_cuda_allocated(void);
/** Whether errors of this kind end the context, as CUDA's documentation says. */
bool fake_cuda_sticky(cudaError_t error);

#endif
