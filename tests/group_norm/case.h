#pragma once
// Random problems of group normalisation and its gradients, steered by the conditions of a row of
// the table; each is compared with the reference.

#include "hk/group_norm.h"
#include "tests/support/checked_call.h"

namespace hk::test {

enum class Elements {
    ordinary,      // about zero
    far,           // 10000, and what lies within 0.02 of it
    outlier,       // the first of each group far from the others
    equal,         // all of a channel
    one_nan,       // in the first image
    one_infinity,  // in the first image
};

struct GroupNormRequest {
    DataType type = DataType::f32;
    Layout layout = Layout::nhwc;
    std::span<const Constraint> where = {};
    double elements = 1e4;
};

struct GroupNormCase {
    uint64_t seed = 0;
    GroupNormProblem problem;
    Elements elements = Elements::ordinary;
    bool weight = true, bias = true, mean = true, rstd = true;  // forward
    bool input_gradient = true, weight_gradient = true, bias_gradient = true;
    enum class InPlace { no, of_first, of_second } in_place = InPlace::no;  // input; its gradient
    Placement images_at = Placement::packed, vectors_at = Placement::packed;

    Shape shape() const;
};

template<typename Case>
std::optional<Case> random_case(uint64_t seed, const GroupNormRequest &request);
template<>
std::optional<GroupNormCase> random_case(uint64_t seed, const GroupNormRequest &request);

void make_empty(GroupNormCase &c);
std::string to_string(const GroupNormCase &c);

// Images on the host, of the case's shape.
Tensor input_of(const GroupNormCase &c);
Tensor output_gradient_of(const GroupNormCase &c);
Tensor vector_of(const GroupNormCase &c, uint64_t which);
// f32, those of the input.
GroupNormStatistics statistics_of(const GroupNormCase &c, const Tensor &input);

// The faults of results, packed and on the host; an undefined one is not looked at.
std::string compare_forward(const GroupNormCase &c, const Tensor &input, const Tensor &weight,
                            const Tensor &bias, const Tensor &output,
                            const GroupNormStatistics &statistics);
std::string compare_gradients(const GroupNormCase &c, const Tensor &output_gradient,
                              const Tensor &input, const Tensor &weight,
                              const GroupNormStatistics &statistics, const Tensor &of_input,
                              const Tensor &of_weight, const Tensor &of_bias);

// `row` null: what selection takes.
Outcome check(const GroupNormCase &c, Device device, const KernelInfo *row = nullptr);

}  // namespace hk::test
