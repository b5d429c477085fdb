#include "named_arguments.h"

#include <algorithm>

#include "hk/error.h"

namespace hk::detail {

namespace {

std::string kind_of(int bytes) {
    return bytes == 0 ? "a buffer" : "a number of " + std::to_string(bytes) + " bytes";
}

}  // namespace

NamedArguments::Pointers NamedArguments::for_kernel(const char *operation,
                                                    const KernelInfo &kernel) const {
    const auto fail = [&](const std::string &what) {
        throw KernelFailure(std::string(operation) + ": kernel " + kernel.name + " " + what);
    };
    const auto all = kernel.arguments;
    if (all.empty() || std::strcmp(all[0].name, "__user_context") != 0 || all.size() > kMost)
        fail("does not begin with a user's context, or has too many arguments");
    const auto declared = all.subspan(1);
    Pointers pointers{};
    for (size_t i = 0; i < count_; i++) {
        const NamedArgument &given = arguments_[i];
        const auto is_given = [&](const KernelArgument &argument) {
            return std::strcmp(argument.name, given.name()) == 0;
        };
        size_t at = i;
        if (i >= declared.size() || !is_given(declared[i])) {
            at = static_cast<size_t>(std::ranges::find_if(declared, is_given) - declared.begin());
        }
        if (at == declared.size()) fail(std::string("has no argument ") + given.name());
        if (pointers[at + 1]) fail(std::string("is given its argument ") + given.name() + " twice");
        if (declared[at].bytes != given.bytes() || !given.pointer()) {
            fail("takes " + kind_of(declared[at].bytes) + " as its argument " + given.name() +
                 ", it is given " + (given.pointer() ? kind_of(given.bytes()) : "no buffer"));
        }
        pointers[at + 1] = given.pointer();
    }
    for (size_t i = 0; count_ < declared.size() && i < declared.size(); i++) {
        if (!pointers[i + 1]) fail("is not given its argument " + std::string(declared[i].name));
    }
    return pointers;
}

}  // namespace hk::detail
