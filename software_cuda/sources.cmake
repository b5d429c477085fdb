# The PTX parser and the machine, a library that the driver and the tests link.
set(SOFTWARE_CUDA_MACHINE_TARGET software_cuda_machine)
file(GLOB sources CONFIGURE_DEPENDS ptx/*.cpp machine/*.cpp)
add_library(software_cuda_machine STATIC ${sources})
target_include_directories(software_cuda_machine PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_link_libraries(software_cuda_machine PUBLIC Threads::Threads PRIVATE ${HK_LZ4})
# Loops over lanes become vector code only with the optimizations of -O3, and results are those of PTX without contraction.
# GCC 12 sees overlapping copies in strings: its bug 105651.
target_compile_options(software_cuda_machine PRIVATE
    -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-restrict)
# Each instruction set of the host is a source of its own: only those of the parser are compiled at once.
set_target_properties(software_cuda_machine PROPERTIES UNITY_BUILD_MODE GROUP POSITION_INDEPENDENT_CODE ON)
file(GLOB parser ptx/*.cpp)
set_source_files_properties(${parser} PROPERTIES UNITY_GROUP ptx)
