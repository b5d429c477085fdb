// AddressSanitizer keeps freed memory for a while, 256 MB of it if it may; here the process' memory
// is counted.
extern "C" const char *__asan_default_options() {
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64";
}
