# One program with all test files: `build/tests test_lemke` runs one of them, ctest knows each by its name. The main
# function of a file is called run_FILE. Files that replace functions of the C library stand alone.
enable_testing()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
set(ALONE test_recorder test_memory)

add_test(NAME script_install COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-install ${CMAKE_BINARY_DIR})
add_test(NAME script_check_tree COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-check-tree)
add_test(NAME script_snippets COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-snippets ${CMAKE_BINARY_DIR})
add_test(NAME script_check_abi COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-check-abi ${CMAKE_BINARY_DIR})
add_test(NAME script_abi COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-abi ${CMAKE_BINARY_DIR})
add_test(NAME script_bits COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-bits ${CMAKE_BINARY_DIR})
add_test(NAME script_golden COMMAND ${CMAKE_SOURCE_DIR}/scripts/golden-hashes $<TARGET_FILE:moreau> --check)
add_test(NAME script_docs COMMAND ${CMAKE_SOURCE_DIR}/scripts/make-docs $<TARGET_FILE:moreau> --check)
add_test(NAME script_manuals COMMAND ${CMAKE_SOURCE_DIR}/scripts/make-manuals $<TARGET_FILE:moreau> --check)
add_test(NAME script_first_steps COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-first-steps $<TARGET_FILE:moreau>)
add_test(NAME script_completions COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-completions $<TARGET_FILE:moreau>)

file(GLOB TEST_COMMON CONFIGURE_DEPENDS tests/common/*.c tests/exam/*.c)
file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/test_*.c)
if(MOREAU_SANITIZE OR MOREAU_FUZZ) # which have their own allocator
  list(FILTER TEST_SOURCES EXCLUDE REGEX test_memory)
endif()
add_library(tests_common OBJECT ${TEST_COMMON})
add_executable(tests)

# test_program(NAME): what every test program needs.
function(test_program name)
  target_include_directories(${name} PRIVATE src tests)
  target_include_directories(${name} SYSTEM PRIVATE ${SOLVE_INCLUDES})
  target_compile_definitions(${name} PRIVATE MOREAU_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             MOREAU_COMMAND="$<TARGET_FILE:moreau>"
                             MOREAU_PLUGIN="${CMAKE_BINARY_DIR}/gradient.so"
                             MOREAU_CONTROLLER_PLUGIN="${CMAKE_BINARY_DIR}/chirp.so"
                             MOREAU_ERROR_PLUGIN="${CMAKE_BINARY_DIR}/weight.so"
                             MOREAU_ENGINE_PLUGIN="${CMAKE_BINARY_DIR}/falling.so"
                             MOREAU_CHROMIUM_DOUBLE="$<TARGET_FILE:chromium_double>")
  target_link_libraries(${name} PRIVATE moreau_lab_static PkgConfig::CMOCKA)
endfunction()
test_program(tests_common)
test_program(tests)
target_link_libraries(tests PRIVATE tests_common)
add_dependencies(tests programs gradient chirp weight falling)

set(declarations "")
set(table "")
foreach(source IN LISTS TEST_SOURCES)
  get_filename_component(name ${source} NAME_WE)
  if(name IN_LIST ALONE)
    add_executable(${name} ${source})
    test_program(${name})
    target_link_libraries(${name} PRIVATE tests_common)
    add_dependencies(${name} programs gradient chirp weight falling)
    add_test(NAME ${name} COMMAND ${name})
  else()
    target_sources(tests PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=run_${name})
    string(APPEND declarations "int run_${name}(void);\n")
    string(APPEND table "    { \"${name}\", run_${name} },\n")
    add_test(NAME ${name} COMMAND tests ${name})
    add_custom_target(${name} DEPENDS tests)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 3600) # for what hangs; a busy machine is no failure
  if(MOREAU_SANITIZE) # twenty times slower: fewer steps, no limits of time
    set_tests_properties(${name} PROPERTIES TIMEOUT 7200 ENVIRONMENT MOREAU_SLOW=1)
  endif()
endforeach()
if(TARGET test_memory) # scratch and HDF5 fail, too
  target_sources(test_memory PRIVATE tests/faults/hdf5.c tests/faults/stored.c)
  target_link_options(test_memory PRIVATE -Wl,--wrap=mor_arena_alloc,--wrap=mor_arena_zero)
endif()
target_sources(tests PRIVATE tests/fuzz/readers.c tests/faults/stored.c)
configure_file(tests/main.c.in tests_main.c @ONLY)
target_sources(tests PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/tests_main.c)
set_source_files_properties(${TEST_SOURCES} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)

# A browser that does as a test says (tests/test_browser.c).
add_executable(chromium_double tests/doubles/chromium.c)
target_link_libraries(chromium_double PRIVATE PkgConfig::ZLIB)
add_dependencies(tests chromium_double)

# Steps of scenes with several solvers, under callgrind (scripts/test-auto).
add_executable(auto_cost tests/cost/auto_cost.c)
target_compile_definitions(auto_cost PRIVATE MOREAU_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(auto_cost PRIVATE moreau_lab_static)
add_dependencies(tests auto_cost)
if(NOT MOREAU_SANITIZE)
  add_test(NAME script_auto COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-auto ${CMAKE_BINARY_DIR})
endif()

# Faults on purpose (scripts/test-faults): a tracer that lets system calls fail, a library that lets allocations fail.
add_executable(faults tests/faults/faults.c)
add_library(faults_memory MODULE tests/faults/memory.c)
set_target_properties(faults_memory PROPERTIES PREFIX "")
target_compile_options(faults_memory PRIVATE -Wno-missing-prototypes)
add_dependencies(tests faults faults_memory)
if(NOT MOREAU_SANITIZE) # which have their own allocator, and cannot be traced while they look for leaks
  add_test(NAME script_faults COMMAND ${CMAKE_SOURCE_DIR}/scripts/test-faults ${CMAKE_BINARY_DIR} --most 2
           --rest 0)
endif()

# The golden tables (scripts/golden-hashes): what solvers and formulations make of small problems, bit by bit.
file(GLOB GOLDEN_SOURCES CONFIGURE_DEPENDS tests/golden/*.c)
add_executable(golden ${GOLDEN_SOURCES} tests/common/piles.c tests/common/problem_kit.c tests/common/random_step.c)
target_include_directories(golden PRIVATE src tests)
target_compile_definitions(golden PRIVATE MOREAU_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(golden PRIVATE moreau_static)
add_dependencies(tests golden)
