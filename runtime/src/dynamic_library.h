#pragma once
// A driver's library, loaded when it is first asked for.

#include <initializer_list>

namespace hk::detail {

using SymbolLookup = void *(*)(const char *name);

// The handle of the first library of these names that loads; null where none does.
void *open_library(std::initializer_list<const char *> names) noexcept;

// Fills a table of function pointers; false where a function is missing.
template<typename F>
bool resolve(SymbolLookup lookup, const char *name, F *&function) {
    function = reinterpret_cast<F *>(lookup(name));
    return function != nullptr;
}

}  // namespace hk::detail
