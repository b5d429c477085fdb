#pragma once
// Random problems of softmax cross-entropy, steered by the conditions of a row of the table; each
// is compared with the reference.

#include "hk/softmax_cross_entropy.h"
#include "tests/softmax_cross_entropy/reference.h"
#include "tests/support/checked_call.h"

namespace hk::test {

enum class Logits {
    ordinary,      // within 8 of zero
    far,           // hundreds apart: most probabilities are 0
    equal,         // all of a row
    one_nan,       // in some rows
    one_infinity,  // positive, in some rows
    masked,        // negative infinities, not all of a row
};

struct SoftmaxRequest {
    DataType type = DataType::f32;
    std::span<const Constraint> where = {};
    double elements = 1e4;  // at most, unless `where` asks for more
};

struct SoftmaxCase {
    uint64_t seed = 0;
    DataType type = DataType::f32, labels = DataType::s32;
    int64_t rows = 1, classes = 1;
    Logits logits = Logits::ordinary;
    bool loss = true, gradient = true, in_place = false;
    float scale = 1;
    Placement logits_at = Placement::packed, gradient_at = Placement::packed,
              vectors_at = Placement::packed;
};

template<typename Case>
std::optional<Case> random_case(uint64_t seed, const SoftmaxRequest &request);
template<>
std::optional<SoftmaxCase> random_case(uint64_t seed, const SoftmaxRequest &request);

void make_empty(SoftmaxCase &c);  // no rows
std::string to_string(const SoftmaxCase &c);

Tensor logits_of(const SoftmaxCase &c);
Tensor labels_of(const SoftmaxCase &c);

// What is wrong of results on the host.
std::string compare_loss(int64_t classes, const reference::SoftmaxCrossEntropyResult &wanted,
                         const Tensor &loss);
std::string compare_gradient(double scale, const reference::SoftmaxCrossEntropyResult &wanted,
                             const Tensor &gradient);

// `row` null: what selection takes.
Outcome check(const SoftmaxCase &c, Device device, const KernelInfo *row = nullptr);

}  // namespace hk::test
