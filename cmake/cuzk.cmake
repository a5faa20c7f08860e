# What every target shares: warnings, sanitizers, and three functions that the folders' CMakeLists.txt call.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)

add_library(cz_flags INTERFACE)
target_include_directories(cz_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(cz_flags INTERFACE _GNU_SOURCE CZ_VERSION="${PROJECT_VERSION}")
target_compile_options(cz_flags INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wvla -Wundef -Wwrite-strings -fno-strict-aliasing -fno-math-errno
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -include ${PROJECT_SOURCE_DIR}/src/base/banned.h>)
target_compile_options(cz_flags INTERFACE $<$<CONFIG:Release>:-O3 -g1>)
target_link_libraries(cz_flags INTERFACE Threads::Threads)
if(CZ_SANITIZE)
  target_compile_options(cz_flags INTERFACE -fsanitize=${CZ_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cz_flags INTERFACE -fsanitize=${CZ_SANITIZE})
endif()
if(CZ_FUZZ)
  target_compile_options(cz_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(cz_flags INTERFACE -fsanitize=address,undefined)
endif()

# cz_library(field SOURCES fp.c … DEPS base …): the static library cz_field of src/field.
function(cz_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(cz_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND cz_)
  target_link_libraries(cz_${name} PUBLIC cz_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
endfunction()

# cz_program(cuzk SOURCES … DEPS …): an executable, in bin/ of the build folder.
function(cz_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND cz_)
  target_link_libraries(${name} PRIVATE cz_flags ${ARG_DEPS} ${ARG_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# cz_test(unit/field/fr SOURCES test_fr.c DEPS field …): a cmocka program and a CTest of that name. The label is the
# first part of the name (unit, vectors, …). Tests get the source tree as CZ_SOURCE_DIR and the folder with spec/ and
# vectors/ as CZ_SHARED_DIR.
function(cz_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LIBS;ARGS" ${ARGN})
  string(REPLACE "/" "_" target test/${name})
  string(REGEX REPLACE "/.*" "" label ${name})
  add_executable(${target} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND cz_)
  target_link_libraries(${target} PRIVATE cz_flags ${ARG_DEPS} ${ARG_LIBS} cmocka)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE CZ_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CZ_SHARED_DIR="${CZ_SHARED_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${target} ${ARG_ARGS})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# cz_long_test(vectors/post 1200): with CZ_LONG_TESTS the CTest long/vectors/post (label long) of that many seconds at
# most, the program of the test vectors/post with the argument "long".
function(cz_long_test name timeout)
  if(CZ_LONG_TESTS)
    string(REPLACE "/" "_" target test/${name})
    add_test(NAME long/${name} COMMAND ${target} long)
    set_tests_properties(long/${name} PROPERTIES LABELS long TIMEOUT ${timeout})
  endif()
endfunction()

# Vectors of the reference: the folder beside the checkout.
set(CZ_SHARED_DIR ${PROJECT_SOURCE_DIR}/../shared CACHE PATH "Folder with spec/ and vectors/")
