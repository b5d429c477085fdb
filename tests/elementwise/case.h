#pragma once
// Random problems of the families that work element by element, steered by the conditions of a row
// of the table, and their comparison with the reference.

#include <optional>
#include <span>

#include "hk/activation.h"
#include "hk/sgd.h"
#include "tests/support/checked_call.h"

namespace hk::test {

inline constexpr DataType kElementwiseTypes[] = {DataType::f32, DataType::f16, DataType::bf16};

enum class Elementwise : uint8_t { activate, activate_backward, sgd };

// The family of a row.
Elementwise elementwise_of(const KernelInfo &row);

struct ElementwiseCase {
    uint64_t seed = 0;
    Elementwise family = Elementwise::activate;
    Shape shape{};
    DataType type = DataType::f32;
    ActivationOptions activation{};
    bool saved_output = false;  // of activate_backward; else its input
    int inplace = 0;            // 0: apart; else in place of the first or the second input
    SgdOptions sgd{};
    bool idle_velocity = false;  // one that is there without a momentum
    // Of what is written, and what is read. Of sgd: parameter, gradient, velocity.
    Placement output = Placement::packed, first = Placement::packed, second = Placement::packed;
};

std::string to_string(const ElementwiseCase &c);
void make_empty(ElementwiseCase &c);

// Where a row takes packed tensors.
Placement packed_placement(std::span<const Constraint> where);

struct ElementwiseRequest {
    Elementwise family;
    DataType type;
    std::span<const Constraint> where = {};
    int64_t elements = 20000;  // at most
};

template<typename Case>
std::optional<Case> random_case(uint64_t seed, const ElementwiseRequest &request);
template<>
std::optional<ElementwiseCase> random_case(uint64_t seed, const ElementwiseRequest &request);

// `row` null: what selection takes.
Outcome check(const ElementwiseCase &c, Device device, const KernelInfo *row = nullptr);

// The bits of what the case writes, on the host; of sgd parameter and velocity.
std::vector<uint64_t> bits_of_result(const ElementwiseCase &c, Device device,
                                     const KernelInfo *row = nullptr);

// Elements of an activation's argument: in -6..6, and its corners.
std::vector<double> arguments_of(Random &random, const Shape &shape,
                                 const ActivationOptions &options);

// The activations with the numbers that tests give them.
std::span<const ActivationOptions> tested_activations();

}  // namespace hk::test
