#pragma once
// A family of kernels in `explain`: its verb's flags, and its choice on each target. main.cpp lists
// the verbs.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hk/device.h"
#include "hk/kernel_info.h"
#include "launches.h"

#include "program/flags.h"

namespace hk::explain {

// A device to choose for: one that is here, or the usual limits of one that is not.
struct Target {
    DeviceType type = DeviceType::cpu;
    DeviceLimits limits;
    std::string description;
};

// The first device of each kind, under HK_SHARED_LIMIT.
Target target_of(DeviceType type);

// What a problem asks for, whatever the kernel.
struct Arithmetic {
    double operations;       // multiplications and additions
    double bytes;            // of all tensors, each once
    double gathered, added;  // bytes of rows that are read, and added to, by all pairs
};

class Verb {
public:
    virtual ~Verb() = default;

    virtual std::string name() const = 0;  // of the family
    virtual std::string description() const = 0;
    virtual void add_flags(program::Flags &flags) = 0;

    // Reads the flags; throws InvalidArgument. Called before what follows.
    virtual void prepare() = 0;

    virtual std::string problem() const = 0;  // in words
    virtual DataType type() const = 0;
    virtual Layout layout() const = 0;
    virtual std::span<const KernelInfo> kernels() const = 0;
    virtual Selection select(const Target &target) const = 0;

    // The fields of conditions that tell kinds of problems apart, and the problem's value of them.
    // What rows ask of all other fields, sizes, is told as their regions; no fields: of none.
    virtual std::vector<std::string> kind_fields() const { return {}; }
    virtual int64_t field(std::string_view) const { return 0; }

    virtual std::optional<Arithmetic> arithmetic() const { return std::nullopt; }

    // Runs the kernel on tensors at made-up addresses of Device::cuda().
    virtual void launch(const KernelInfo &kernel) const = 0;
};

std::unique_ptr<Verb> conv2d_verb();
std::unique_ptr<Verb> quantized_conv2d_verb();
std::unique_ptr<Verb> conv2d_backward_data_verb();
std::unique_ptr<Verb> conv2d_backward_weight_verb();
std::unique_ptr<Verb> topk_verb();
std::unique_ptr<Verb> tensor_product_verb();
std::unique_ptr<Verb> activate_verb();
std::unique_ptr<Verb> activate_backward_verb();
std::unique_ptr<Verb> sgd_verb();
std::unique_ptr<Verb> pool2d_verb();
std::unique_ptr<Verb> pool2d_backward_verb();
std::unique_ptr<Verb> softmax_cross_entropy_verb();

}  // namespace hk::explain
