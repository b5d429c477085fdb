# Writes OUTPUT, a header with the hash of FILES: what the compiler is, for keys of its cache.
set(hashes)
foreach(file IN LISTS FILES)
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUTPUT} "#pragma once\n#define HK_COMPILER_VERSION \"${hash}\"\n")
