# Three libraries, each as an archive and a shared library of the same objects:
#
#   moreau-solve   complementarity problems and their solvers
#   moreau         + bodies, contacts, robots, scenes
#   moreau-lab     + recordings, benchmark problems, comparison, plots, the viewer
#
# The rooms are in the order of docs/architecture.md: a room may use those before it (scripts/check-rooms). A new room
# goes into one of these lists, and into the one of check-rooms.
set(SOLVE_ROOMS base linalg problem solver)
set(CORE_ROOMS geometry model collision formulation control step derivative io/text io/json io/xml io/mesh io/urdf io/mjcf io/sdf io/scene io/problem fmi)
set(LAB_ROOMS io/hdf5 io/recording io/bpmd io/fclib plot lab serve)

# Public headers of the libraries; those not named belong to the core.
set(SOLVE_HEADERS base math problem solver)
set(LAB_HEADERS lab)
file(GLOB CORE_HEADERS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include/moreau include/moreau/*.h)
list(TRANSFORM CORE_HEADERS REPLACE "\\.h$" "")
list(REMOVE_ITEM CORE_HEADERS ${SOLVE_HEADERS} ${LAB_HEADERS})

foreach(library SOLVE CORE LAB)
  set(${library}_SOURCES)
  foreach(room IN LISTS ${library}_ROOMS)
    file(GLOB room_sources CONFIGURE_DEPENDS src/${room}/*.c)
    list(APPEND ${library}_SOURCES ${room_sources})
  endforeach()
endforeach()

# Without libwebsockets there is no server: `moreau view` then only writes pages that open from disk.
if(NOT WEBSOCKETS_FOUND)
  message(STATUS "libwebsockets not found: 'moreau view' without --html will not work")
  list(REMOVE_ITEM LAB_SOURCES ${CMAKE_SOURCE_DIR}/src/serve/server.c ${CMAKE_SOURCE_DIR}/src/serve/site.c)
  list(APPEND LAB_SOURCES src/serve/none/server.c src/serve/none/site.c)
endif()

# The viewer's page is built beforehand (viewer/build.mjs) and becomes a part of the program.
set(VIEWER_PAGE ${CMAKE_SOURCE_DIR}/viewer/dist/viewer.html)
add_custom_command(OUTPUT viewer_page.c COMMAND ${CMAKE_COMMAND} -DINPUT=${VIEWER_PAGE} -DOUTPUT=viewer_page.c
                   -DNAME=mor_viewer_page -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${VIEWER_PAGE} cmake/embed.cmake VERBATIM)
list(APPEND LAB_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/viewer_page.c)

# The script of the reports of `moreau compare` likewise.
set(REPORT_SCRIPT ${CMAKE_SOURCE_DIR}/src/lab/report.js)
add_custom_command(OUTPUT report_script.c COMMAND ${CMAKE_COMMAND} -DINPUT=${REPORT_SCRIPT} -DOUTPUT=report_script.c
                   -DNAME=mor_report_script -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${REPORT_SCRIPT} cmake/embed.cmake VERBATIM)
list(APPEND LAB_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/report_script.c)

# public_symbols(VARIABLE HEADER...): what MOR_API declares in these headers, as "a; b; ".
function(public_symbols variable)
  set(all "")
  foreach(header IN LISTS ARGN)
    set(path ${CMAKE_SOURCE_DIR}/include/moreau/${header}.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(REGEX MATCHALL "MOR_API [^;({]*[ *]mor_[a-z0-9_]+\\(" declarations "${text}")
    foreach(declaration IN LISTS declarations)
      string(REGEX REPLACE ".*[ *](mor_[a-z0-9_]+)\\($" "\\1" name "${declaration}")
      list(APPEND all ${name})
    endforeach()
  endforeach()
  list(REMOVE_ITEM all mor_plugin_entry) # defined by plug-ins
  list(REMOVE_DUPLICATES all)
  list(SORT all)
  list(TRANSFORM all APPEND ";")
  string(REPLACE ";;" ";\n    " all "${all}")
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# A shared library exports what its public headers declare, under the version MOREAU_x.y. What only the next library
# uses carries the full version: libraries of different releases refuse to be loaded together.
function(write_exports library)
  public_symbols(symbols ${${library}_HEADERS})
  set(nodes "MOREAU_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {\n  global:\n    ${symbols}\n  local: *;\n};\n")
  if(NOT library STREQUAL LAB)
    string(APPEND nodes "MOREAU_PRIVATE_${PROJECT_VERSION} { global: mor_*; };\n")
  endif()
  file(CONFIGURE OUTPUT exports-${library}.map CONTENT "${nodes}" @ONLY)
endfunction()

# gcc copies and clears structs of some hundred bytes by `rep movs` and `rep stos`, which take as long to start as the
# copy itself; a small step does that some thirty times. No arithmetic is touched.
set(short_copies -mmemcpy-strategy=vector_loop:512:noalign,libcall:-1:noalign
                 -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
include(CheckCCompilerFlag)
string(REPLACE ";" " " all_short_copies "${short_copies}")
check_c_compiler_flag("${all_short_copies}" MOREAU_SHORT_COPIES)

# moreau_library(LIBRARY NAME BASE...): objects, archive and shared library; BASE: the libraries below it.
function(moreau_library library name)
  set(objects ${name}_objects)
  add_library(${objects} OBJECT ${${library}_SOURCES})
  if(MOREAU_OWN_OPTIMISATION)
    # Constant trip counts unrolled: 9 to 18 % fewer instructions on robots, joints and contacts than -O2, same bits.
    target_compile_options(${objects} PRIVATE $<$<CONFIG:Release>:-O3>)
    if(MOREAU_SHORT_COPIES)
      target_compile_options(${objects} PRIVATE ${short_copies})
    endif()
  endif()
  # Internal functions can be exported to the next library, and calls within a file stay direct and may be inlined: as
  # fast as hidden ones (default visibility costs 2 to 8 % of the instructions).
  target_compile_options(${objects} PRIVATE -fvisibility=protected)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${objects} PUBLIC include PRIVATE src)
  target_include_directories(${objects} SYSTEM PUBLIC ${${library}_INCLUDES})
  target_link_libraries(${objects} PUBLIC ${${library}_TARGETS} Threads::Threads m)

  add_library(${name}_static STATIC)
  add_library(${name}_shared SHARED)
  target_link_libraries(${name}_static PUBLIC ${objects})
  # a program that links the shared library does not link what is below that
  target_link_libraries(${name}_shared PRIVATE ${objects} PUBLIC m)
  target_include_directories(${name}_shared PUBLIC include)
  foreach(base IN LISTS ARGN)
    target_link_libraries(${name}_static PUBLIC ${base}_static)
    target_link_libraries(${name}_shared PUBLIC ${base}_shared)
  endforeach()
  string(REPLACE _ - output ${name})
  set_target_properties(${name}_static ${name}_shared PROPERTIES OUTPUT_NAME ${output})
  # before 1.0 a minor version may change the ABI
  set_target_properties(${name}_shared PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  write_exports(${library})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/exports-${library}.map)
  target_link_options(${name}_shared PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined-version -Wl,--as-needed
                      -Wl,-Bsymbolic)
  set_target_properties(${name}_shared PROPERTIES LINK_DEPENDS ${map})
  if(NOT MOREAU_SANITIZE)
    target_link_options(${name}_shared PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

moreau_library(SOLVE moreau_solve)
moreau_library(CORE moreau moreau_solve)
moreau_library(LAB moreau_lab moreau moreau_solve)
