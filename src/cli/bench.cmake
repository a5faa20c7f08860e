cz_program(cuzk-bench
  SOURCES bench.c bench_batch.c bench_gen_vanilla.c bench_metrics.c bench_preload.c bench_request.c bench_single.c
    bench_status.c bench_waterfall.c options.c output.c trace_file.c vanilla.c
  DEPS base rpc filecoin
  LIBS yajl ZLIB::ZLIB OpenSSL::Crypto m)
# It needs no device itself, and says of its build what the others say.
if(CZ_CUDA)
  target_compile_definitions(cuzk-bench PRIVATE CZ_BENCH_BUILD="CUDA for ${CZ_CUDA_ARCHITECTURES}")
else()
  target_compile_definitions(cuzk-bench PRIVATE CZ_BENCH_BUILD="no CUDA")
endif()
