# What `make install` installs. Everything is found relative to where it lies, so the tree may be moved.
install(TARGETS moreau RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS moreau-lab RUNTIME DESTINATION ${MOREAU_LAB_DIR})
install(TARGETS moreau_solve_static moreau_static moreau_lab_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS moreau_solve_shared moreau_shared moreau_lab_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/moreau DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/moreau/scenes)
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES completions/moreau.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME moreau)
install(FILES completions/_moreau DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/moreau.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Libraries find each other wherever the tree is moved to.
set_target_properties(moreau_shared moreau_lab_shared PROPERTIES INSTALL_RPATH "$ORIGIN")

set(moreau_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/moreau)
file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
file(RELATIVE_PATH PREFIX_FROM_CMAKE /p/${moreau_cmake_dir} /p)

# One pkg-config file per library: pc(LIBRARY NAME DESCRIPTION BASE).
function(pc library name description base)
  set(NAME ${name})
  set(DESCRIPTION "${description}")
  set(BASE "${base}")
  if(base)
    string(APPEND BASE " = ${PROJECT_VERSION}")
  endif()
  list(JOIN ${library}_PACKAGES " " PACKAGES)
  set(LIBRARIES ${${library}_LIBRARIES})
  list(TRANSFORM LIBRARIES PREPEND "-l")
  list(JOIN LIBRARIES " " LIBRARIES)
  configure_file(cmake/moreau.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
pc(SOLVE moreau-solve "Complementarity and contact problems: solvers and a judge" "")
pc(CORE moreau "Rigid bodies with contact and friction: bodies, robots, scenes, methods" moreau-solve)
pc(LAB moreau-lab "Moreau's laboratory: recordings, benchmark problems, comparison, plots, viewer" moreau)

configure_file(cmake/moreau-config.cmake.in moreau-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
# before 1.0 a minor version may change the API
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/moreau-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/moreau-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/moreau-config-version.cmake
        DESTINATION ${moreau_cmake_dir})
