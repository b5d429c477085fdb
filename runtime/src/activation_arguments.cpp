#include "activation_arguments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hk/error.h"
#include "names.h"

namespace hk {

namespace {

constexpr std::array<std::string_view, 6> kActivations{"none",       "relu", "clamp",
                                                       "leaky_relu", "silu", "gelu"};

}  // namespace

std::string_view name_of(Activation activation) noexcept {
    return detail::name_in(kActivations, activation);
}

Activation activation_of(std::string_view name) {
    return detail::value_in<Activation>(kActivations, "activation", name);
}

namespace detail {

void check_activation(const char *operation, const ActivationOptions &options) {
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument(std::string(operation) + ": " + what);
    };
    const auto number = [](float value) { return std::to_string(value); };
    if (static_cast<size_t>(options.activation) >= kActivations.size()) {
        fail("activation " + std::to_string(static_cast<int>(options.activation)) +
             " does not exist");
    }
    if (options.activation == Activation::clamp &&
        (std::isnan(options.alpha) || std::isnan(options.beta))) {
        fail("clamp goes from " + number(options.alpha) + " to " + number(options.beta));
    }
    if (options.activation == Activation::leaky_relu && !std::isfinite(options.alpha)) {
        fail("leaky_relu's slope is " + number(options.alpha) + ", it must be finite");
    }
}

ActivationArguments activation_arguments(const ActivationOptions &options) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    switch (options.activation) {
        case Activation::relu:
            return {1, 0, kInfinity, 0};
        case Activation::clamp:
            return {1, std::min(options.alpha, options.beta), options.beta, 0};
        case Activation::leaky_relu:
            return {options.alpha, -kInfinity, kInfinity, 0};
        case Activation::silu:
            return {1, -kInfinity, kInfinity, 1};
        case Activation::gelu:
            return {1, -kInfinity, kInfinity, 2};
        default:
            return {1, -kInfinity, kInfinity, 0};
    }
}

}  // namespace detail

}  // namespace hk
