// What the sanitizers must know of these tests; without them nothing calls this. AddressSanitizer
// keeps freed memory for a while, 256 MB of it if it may; here the process' memory is counted. PoCL
// keeps what it compiled until the process ends.

extern "C" {

const char *__asan_default_options();
const char *__asan_default_options() {
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64";
}

const char *__lsan_default_suppressions();
const char *__lsan_default_suppressions() { return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\n"; }
}
