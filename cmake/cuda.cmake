# CUDA without CMake's CUDA language: nvcc is optional, and may come from PyPI (scripts/bootstrap.sh --cuda), which has
# no layout that CMake's compiler tests accept. cz_cuda_sources compiles .cu files one by one, host code by gcc.
#
# CZ_CUDA       ON when there is an nvcc
# CZ_CUDA_ARCH  architectures, ";" between them; "release" is the list that packages carry

set(CZ_CUDA_ARCH sm_90 CACHE STRING "Architectures of the device code: sm_90;…, or release")
file(GLOB CZ_CUDA_VENV ${PROJECT_SOURCE_DIR}/build-nvcc/venv/lib/python3*/site-packages/nvidia/cu13)
# Not /usr/bin's: Debian 12's own nvcc is 11.8, too old for these sources' target list.
find_program(CZ_NVCC nvcc HINTS ${CZ_CUDA_VENV}/bin /usr/local/cuda/bin $ENV{CUDA_HOME}/bin
             DOC "nvcc; empty: no CUDA device")
set(CZ_CUDA OFF)
if(CZ_NVCC)
  get_filename_component(CZ_CUDA_ROOT ${CZ_NVCC} REALPATH)
  get_filename_component(CZ_CUDA_ROOT ${CZ_CUDA_ROOT} DIRECTORY)
  get_filename_component(CZ_CUDA_ROOT ${CZ_CUDA_ROOT} DIRECTORY)
  find_library(CZ_CUDART cudart_static HINTS ${CZ_CUDA_ROOT}/lib ${CZ_CUDA_ROOT}/lib64)
  find_path(CZ_CUDA_INCLUDE cuda_runtime_api.h HINTS ${CZ_CUDA_ROOT}/include)
  if(CZ_CUDART AND CZ_CUDA_INCLUDE)
    set(CZ_CUDA ON)
  endif()
endif()

if(CZ_CUDA)
  # Host code by GCC, also where Clang compiles the rest.
  find_program(CZ_CUDA_HOST NAMES g++-12 g++)
  set(CZ_NVCC_FLAGS)
  if(CZ_CUDA_ARCH STREQUAL release)
    set(archs sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120)
    set(ptx compute_120)
  else()
    set(archs ${CZ_CUDA_ARCH})
    set(ptx "")
  endif()
  # Only these have the shared memory of the additions' large shape; any other needs the small one too.
  set(other_archs ${archs})
  list(REMOVE_ITEM other_archs sm_90 sm_100)
  if(other_archs)
    list(APPEND CZ_NVCC_FLAGS -DCZ_CUDA_SMALL_SHARED)
  endif()
  string(REPLACE ";" " " CZ_CUDA_ARCHITECTURES "${archs}")
  if(ptx)
    string(APPEND CZ_CUDA_ARCHITECTURES " and PTX of ${ptx}")
  endif()
  list(APPEND CZ_NVCC_FLAGS -O3 -std=c++17 -ccbin ${CZ_CUDA_HOST} -I${PROJECT_SOURCE_DIR}/src -I${CZ_CUDA_INCLUDE}
      -I${CZ_CUDA_INCLUDE}/cccl -D_GNU_SOURCE -Xcompiler -Wall,-Wextra,-Wno-unused-function,-Wno-unknown-pragmas
      -diag-suppress 550 -lineinfo)
  foreach(arch ${archs})
    string(REPLACE sm_ compute_ virtual ${arch})
    list(APPEND CZ_NVCC_FLAGS -gencode arch=${virtual},code=${arch})
  endforeach()
  if(ptx)
    list(APPEND CZ_NVCC_FLAGS -gencode arch=${ptx},code=${ptx})
  endif()
  message(STATUS "CUDA: ${CZ_NVCC} for ${archs}")
else()
  message(STATUS "CUDA: no nvcc found; scripts/bootstrap.sh --cuda installs one. The CPU device is built.")
endif()

# cz_cuda_sources(objects a.cu …): compiles and leaves the object files' names in the variable.
function(cz_cuda_sources out)
  set(objects)
  foreach(source ${ARGN})
    set(in ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    string(REPLACE "/" "_" name ${source})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CZ_NVCC} ${CZ_NVCC_FLAGS} -MD -MF ${object}.d -c ${in} -o ${object}
      DEPENDS ${in} DEPFILE ${object}.d COMMENT "NVCC ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
