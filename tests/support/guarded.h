#pragma once
// Memory whose surroundings may not be touched.

#include <memory>

#include "hk/tensor.h"

namespace hk::test {

// A copy of a packed host tensor between pages whose access ends the process. It begins where the
// first of them ends, or ends where the second begins. The memory is that of the copies of this.
class Guarded {
public:
    Guarded(const Tensor &values, bool at_end);

    const Tensor &tensor() const { return tensor_; }

private:
    std::shared_ptr<void> pages_;
    Tensor tensor_;  // borrows them
};

}  // namespace hk::test
