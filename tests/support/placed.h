#pragma once
// Tensors inside larger allocations. What lies around a tensor is poison, so that reading it spoils
// the result and writing it is found. On the CPU the allocation itself begins or ends where memory
// does that may not be touched.

#include <optional>
#include <string>

#include "hk/tensor.h"
#include "tests/support/guarded.h"
#include "tests/support/seed.h"

namespace hk::test {

enum class Placement {
    packed,   // one packed block between two guard bands; on a GPU behind or before one
    margins,  // a view of a tensor that is larger in every dimension
    steps,  // the same, and only every second or third element of the dimensions but the innermost
    reversed,  // the same as margins, every dimension from its end
    permuted,  // of a tensor whose dimensions stand in the opposite order, with margins and steps
    flipped,   // as reversed, but the innermost of several dimensions from its start
    aligned,   // as packed, and on a GPU it begins at a multiple of 64 elements
    spaced,   // the same, elements of the innermost dimension apart from the next by multiples of 8
    vectors,  // as steps, but the innermost dimension begins and ends at multiples of 8
    planes,   // as margins, but the two innermost dimensions are whole
};

const char *name_of(Placement placement);  // "packed", "margins", …

// Whether a packed tensor of so many elements ends where a GPU's memory does; else it begins there.
bool ends_memory(int64_t elements);

class Placed {
public:
    // On the device, filled with poison.
    Placed(const Shape &shape, DataType type, Device device, Placement placement, Random &random);

    // With the elements of a host tensor.
    Placed(const Tensor &values, Device device, Placement placement, Random &random);

    const Tensor &tensor() const { return tensor_; }

    // A packed copy on the host.
    Tensor fetch() const;

    // Empty where all elements around the tensor still hold poison.
    std::string damage() const;

    // The same, and the tensor itself still holds what it was made with.
    std::string change() const;

private:
    struct Cut {
        int64_t start, step;
    };

    Placed(const Shape &shape, DataType type, Placement placement, Random &random);
    // Returns the base's shape. `vector`: elements in 16 bytes, or more.
    Shape draw_cuts(Placement placement, Random &random, int64_t vector);
    void move_to(Device device);
    int64_t elements() const;
    Tensor view_of(const Tensor &base) const;

    Shape shape_;
    bool packed_, permuted_;
    std::vector<Cut> cuts_;           // a dimension of the base each, in the order of the tensor's
    Tensor original_;                 // the base as it was made, on the host
    std::optional<Guarded> guarded_;  // on the CPU: the base's memory
    Tensor base_;                     // on the device
    Tensor tensor_;                   // its view
};

// Fills a host tensor with a value that no kernel makes by computing: a NaN, or an unlikely
// integer. A byte has none: 173, or -83.
void poison(const Tensor &tensor);

// The place in row-major order of the first element of a packed host tensor that is poison; -1
// where none is.
int64_t first_poison(const Tensor &packed);

}  // namespace hk::test
