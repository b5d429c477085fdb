# Strips APP and fails where more than LIMIT bytes are left.
execute_process(COMMAND ${STRIP} -o ${APP}.stripped ${APP} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${APP}.stripped bytes)
message(STATUS "an application with conv2d alone has ${bytes} bytes, the limit is ${LIMIT}")
if(bytes GREATER_EQUAL LIMIT)
    message(FATAL_ERROR "${bytes} bytes are too many")
endif()
