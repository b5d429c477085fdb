// topk_unpack: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers, innermost first, with any strides: algorithm=values: keys and output [place, x, y];
// algorithm=indices: indices [place, x, y], output [word, place, x, y].

#include "compiler/lowering.h"
#include "generators/topk/topk_unpack.h"
#include "schedules/topk/topk_unpack.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TopKUnpackGenerator : public Generator<TopKUnpackGenerator> {
public:
    GeneratorParam<Type> type{"type", UInt(32)};
    GeneratorParam<std::string> algorithm{"algorithm", "values"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};

    Input<Buffer<void, 3>> items{"items"};
    Input<bool> floats{"floats"};
    Input<uint64_t> flip{"flip"}, infinity{"infinity"}, nan{"nan"};
    GeneratorOutput<Buffer<>> *output = nullptr;

    void configure() {
        if (algorithm.value() != "values" && algorithm.value() != "indices")
            throw CompileError("algorithm is " + algorithm.value() + ", not values or indices");
        items.set_type(values() ? topk_key_type(type) : Int(32));
        output = values() ? add_output<Buffer<>>("output", type.value(), 3)
                          : add_output<Buffer<>>("output", Int(32), 4);
    }

    void generate() {
        for (int d = 0; d < 3; d++) items.dim(d).set_min(0);
        items.dim(0).set_stride(Expr());
        TopKUnpack stages =
            values() ? topk_unpack_values(items, type, topk_keys(type, floats, flip, infinity, nan))
                     : topk_unpack_indices(items);
        const std::vector<Var> dims = stages.output.args();
        (*output)(dims) = stages.output(dims);
        stages.output = *output;
        for (size_t d = 0; d < dims.size(); d++)
            stages.output.output_buffer().dim(static_cast<int>(d)).set_min(0);
        stages.output.output_buffer().dim(0).set_stride(Expr());
        const sc::TopKUnpackContext context = {get_target(), schedule_name, knobs};
        sc::apply(sc::topk_unpack_schedules, schedule_name.value(), stages, context);
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

private:
    bool values() const { return algorithm.value() == "values"; }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TopKUnpackGenerator, topk_unpack)
