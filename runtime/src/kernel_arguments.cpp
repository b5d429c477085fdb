#include "kernel_arguments.h"

#include <algorithm>
#include <set>

#include "hk/error.h"

namespace hk::detail {

namespace {

std::string kind_of(int64_t bytes) {
    return bytes == 0 ? "a buffer" : "a number of " + std::to_string(bytes) + " bytes";
}

}  // namespace

bool takes_on_cuda(const KernelInfo &kernel, const char *argument) {
    return kernel.device == DeviceType::cuda &&
           std::ranges::any_of(kernel.loaded().arguments, [&](const KernelArgument &one) {
               return std::strcmp(one.name, argument) == 0;
           });
}

KernelArguments::KernelArguments(const char *operation, const KernelInfo &kernel)
    : operation_(operation), kernel_(kernel.loaded()) {
    const auto declared = kernel_.arguments;
    if (declared.empty() || std::strcmp(declared[0].name, "__user_context") != 0)
        fail("does not begin with a user's context");
    if (declared.size() > kMost) fail("has more than " + std::to_string(kMost) + " arguments");
    std::fill_n(pointers_.begin(), declared.size(), nullptr);
}

void KernelArguments::fail(const std::string &what) const {
    throw KernelFailure(std::string(operation_) + ": kernel " + kernel_.name + " " + what);
}

KernelArguments &KernelArguments::add(std::span<const NamedArgument> arguments) {
    const auto declared = kernel_.arguments;
    for (const NamedArgument &given : arguments) {
        // Linkers join equal strings.
        const auto is_given = [&](const KernelArgument &argument) {
            return argument.name == given.name || std::strcmp(argument.name, given.name) == 0;
        };
        size_t at = next_;
        if (at >= declared.size() || !is_given(declared[at])) {
            const auto found = std::find_if(declared.begin() + 1, declared.end(), is_given);
            if (found == declared.end()) fail(std::string("has no argument ") + given.name);
            at = static_cast<size_t>(found - declared.begin());
        }
        if (pointers_[at]) fail(std::string("is given its argument ") + given.name + " twice");
        const bool is_buffer = given.bytes == 0;
        if (declared[at].bytes != given.bytes || (is_buffer && !given.buffer)) {
            fail("takes " + kind_of(declared[at].bytes) + " as its argument " + given.name +
                 ", it is given " +
                 (is_buffer && !given.buffer ? "no buffer" : kind_of(given.bytes)));
        }
        numbers_[at] = given.number;
        pointers_[at] = is_buffer ? static_cast<void *>(given.buffer) : &numbers_[at];
        next_ = at + 1;
        count_++;
    }
    return *this;
}

void **KernelArguments::with_context(void **user_context) {
    const auto declared = kernel_.arguments;
    for (size_t i = 1; count_ < declared.size() && i < declared.size(); i++) {
        if (!pointers_[i]) fail(std::string("is not given its argument ") + declared[i].name);
    }
    pointers_[0] = user_context;
    return pointers_.data();
}

int64_t KernelArguments::buffer_bytes() const {
    const auto declared = kernel_.arguments;
    std::set<const void *> buffers;
    for (size_t i = 1; i < declared.size(); i++) {
        if (declared[i].bytes == 0) buffers.insert(pointers_[i]);
    }
    int64_t bytes = 0;
    for (const void *each : buffers) {
        const auto &buffer = *static_cast<const halide_buffer_t *>(each);
        bytes += static_cast<int64_t>(buffer.number_of_elements()) * buffer.type.bytes();
    }
    return bytes;
}

}  // namespace hk::detail
