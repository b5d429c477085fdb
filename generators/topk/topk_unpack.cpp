#include "generators/topk/topk_unpack.h"

using namespace Halide;

namespace hk::generators {

TopKUnpack topk_unpack_values(Func keys, const Type &type, const TopKKeys &how) {
    TopKUnpack stages;
    const Var &place = stages.place, &x = stages.x, &y = stages.y;
    stages.output = Func("values");
    stages.output(place, x, y) = how.bits(cast(type, keys(place, x, y)));
    return stages;
}

TopKUnpack topk_unpack_indices(Func indices) {
    TopKUnpack stages;
    const Var &word = stages.word, &place = stages.place, &x = stages.x, &y = stages.y;
    stages.output = Func("words");
    stages.output(word, place, x, y) = select(word == 0, indices(place, x, y), 0);
    return stages;
}

}  // namespace hk::generators
