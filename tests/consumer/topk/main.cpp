// A program of another project: picks the next tokens of a language model, and the boxes of a
// detector in the order of their scores, on the CPU and on every other device that is there.

#include <algorithm>
#include <cstdio>
#include <limits>

#include "../random.h"
#include "hk/error.h"
#include "hk/topk.h"

namespace {

using hk::DataType, hk::Device, hk::Tensor;

// Whether the places are those of the largest logits, best first.
bool are_best(const Tensor &logits, const Tensor &values, const Tensor &indices) {
    const int64_t columns = logits.shape()[1], k = indices.shape()[1];
    for (int64_t row = 0; row < logits.shape()[0]; row++) {
        const float *logit = logits.data<float>() + row * columns;
        float before = std::numeric_limits<float>::infinity();
        for (int64_t i = row * k; i < (row + 1) * k; i++) {
            const float value = values.data<float>()[i];
            if (value > before || logit[indices.data<int64_t>()[i]] != value) return false;
            before = value;
        }
        const auto above = [&](float other) { return other > before; };
        if (std::count_if(logit, logit + columns, above) >= k) return false;
    }
    return true;
}

bool works_on(Device device) {
    const Tensor logits = random({4, 32000}, 1), input = logits.to(device);
    const auto [values, indices] = hk::topk(input, 50);
    const Tensor alone = hk::topk_indices(input, 50).to(Device::cpu());
    const Tensor on_cpu = indices.to(Device::cpu());
    const bool same = std::equal(alone.data<int64_t>(), alone.data<int64_t>() + alone.elements(),
                                 on_cpu.data<int64_t>());
    const Tensor sorted = hk::sort(random({8400}, 2).to(device)).to(Device::cpu());
    return same && are_best(logits, values.to(Device::cpu()), on_cpu) &&
           std::is_sorted(sorted.data<float>(), sorted.data<float>() + sorted.elements());
}

}  // namespace

int main() {
    for (const Device device : Device::all()) {
        const bool works = works_on(device);
        std::printf("%s (%s): %s\n", device.name().c_str(), device.description().c_str(),
                    works ? "the best of each row" : "WRONG");
        if (!works) return 1;
    }
    try {
        hk::topk(random({4}, 3), 5);
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
