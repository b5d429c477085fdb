#pragma once
// Activations' derivatives and the update step, in double.

#include "hk/activation.h"
#include "hk/sgd.h"

namespace hk::reference {

double activate(double value, const ActivationOptions &options);

// At a corner what hk/activation.h says.
double activation_derivative(double value, const ActivationOptions &options);

// With the ends of a clamp as the type holds them.
ActivationOptions stored(DataType type, ActivationOptions options);

struct SgdStep {
    double parameter, velocity;  // after the step
    double magnitude;            // of the terms that the parameter is a sum of
};
SgdStep sgd_step(double parameter, double velocity, double gradient, const SgdOptions &options);

}  // namespace hk::reference
