#pragma once
// Tells AddressSanitizer which bytes of the host's pool nobody owns, so that it finds uses after
// free and overruns there too.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace hk::detail {

#if defined(__SANITIZE_ADDRESS__)
inline void poison(const void *memory, size_t bytes) { __asan_poison_memory_region(memory, bytes); }
inline void unpoison(const void *memory, size_t bytes) {
    __asan_unpoison_memory_region(memory, bytes);
}
#else
inline void poison(const void *, size_t) {}
inline void unpoison(const void *, size_t) {}
#endif

}  // namespace hk::detail
