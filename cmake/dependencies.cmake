# What each library needs. A library's list has three forms: CMake targets to build with, names of pkg-config packages
# and plain -l names for those who link the archives (cmake/install.cmake). To drop a dependency, delete its line here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

foreach(library SOLVE CORE LAB)
  set(${library}_TARGETS) # to link with
  set(${library}_PACKAGES) # of pkg-config
  set(${library}_LIBRARIES) # without a package: names for -l
  set(${library}_INCLUDES)
endforeach()

# package(LIBRARY NAME PACKAGE...): the first package that is there.
macro(package library name)
  pkg_search_module(${name} REQUIRED IMPORTED_TARGET ${ARGN})
  list(APPEND ${library}_TARGETS PkgConfig::${name})
  list(APPEND ${library}_PACKAGES ${${name}_MODULE_NAME})
endmacro()

# plain(LIBRARY NAME LIB HEADER FOLDER): a library without a package, and where its header lies.
macro(plain library name lib header folder)
  find_library(${name}_LIBRARY ${lib} REQUIRED)
  find_path(${name}_INCLUDE ${header} PATH_SUFFIXES ${folder} REQUIRED)
  list(APPEND ${library}_TARGETS ${${name}_LIBRARY})
  list(APPEND ${library}_LIBRARIES ${lib})
  list(APPEND ${library}_INCLUDES ${${name}_INCLUDE})
endmacro()

# archives(LIBRARY NAME...): all of a library's dependencies that the command takes into itself (cmake/programs.cmake),
# with what they need in turn.
macro(archives library)
  set(${library}_ARCHIVES ${ARGN})
endmacro()

plain(SOLVE KLU klu klu.h suitesparse)
plain(SOLVE AMD amd amd.h suitesparse)
archives(SOLVE klu amd colamd btf suitesparseconfig)

package(CORE YAML yaml-0.1)
package(CORE EXPAT expat)
plain(CORE QHULL qhull_r libqhull_r/libqhull_r.h "")
archives(CORE yaml expat qhullstatic_r)

package(LAB HDF5 hdf5-serial hdf5)
package(LAB CAIRO cairo)
package(LAB ZLIB zlib)
package(LAB NLOPT nlopt)
pkg_check_modules(WEBSOCKETS IMPORTED_TARGET libwebsockets) # the viewer's server; optional
if(WEBSOCKETS_FOUND)
  list(APPEND LAB_TARGETS PkgConfig::WEBSOCKETS)
  list(APPEND LAB_PACKAGES libwebsockets)
endif()
