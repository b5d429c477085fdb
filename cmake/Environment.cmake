# The Python environment that holds Halide and the CUDA assembler, and the Debian packages.

if(SKBUILD)
    # pip's environment, which is another folder in each build: by a link in the build tree its headers have one path, and
    # ccache knows them again.
    set(HK_PYTHON ${Python_EXECUTABLE})
    execute_process(COMMAND ${HK_PYTHON} -c "import halide; print(halide.__path__[0])"
        OUTPUT_VARIABLE halide_package OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    cmake_path(GET halide_package PARENT_PATH environment)
    set(site_packages ${CMAKE_BINARY_DIR}/environment)
    file(CREATE_LINK ${environment} ${site_packages} SYMBOLIC)
    list(APPEND CMAKE_PREFIX_PATH ${site_packages}/halide)
    # Its headers are newer than what was precompiled of them, and are precompiled again. With the old file in its place
    # that is another compilation to ccache, as is all that reads the new one.
    file(GLOB_RECURSE precompiled ${CMAKE_BINARY_DIR}/*.gch)
    file(REMOVE ${precompiled})
else()
    set(HK_VENV ${CMAKE_SOURCE_DIR}/.venv CACHE PATH "Python environment made by setup.sh")
    file(GLOB site_packages ${HK_VENV}/lib/python3*/site-packages)
    list(APPEND CMAKE_PREFIX_PATH ${site_packages}/halide ${HK_VENV})
    find_program(HK_PYTHON python3 HINTS ${HK_VENV}/bin NO_DEFAULT_PATH REQUIRED)
endif()
file(GLOB halide_lib ${site_packages}/halide/lib64/cmake)
set(Halide_DIR ${halide_lib}/Halide)
set(HalideHelpers_DIR ${halide_lib}/HalideHelpers)
find_package(Halide 21 REQUIRED COMPONENTS shared)

# A CUDA toolkit on the machine does as well; without either, kernels carry PTX only.
find_program(HK_PTXAS ptxas HINTS ${site_packages}/nvidia/cu13/bin NO_DEFAULT_PATH)
find_program(HK_PTXAS ptxas)
find_program(HK_FATBINARY fatbinary HINTS ${site_packages}/nvidia/cu13/bin NO_DEFAULT_PATH)
find_program(HK_FATBINARY fatbinary)
# Of tests alone.
find_program(HK_NVDISASM nvdisasm HINTS ${site_packages}/nvidia/cu13/bin NO_DEFAULT_PATH)
find_program(HK_NVDISASM nvdisasm)
if(HK_CUDA AND NOT (HK_PTXAS AND HK_FATBINARY))
    message(WARNING "no ptxas and fatbinary: CUDA kernels are embedded as PTX, their resources unknown")
endif()

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED CONFIG)  # headers
# Packs device code. The archive, since the runtime takes the decoder in.
find_library(HK_ZSTD libzstd.a REQUIRED)
find_file(HK_ZSTD_LICENSE copyright PATHS /usr/share/doc/libzstd-dev NO_DEFAULT_PATH)
if(HK_SOFTWARE_CUDA)
    find_library(HK_LZ4 lz4 REQUIRED)  # of fatbins that NVIDIA's tools compress
endif()
if(HK_BUILD_APPS)
    find_package(CLI11 REQUIRED)
    find_package(nlohmann_json REQUIRED)
    find_package(PNG REQUIRED)
    find_package(JPEG REQUIRED)
    find_package(MPI REQUIRED COMPONENTS C)
    find_package(Eigen3 REQUIRED NO_MODULE)
    find_path(HK_STB stb_easy_font.h PATH_SUFFIXES stb REQUIRED)
endif()
if(BUILD_TESTING)
    find_package(GTest REQUIRED)
endif()
