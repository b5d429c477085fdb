# One library of one type for one kind of device, as docs/building.md has it: configured, built, installed to PREFIX;
# and what may not be asked for. SOURCE, BUILD, PREFIX, GENERATOR, MAKE_PROGRAM, CXX.
file(REMOVE_RECURSE ${BUILD} ${PREFIX})
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
    -D CMAKE_CXX_COMPILER=${CXX} -D HK_CUDA=OFF -D HK_OPENCL=OFF)

function(expect_refusal message)
    execute_process(COMMAND ${configure} ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE told)
    string(REGEX REPLACE "[ \n]+" " " told "${told}")
    string(FIND "${told}" "${message}" found)
    if(status EQUAL 0 OR found EQUAL -1)
        message(FATAL_ERROR "configured with ${ARGN}: ${status}, ${told}, not \"${message}\"")
    endif()
endfunction()
expect_refusal("HK_FAMILIES: there is no conv3d; there are activation, conv2d, conv2d_backward, group_norm, pool2d"
    "-DHK_FAMILIES=conv3d" -DHK_TYPES=)
expect_refusal("HK_TYPES: there is no f8; there are bf16, f16, f32, f64, u8" -DHK_FAMILIES=conv2d -DHK_TYPES=f8)
expect_refusal("HK_BUILD_APPS: the programs need all" -DHK_FAMILIES=conv2d -DHK_TYPES=f32 -DHK_BUILD_APPS=ON)
file(REMOVE_RECURSE ${BUILD})

execute_process(COMMAND ${configure} -DHK_FAMILIES=activation -DHK_TYPES=f32 OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(unneeded MPI_C PNG JPEG CLI11)
    execute_process(COMMAND ${CMAKE_COMMAND} -N -L -B ${BUILD} OUTPUT_VARIABLE variables)
    if(variables MATCHES "${unneeded}")
        message(FATAL_ERROR "the library alone looks for ${unneeded}")
    endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
