#pragma once
// Halide's description of a function's arguments, which its objects carry and its JIT leaves out.

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "Halide.h"
#include "HalideRuntime.h"

namespace hk::explorer {

class Metadata {
public:
    Metadata() = default;
    // `arguments`: of the generator, whose names Halide makes unique.
    Metadata(const Halide::Internal::LoweredFunc &function,
             const std::vector<Halide::Internal::AbstractGenerator::ArgInfo> &arguments);

    const halide_filter_metadata_t *get() const { return &owner_->metadata; }

private:
    struct Owner {
        std::list<std::string> names;
        std::list<std::vector<const int64_t *>> estimates;
        std::list<int64_t> numbers;
        std::vector<halide_filter_argument_t> arguments;
        halide_filter_metadata_t metadata;
    };
    std::shared_ptr<Owner> owner_;
};

}  // namespace hk::explorer
