#include "dynamic_library.h"

#include <dlfcn.h>

namespace hk::detail {

void *open_library(std::initializer_list<const char *> names) noexcept {
    for (const char *name : names) {
        if (void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return library;
    }
    return nullptr;
}

}  // namespace hk::detail
