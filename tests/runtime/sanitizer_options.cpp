// What the sanitizers must know of these tests; without them nothing calls this. Some tests ask for
// more memory than there is, and PoCL keeps what it compiled until the process ends.

extern "C" {

const char *__asan_default_options();
const char *__asan_default_options() { return "allocator_may_return_null=1"; }

// Halide's runtime is not compiled with sanitizers: they see half of how its threads wait.
const char *__tsan_default_suppressions();
const char *__tsan_default_suppressions() {
    return "race:Halide::Runtime\nmutex:Halide::Runtime\n";
}

const char *__lsan_default_suppressions();
const char *__lsan_default_suppressions() { return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\n"; }
}
