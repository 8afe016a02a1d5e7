# What `make install` installs. Everything is found relative to where it lies, so the tree may be moved.
install(TARGETS moreau RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS moreau_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS moreau_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/moreau DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/moreau/scenes)
install(FILES docs/moreau.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(MOREAU_SERVER_PACKAGE "")
if(WEBSOCKETS_FOUND)
  set(MOREAU_SERVER_PACKAGE libwebsockets)
endif()
set(moreau_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/moreau)
file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
file(RELATIVE_PATH PREFIX_FROM_CMAKE /p/${moreau_cmake_dir} /p)
configure_file(cmake/moreau.pc.in moreau.pc @ONLY)
configure_file(cmake/moreau-config.cmake.in moreau-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
# before 1.0 a minor version may change the API
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/moreau-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/moreau.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/moreau-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/moreau-config-version.cmake
        DESTINATION ${moreau_cmake_dir})
