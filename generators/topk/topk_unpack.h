#pragma once
// The last step of a top-k on a GPU: what was asked for of the items (generators/topk/items.h).

#include "generators/topk/items.h"
#include "generators/topk/keys.h"

namespace hk::generators {

struct TopKUnpack {
    Halide::Var word{"word"}, place{"place"}, x{"x"}, y{"y"};
    Halide::Func output;
};

// output(place, x, y): elements of a type, as bits, of their keys.
TopKUnpack topk_unpack_values(Halide::Func keys, const Halide::Type &type, const TopKKeys &how);

// output(word, place, x, y): an index, and zeros after it.
TopKUnpack topk_unpack_indices(Halide::Func indices);

}  // namespace hk::generators
