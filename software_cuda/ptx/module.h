// PTX modules: text or fat binary to entries that the machine runs.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace software_cuda {

struct Program;

struct Parameter {
    uint32_t offset, bytes;  // in the block of parameters of a launch
};

// A kernel entry.
struct Entry {
    std::string name;
    std::vector<Parameter> parameters;
    uint32_t parameter_bytes = 0;
    uint32_t shared_bytes = 0;  // of its static variables; dynamic ones follow
    uint32_t registers =
        0;  // 32-bit values that live at one place, at most: a lower bound of ptxas's
    uint32_t max_threads = 0;         // .maxntid, 0: not stated
    uint32_t required_block[3] = {};  // .reqntid, 0: not stated
    std::shared_ptr<const Program> program;
};

struct Module {
    uint32_t version = 0;  // 70 for .version 7.0
    uint32_t target = 0;   // 80 for .target sm_80
    std::vector<Entry> entries;

    // Null where there is none of that name.
    const Entry *find(std::string_view name) const;
};

// What the driver answers a module with that it does not take.
class ModuleError : public std::runtime_error {
public:
    enum Status { kInvalidImage = 200, kInvalidPtx = 218, kUnsupportedPtxVersion = 222 };
    ModuleError(Status status, const std::string &message)
        : std::runtime_error(message), status_(status) {}
    Status status() const { return status_; }

private:
    Status status_;
};

// Throws ModuleError, whose message names line and instruction. `target` is the chip's: code for a
// later one is refused.
Module parse_module(std::string_view text, uint32_t target);

// The PTX of an image as cuModuleLoadData takes it: a text that ends with a zero, or a fat binary.
// Throws ModuleError.
std::string ptx_of_image(const void *image);

}  // namespace software_cuda
