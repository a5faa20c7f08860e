# The daemon against a client not of our making: npm's @grpc/grpc-js with our .proto. `npm ci` needs the npm registry;
# without node the tests are skipped, unless CZ_REQUIRE_E2E=1.
find_program(NODE node)
find_program(NPM npm)
set(e2e_work ${CMAKE_CURRENT_BINARY_DIR}/node)
foreach(file package.json package-lock.json)
  configure_file(${file} ${e2e_work}/${file} COPYONLY)
endforeach()

function(cz_e2e_node name timeout)
  if(NODE AND NPM)
    add_test(NAME e2e/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${e2e_work})
  else()
    add_test(NAME e2e/${name} COMMAND sh -c
      "echo 'skipped: node or npm is not installed'; [ \"$CZ_REQUIRE_E2E\" = 1 ] && exit 1; exit 77")
  endif()
  set_tests_properties(e2e/${name} PROPERTIES LABELS e2e TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
endfunction()

cz_e2e_node(npm 300 ${NPM} ci --ignore-scripts --no-audit --no-fund)
set_tests_properties(e2e/npm PROPERTIES FIXTURES_SETUP npm)
foreach(test prove refuse stop trace kinds)
  cz_e2e_node(daemon-${test} 1200 sh ${CMAKE_CURRENT_SOURCE_DIR}/daemon.sh ${CMAKE_CURRENT_SOURCE_DIR}/${test}.mjs)
  set_tests_properties(e2e/daemon-${test} PROPERTIES FIXTURES_REQUIRED "npm;params" RESOURCE_LOCK proving
    ENVIRONMENT "CZ_E2E_BIN=${PROJECT_BINARY_DIR}/bin;CZ_E2E_WORK=${e2e_work};CZ_SHARED=${CZ_SHARED_DIR};CZ_E2E_PARAMS=${CZ_E2E_PARAMS}")
endforeach()
set_tests_properties(e2e/daemon-kinds PROPERTIES FIXTURES_REQUIRED "npm;params;params-kinds")
