// These tests run code that Halide and PoCL compile in the process. It has no symbols, so that its
// leaks can't be told apart from ours; without a sanitizer nothing calls this.

extern "C" {

const char *__asan_default_options();
const char *__asan_default_options() { return "detect_leaks=0"; }
}
