# Two programs with the same commands (src/cli/laboratory.h): moreau has the core and starts quickly; it hands over to
# moreau-lab what needs the laboratory.
file(GLOB CLI_SOURCES CONFIGURE_DEPENDS src/cli/*.c)
file(GLOB CLI_LAB_SOURCES CONFIGURE_DEPENDS src/cli/lab/*.c)
file(GLOB CLI_NONE_SOURCES CONFIGURE_DEPENDS src/cli/none/*.c)

# Where moreau-lab is installed, seen from moreau's folder.
set(MOREAU_LAB_DIR ${CMAKE_INSTALL_LIBEXECDIR}/moreau)
file(RELATIVE_PATH lab_from_bin /p/${CMAKE_INSTALL_BINDIR} /p/${MOREAU_LAB_DIR}/moreau-lab)
set_source_files_properties(${CLI_NONE_SOURCES} PROPERTIES COMPILE_DEFINITIONS MOREAU_LAB_PATH="${lab_from_bin}")
file(RELATIVE_PATH plugins_from_bin /p/${CMAKE_INSTALL_BINDIR} /p/${MOREAU_LAB_DIR})
set_source_files_properties(src/cli/plugin.c PROPERTIES COMPILE_DEFINITIONS MOREAU_PLUGIN_PATH="${plugins_from_bin}")

# Plug-ins call back into the program: it holds all of the core, and exports what the public headers declare.
public_symbols(symbols ${SOLVE_HEADERS} ${CORE_HEADERS})
file(CONFIGURE OUTPUT exports-program.list CONTENT "{\n    ${symbols}\n};\n" @ONLY)
set(whole_core -Wl,--whole-archive $<TARGET_FILE:moreau_static> $<TARGET_FILE:moreau_solve_static> -Wl,--no-whole-archive)

# moreau also takes in the small libraries it needs: loading them would cost more than running a small scene.
option(MOREAU_STATIC_COMMAND "the command holds KLU, AMD, YAML, expat and qhull, if their archives are installed" ON)
set(core_dependencies ${CORE_TARGETS} ${SOLVE_TARGETS})
if(MOREAU_STATIC_COMMAND)
  set(found)
  foreach(name IN LISTS CORE_ARCHIVES SOLVE_ARCHIVES)
    find_library(ARCHIVE_${name} lib${name}.a)
    mark_as_advanced(ARCHIVE_${name})
    list(APPEND found ${ARCHIVE_${name}})
  endforeach()
  if(found MATCHES NOTFOUND)
    message(STATUS "some archives are not installed: moreau loads shared libraries (${found})")
  else()
    set(core_dependencies ${found})
  endif()
endif()

add_library(cli_objects OBJECT ${CLI_SOURCES})
target_include_directories(cli_objects PRIVATE include src)
add_executable(moreau $<TARGET_OBJECTS:cli_objects> ${CLI_NONE_SOURCES})
add_executable(moreau-lab $<TARGET_OBJECTS:cli_objects> ${CLI_LAB_SOURCES})
target_link_libraries(moreau PRIVATE ${whole_core} ${core_dependencies})
target_link_libraries(moreau-lab PRIVATE moreau_lab_static ${whole_core} ${CORE_TARGETS} ${SOLVE_TARGETS})
foreach(program moreau moreau-lab)
  target_include_directories(${program} PRIVATE include src)
  target_link_libraries(${program} PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
  target_link_options(${program} PRIVATE -Wl,--dynamic-list=${CMAKE_CURRENT_BINARY_DIR}/exports-program.list
                      -Wl,--as-needed)
  add_dependencies(${program} moreau_static moreau_solve_static)
  set_target_properties(${program} PROPERTIES LINK_DEPENDS
    "${CMAKE_CURRENT_BINARY_DIR}/exports-program.list;$<TARGET_FILE:moreau_static>;$<TARGET_FILE:moreau_solve_static>")
endforeach()

# Ranks of mpirun (src/cli/lab/ranks.c). Only the command sees MPI, the libraries do not.
option(MOREAU_MPI "moreau sweep works under mpirun" OFF)
if(MOREAU_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  target_compile_definitions(moreau-lab PRIVATE MOREAU_MPI)
  target_link_libraries(moreau-lab PRIVATE MPI::MPI_C)
endif()

# What `make demo` needs, and what `make install` needs.
add_custom_target(programs DEPENDS moreau moreau-lab)
add_custom_target(installed DEPENDS programs moreau_solve_static moreau_static moreau_lab_static
                  moreau_solve_shared moreau_shared moreau_lab_shared)
