# Modules for hosts that are not ours: Python, Octave and MATLAB, co-simulation tools. Built on demand (`make python`,
# `make octave`, `moreau export-fmu`), never by `make` alone, but for the shell of the FMUs.
#
# A module holds the whole core and what that needs (KLU, AMD, YAML, expat, qhull) and shows the host nothing but its
# entry: a host that brings other versions of these libraries is not disturbed, and there is no search path to get wrong.

# The archives of what the core needs, also where the command itself loads shared libraries (MOREAU_STATIC_COMMAND=OFF).
set(MODULE_ARCHIVES)
foreach(name IN LISTS CORE_ARCHIVES SOLVE_ARCHIVES)
  find_library(ARCHIVE_${name} lib${name}.a)
  mark_as_advanced(ARCHIVE_${name})
  list(APPEND MODULE_ARCHIVES ${ARCHIVE_${name}})
endforeach()
if(MODULE_ARCHIVES MATCHES NOTFOUND)
  message(STATUS "some archives are not installed: modules and co-simulation units load shared libraries")
  set(MODULE_ARCHIVES)
endif()

# moreau_module(NAME ENTRIES SOURCE...): ENTRIES: what the host calls, as the linker's list "a; b;".
function(moreau_module name entries)
  add_library(${name} MODULE EXCLUDE_FROM_ALL ${ARGN})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/exports-${name}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${entries} local: *; };\n" @ONLY)
  target_include_directories(${name} PRIVATE include src)
  target_link_options(${name} PRIVATE -Wl,--version-script=${map} -Wl,--as-needed)
  set_target_properties(${name} PROPERTIES PREFIX "" LINK_DEPENDS ${map})
  if(NOT MODULE_ARCHIVES OR MOREAU_SANITIZE) # the module then loads KLU and the others like any program
    target_link_libraries(${name} PRIVATE moreau_static moreau_solve_static Threads::Threads m)
    return()
  endif()
  target_sources(${name} PRIVATE bindings/common/streams.c)
  # qhull's archive names the standard streams in a way that only programs can serve
  target_link_options(${name} PRIVATE -Wl,--wrap=stdin,--wrap=stdout,--wrap=stderr)
  target_link_libraries(${name} PRIVATE $<TARGET_FILE:moreau_static> $<TARGET_FILE:moreau_solve_static>
                        ${MODULE_ARCHIVES} Threads::Threads m)
  add_dependencies(${name} moreau_static moreau_solve_static)
endfunction()

# -------------------------------------------------------------------------------------------- FMI
# What goes into units for co-simulation; `moreau export-fmu` looks for it beside the program.
moreau_module(moreau_fmu "fmi2*; fmi3*;" bindings/fmi/fmi2.c bindings/fmi/fmi3.c)
set_target_properties(moreau_fmu PROPERTIES OUTPUT_NAME moreau LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fmu)
if(NOT MOREAU_SANITIZE)
  target_link_options(moreau_fmu PRIVATE -s)
endif()
set_target_properties(moreau_fmu PROPERTIES EXCLUDE_FROM_ALL OFF) # it is installed
add_dependencies(programs moreau_fmu)
install(FILES $<TARGET_FILE:moreau_fmu> DESTINATION ${MOREAU_LAB_DIR}/fmu)

# ------------------------------------------------------------------------------------------------ Python
# The interpreter whose headers Debian installs; another python3 may come first in PATH.
set(MOREAU_PYTHON /usr/bin/python3 CACHE FILEPATH "the Python that the package moreau is built for")
if(EXISTS ${MOREAU_PYTHON})
  execute_process(COMMAND ${MOREAU_PYTHON} -c "import sysconfig; print(sysconfig.get_path('include'))"
                  OUTPUT_VARIABLE PYTHON_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(PYTHON_INCLUDE AND EXISTS ${PYTHON_INCLUDE}/Python.h)
  file(GLOB PYTHON_SOURCES CONFIGURE_DEPENDS bindings/python/src/*.c)
  moreau_module(moreau_python "PyInit__core;" ${PYTHON_SOURCES})
  target_include_directories(moreau_python SYSTEM PRIVATE ${PYTHON_INCLUDE})
  target_compile_definitions(moreau_python PRIVATE Py_LIMITED_API=0x030b0000)
  target_compile_options(moreau_python PRIVATE -Wno-missing-prototypes -Wno-pedantic)
  set_target_properties(moreau_python PROPERTIES OUTPUT_NAME _core SUFFIX .abi3.so
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python)

  # recordings and benchmark problems need HDF5: a module of their own, which is loaded when they are asked for
  add_library(moreau_python_lab MODULE EXCLUDE_FROM_ALL bindings/python/lab/lab.c)
  target_include_directories(moreau_python_lab PRIVATE include src)
  target_include_directories(moreau_python_lab SYSTEM PRIVATE ${PYTHON_INCLUDE})
  target_compile_definitions(moreau_python_lab PRIVATE Py_LIMITED_API=0x030b0000)
  target_compile_options(moreau_python_lab PRIVATE -Wno-missing-prototypes -Wno-pedantic)
  file(CONFIGURE OUTPUT exports-moreau_python_lab.map CONTENT "{ global: PyInit__laboratory; local: *; };\n" @ONLY)
  target_link_options(moreau_python_lab PRIVATE -Wl,--as-needed
                      -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/exports-moreau_python_lab.map)
  target_link_libraries(moreau_python_lab PRIVATE moreau_lab_static)
  set_target_properties(moreau_python_lab PROPERTIES PREFIX "" OUTPUT_NAME _laboratory SUFFIX .abi3.so
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python)
endif()

# ----------------------------------------------------------------------------------- Octave and MATLAB
# Octave by its headers; MATLAB builds the same source with its own mex (bindings/octave/README.md).
find_program(MOREAU_MKOCTFILE mkoctfile)
mark_as_advanced(MOREAU_MKOCTFILE)
if(MOREAU_MKOCTFILE)
  execute_process(COMMAND ${MOREAU_MKOCTFILE} -p OCTINCLUDEDIR OUTPUT_VARIABLE OCTAVE_INCLUDE
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  moreau_module(moreau_octave "mexFunction;" bindings/octave/moreau_mex.c bindings/octave/robot_mex.c
                bindings/octave/link_mex.c)
  target_include_directories(moreau_octave SYSTEM PRIVATE ${OCTAVE_INCLUDE})
  target_compile_options(moreau_octave PRIVATE -Wno-missing-prototypes -Wno-pedantic)
  set_target_properties(moreau_octave PROPERTIES OUTPUT_NAME moreau_mex SUFFIX .mex
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/octave)
endif()
