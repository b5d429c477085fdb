# What is built of the table (Table.cmake). It is the only caller of the kernel compiler.

include(${CMAKE_CURRENT_LIST_DIR}/Table.cmake)

# Bounds queries are never used; dropping them saves 1.5 KB a kernel.
set(HK_FEATURES user_context-no_runtime-no_bounds_query)

# For any machine: what HK_CPU names, best first, and what it stands for.
set(HK_PORTABLE_HOST x86-64-linux)
set(HK_CPU_LEVELS avx512 avx2 sse41 x86-64)
set(host_avx512 ${HK_PORTABLE_HOST}-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake)
set(host_avx2 ${HK_PORTABLE_HOST}-avx-avx2-f16c-fma-sse41)
set(host_sse41 ${HK_PORTABLE_HOST}-sse41)
set(host_x86-64 ${HK_PORTABLE_HOST})
set(HK_PORTABLE_TARGET_cpu)
foreach(level IN LISTS HK_CPU_LEVELS)
    list(APPEND HK_PORTABLE_TARGET_cpu ${host_${level}}-${HK_FEATURES})
endforeach()
list(JOIN HK_PORTABLE_TARGET_cpu "," HK_PORTABLE_TARGET_cpu)
if(HK_PORTABLE)
    set(HK_HOST ${HK_PORTABLE_HOST})
    set(HK_TARGET_cpu ${HK_PORTABLE_TARGET_cpu})
else()
    set(HK_HOST host)
    set(HK_TARGET_cpu host-${HK_FEATURES})
endif()
# Registers of matrices: kernels for them are built for a host that has them.
set(HK_AMX OFF)
if(NOT HK_PORTABLE AND EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
    set(HK_AMX ON)
    foreach(flag IN ITEMS avx_vnni avx512_bf16 amx_tile amx_bf16 amx_int8)
        if(NOT "${flags} " MATCHES " ${flag} ")
            set(HK_AMX OFF)
        endif()
    endforeach()
endif()
# Device code depends on what the host can do: of the least, it is the same wherever it was compiled.
set(HK_TARGET_cuda ${HK_PORTABLE_HOST}-cuda-cuda_capability_80-${HK_FEATURES})
set(HK_TARGET_opencl ${HK_PORTABLE_HOST}-opencl-${HK_FEATURES})

# A family is a folder in generators/, schedules/ and runtime/src, and the library hk_LIBRARY that is linked, named as the
# folder. One with several kernels is several kernel_family, each with its table and its generator,
# generators/LIBRARY/FAMILY_generator.cpp; the folders' other sources are their algorithms and schedules, which a library
# that is named in USES shares. FIELDS: of its problems, in runtime/src. KEYS: its types are sizes of keys, which all types
# of tensors have, and HK_TYPES leaves none out. Of a library that HK_FAMILIES does not name only what others use is built.
function(kernel_family FAMILY)
    cmake_parse_arguments(PARSE_ARGV 1 arg "KEYS" "LIBRARY" "USES;FIELDS")
    if(NOT arg_LIBRARY)
        set(arg_LIBRARY ${FAMILY})
    endif()
    set(FAMILY ${FAMILY} PARENT_SCOPE)
    read_fields(${arg_FIELDS})
    set_property(GLOBAL APPEND PROPERTY HK_KNOWN_LIBRARIES ${arg_LIBRARY})
    set_property(GLOBAL PROPERTY HK_HAS_KEYS_${FAMILY} ${arg_KEYS})
    add_algorithms(${arg_LIBRARY} ${arg_USES})
    if(HK_FAMILIES AND NOT arg_LIBRARY IN_LIST HK_FAMILIES)
        set_target_properties(hk_${arg_LIBRARY}_algorithms PROPERTIES EXCLUDE_FROM_ALL ON)
        return()
    endif()
    add_library(hk_${FAMILY}_generators OBJECT
        ${CMAKE_SOURCE_DIR}/generators/${arg_LIBRARY}/${FAMILY}_generator.cpp)
    target_link_libraries(hk_${FAMILY}_generators PUBLIC hk_${arg_LIBRARY}_algorithms)
    hk_reuse_halide_header(hk_${FAMILY}_generators)
    add_executable(${FAMILY}.generator)
    target_link_libraries(${FAMILY}.generator PRIVATE hk_${FAMILY}_generators hk_kernel_compiler)
    set_property(GLOBAL APPEND PROPERTY HK_FAMILIES ${FAMILY})
    set_property(GLOBAL APPEND PROPERTY HK_LIBRARIES ${arg_LIBRARY})
    set_property(GLOBAL APPEND PROPERTY HK_FAMILIES_OF_${arg_LIBRARY} ${FAMILY})
endfunction()

# The algorithms and schedules of a family's folders, and the libraries whose algorithms they call.
function(add_algorithms LIBRARY)
    set(target hk_${LIBRARY}_algorithms)
    if(NOT TARGET ${target})
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/generators/${LIBRARY}/*.cpp
            ${CMAKE_SOURCE_DIR}/schedules/${LIBRARY}/*.cpp)
        list(FILTER sources EXCLUDE REGEX "_generator\\.cpp$")
        add_library(${target} STATIC ${sources})
        target_link_libraries(${target} PUBLIC hk_generator_parts)
        hk_reuse_halide_header(${target})
    endif()
    list(TRANSFORM ARGN REPLACE "(.+)" "hk_\\1_algorithms" OUTPUT_VARIABLE used)
    target_link_libraries(${target} PUBLIC ${used})
endfunction()

# The kernels of a row, of which row() has the parts.
function(add_row)
    get_property(has_keys GLOBAL PROPERTY HK_HAS_KEYS_${FAMILY})
    if(NOT has_keys)
        set_property(GLOBAL APPEND PROPERTY HK_KNOWN_TYPES ${TYPES})
    endif()
    get_property(families GLOBAL PROPERTY HK_FAMILIES)
    if(NOT FAMILY IN_LIST families)
        return()
    endif()
    if(HK_TYPES AND NOT has_keys)
        list(JOIN HK_TYPES "|" wanted)
        list(FILTER TYPES INCLUDE REGEX "^(${wanted})$")
    endif()
    get_property(known GLOBAL PROPERTY HK_KNOWN_FIELDS_${FAMILY})
    set(parameters algorithm=${ALGORITHM} schedule=${SCHEDULE})
    foreach(condition IN LISTS where)
        if(condition MATCHES "^([a-z][a-z0-9_]*)=([0-9]+)$" AND CMAKE_MATCH_1 IN_LIST known)
            list(APPEND parameters fix_${condition})
        endif()
    endforeach()
    if(KNOBS STREQUAL "-")
        set(KNOBS "")
    else()
        list(APPEND parameters knobs=${KNOBS})
    endif()
    if(budget)
        list(APPEND parameters --budget=${budget})
    endif()
    foreach(device IN LISTS devices)
        string(TOUPPER ${device} option)
        if(NOT HK_${option})
            continue()
        endif()
        foreach(layout IN LISTS LAYOUTS)
            foreach(type IN LISTS TYPES)
                add_kernel_of_row(${type} ${layout} ${device})
            endforeach()
        endforeach()
    endforeach()
endfunction()

function(add_kernel_of_row type layout device)
    set(name ${FAMILY}_${ROW}_${type}_${layout}_${device})
    set(layout_parameter layout=${layout})
    if(layout STREQUAL any)
        set(name ${FAMILY}_${ROW}_${type}_${device})
        set(layout_parameter)
    endif()
    set(target ${HK_TARGET_${device}})
    if("${device} ${type}" STREQUAL "opencl f64")
        string(APPEND target -cl_doubles)
    endif()
    compile_kernel(${FAMILY} ${name} ${target} type=${HK_TYPE_${type}} ${layout_parameter} ${parameters})
    string(JOIN "|" columns ${name} ${FAMILY} ${ROW} ${ALGORITHM} ${SCHEDULE} "${KNOBS}" ${type} ${layout} ${device}
        "${where}" "${budget}" "${contract}")
    string(REPLACE ";" " " columns "${columns}")
    set_property(GLOBAL APPEND PROPERTY HK_ROWS_${FAMILY} "${columns}")
endfunction()

# One function: its archive, header and resource report in build/kernels/FAMILY.
function(compile_kernel FAMILY name target)
    if(HK_KERNELS_FROM)
        return()
    endif()
    set(dir ${CMAKE_BINARY_DIR}/kernels/${FAMILY})
    add_custom_command(
        OUTPUT ${dir}/${name}.a ${dir}/${name}.h ${dir}/${name}.json
        COMMAND env "HK_PTXAS=${HK_PTXAS}" "HK_FATBINARY=${HK_FATBINARY}"
            $<TARGET_FILE:${FAMILY}.generator> -g ${FAMILY} -f ${name} -o ${dir}
            --pack -e static_library,c_header,resources target=${target} ${ARGN}
        DEPENDS ${FAMILY}.generator
        COMMENT "Kernel ${name}"
        VERBATIM)
endfunction()

# Fails where VARIABLE names what is not in the global list.
function(check_choice VARIABLE known)
    get_property(all GLOBAL PROPERTY ${known})
    list(REMOVE_DUPLICATES all)
    list(SORT all)
    foreach(one IN LISTS ${VARIABLE})
        if(NOT one IN_LIST all)
            list(JOIN all ", " all)
            message(FATAL_ERROR "${VARIABLE}: there is no ${one}; there are ${all}")
        endif()
    endforeach()
endfunction()

# After the last row: the libraries, of their families' archives of kernels and tables.
function(finish_kernels)
    check_choice(HK_FAMILIES HK_KNOWN_LIBRARIES)
    check_choice(HK_TYPES HK_KNOWN_TYPES)
    get_property(libraries GLOBAL PROPERTY HK_LIBRARIES)
    list(REMOVE_DUPLICATES libraries)
    set_property(GLOBAL PROPERTY HK_LIBRARIES ${libraries})
    if(HK_KERNELS_FROM)
        take_kernels()
    endif()
    foreach(library IN LISTS libraries)
        file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/src/${library}/*.cpp)
        list(FILTER parts EXCLUDE REGEX "/stages\\.cpp$")
        # Its functions stand apart from its tables: the explorer has tables of its own.
        add_library(hk_${library}_functions OBJECT ${parts})
        target_include_directories(hk_${library}_functions PRIVATE ${CMAKE_SOURCE_DIR}/runtime/src)
        target_link_libraries(hk_${library}_functions PRIVATE hk_runtime)
        hk_reuse_headers(hk_${library}_functions hk_library_headers)
        add_library(hk_${library} STATIC $<TARGET_OBJECTS:hk_${library}_functions>)
        add_library(HalideKernels::${library} ALIAS hk_${library})
        target_link_libraries(hk_${library} PUBLIC hk_runtime)
        hk_reuse_headers(hk_${library} hk_library_headers)
        get_property(families GLOBAL PROPERTY HK_FAMILIES_OF_${library})
        foreach(family IN LISTS families)
            finish_family(${family} ${library})
        endforeach()
    endforeach()
    list(TRANSFORM libraries PREPEND hk_)
    add_library(hk_libraries INTERFACE)
    target_link_libraries(hk_libraries INTERFACE ${libraries})
    # All that another tree's HK_KERNELS_FROM asks for.
    add_custom_target(hk_kernels DEPENDS ${libraries})
endfunction()

# Kernels, their tables and reports are those of the other tree, which has to be built before: a build with
# sanitizers, which kernels can't have, would compile the same once more.
function(take_kernels)
    if(NOT EXISTS ${HK_KERNELS_FROM}/kernels)
        message(FATAL_ERROR "HK_KERNELS_FROM: there are no kernels in ${HK_KERNELS_FROM}; "
            "cmake --build ${HK_KERNELS_FROM} --target hk_kernels makes them")
    endif()
    file(CREATE_LINK ${HK_KERNELS_FROM}/kernels ${CMAKE_BINARY_DIR}/kernels SYMBOLIC)
endfunction()

function(finish_family FAMILY LIBRARY)
    set(dir ${CMAKE_BINARY_DIR}/kernels/${FAMILY})
    set(archive ${dir}/libhk_${FAMILY}_kernels.a)
    add_custom_target(hk_${FAMILY}_archive DEPENDS ${archive})
    if(NOT HK_KERNELS_FROM)
        archive_family(${FAMILY} ${LIBRARY} ${dir} ${archive})
    endif()
    add_library(hk_${FAMILY}_kernels STATIC IMPORTED GLOBAL)
    # Kernels call the runtime: it stands behind them too where archives are linked.
    set_target_properties(hk_${FAMILY}_kernels PROPERTIES
        IMPORTED_LOCATION ${archive} INTERFACE_LINK_LIBRARIES hk_runtime)
    add_dependencies(hk_${FAMILY}_kernels hk_${FAMILY}_archive)
    target_link_libraries(hk_${FAMILY}_kernels INTERFACE hk_runtime)

    target_sources(hk_${LIBRARY} PRIVATE ${dir}/${FAMILY}_table.cpp)
    target_link_libraries(hk_${LIBRARY} PRIVATE $<BUILD_INTERFACE:hk_${FAMILY}_kernels>)
endfunction()

# The archive of a family's kernels and the source of its table.
function(archive_family FAMILY LIBRARY dir archive)
    file(MAKE_DIRECTORY ${dir})
    get_property(rows GLOBAL PROPERTY HK_ROWS_${FAMILY})
    string(JOIN "\n" text ${rows})
    file(CONFIGURE OUTPUT ${dir}/rows.txt CONTENT "${text}\n" @ONLY)

    set(script "CREATE ${archive}\n")
    set(archives)
    set(reports)
    foreach(row IN LISTS rows)
        string(REGEX REPLACE "\\|.*" "" name "${row}")
        string(APPEND script "ADDLIB ${dir}/${name}.a\n")
        list(APPEND archives ${dir}/${name}.a)
        list(APPEND reports ${dir}/${name}.json)
    endforeach()
    file(CONFIGURE OUTPUT ${dir}/archive.mri CONTENT "${script}SAVE\nEND\n" @ONLY)
    add_custom_command(OUTPUT ${archive}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND sh -c "'${CMAKE_AR}' -M < '${dir}/archive.mri'"
        DEPENDS ${archives} ${dir}/archive.mri
        COMMENT "Archive of the ${FAMILY} kernels" VERBATIM)
    add_custom_command(OUTPUT ${dir}/${FAMILY}_table.cpp
        COMMAND ${HK_PYTHON} ${CMAKE_SOURCE_DIR}/compiler/write_table.py ${FAMILY} ${LIBRARY} ${dir}
            ${dir}/${FAMILY}_table.cpp
        DEPENDS ${CMAKE_SOURCE_DIR}/compiler/write_table.py ${dir}/rows.txt ${reports}
        COMMENT "Table of the ${FAMILY} kernels" VERBATIM)
endfunction()
