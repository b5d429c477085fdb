# cmake --install: a package that needs neither Halide nor Python. Who finds it by
# find_package(HalideKernels) links HalideKernels::LIBRARY, or HalideKernels::FAMILY_kernels to call
# compiled functions without the library's own interface.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY HK_LIBRARIES)
set(HK_INSTALLED_FAMILIES)  # LIBRARY/FAMILY each
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/HalideKernels)

set_target_properties(hk_runtime PROPERTIES EXPORT_NAME runtime)
install(TARGETS hk_runtime EXPORT HalideKernelsTargets)
foreach(library IN LISTS libraries)
    set_target_properties(hk_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS hk_${library} EXPORT HalideKernelsTargets)
    get_property(families GLOBAL PROPERTY HK_FAMILIES_OF_${library})
    foreach(family IN LISTS families)
        list(APPEND HK_INSTALLED_FAMILIES ${library}/${family})
        install(FILES ${CMAKE_BINARY_DIR}/kernels/${family}/libhk_${family}_kernels.a
            DESTINATION ${CMAKE_INSTALL_LIBDIR})
        install(DIRECTORY ${CMAKE_BINARY_DIR}/kernels/${family}/
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hk/kernels
            FILES_MATCHING PATTERN "*.h")
    endforeach()
endforeach()
install(EXPORT HalideKernelsTargets NAMESPACE HalideKernels:: DESTINATION ${package_dir})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/runtime/include/hk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_target_property(halide_headers Halide::Runtime INTERFACE_INCLUDE_DIRECTORIES)
install(FILES
    ${halide_headers}/HalideRuntime.h
    ${halide_headers}/HalideRuntimeCuda.h
    ${halide_headers}/HalideRuntimeOpenCL.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${halide_headers}/../share/doc/Halide/LICENSE.txt RENAME LICENSE.Halide OPTIONAL
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${HK_ZSTD_LICENSE} RENAME LICENSE.Zstandard OPTIONAL
    DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/HalideKernelsConfig.cmake.in
    ${CMAKE_BINARY_DIR}/HalideKernelsConfig.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/HalideKernelsConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_BINARY_DIR}/HalideKernelsConfig.cmake
    ${CMAKE_BINARY_DIR}/HalideKernelsConfigVersion.cmake
    DESTINATION ${package_dir})
