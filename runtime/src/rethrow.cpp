#include "rethrow.h"

#include <new>
#include <stdexcept>
#include <string_view>

#include "hk/error.h"
#include "immortal.h"

namespace hk::detail {

namespace {

// Made while there is memory: the text of an exception is allocated, its copy shares it.
const OutOfMemory &spare() {
    static Immortal<const OutOfMemory> error("no memory left on the host");
    return *error;
}

[[maybe_unused]] const OutOfMemory &made_early = spare();

bool begins_with(std::string_view message, std::string_view operation) {
    return message.starts_with(operation) && message.substr(operation.size()).starts_with(": ");
}

template<typename E>
[[noreturn]] void throw_named(const char *operation, const char *what) try {
    throw E(std::string(operation) + ": " + what);
} catch (const std::bad_alloc &) {
    throw OutOfMemory(spare());
}

}  // namespace

void rethrow_as_error(const char *operation) {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        throw_named<OutOfMemory>(operation, "no memory left on the host");
    } catch (const OutOfMemory &error) {
        if (begins_with(error.what(), operation)) throw;
        throw_named<OutOfMemory>(operation, error.what());
    } catch (const std::length_error &) {
        throw_named<InvalidArgument>(operation, "more elements than memory can hold");
    }
}

}  // namespace hk::detail
