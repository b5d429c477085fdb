#pragma once
// A small call of each family, for tests of what all of them have to stand.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hk/tensor.h"

namespace hk {

struct FamilyCall {
    std::string name;
    std::vector<Tensor> inputs;                    // share their storage with what run() reads
    std::vector<std::shared_ptr<Tensor>> outputs;  // what run() writes or makes
    std::function<void()> run;                     // allocates nothing of its own
};

std::vector<FamilyCall> family_calls();  // on the CPU

std::string bytes_of(const Tensor &tensor);  // of a packed tensor's elements

}  // namespace hk
