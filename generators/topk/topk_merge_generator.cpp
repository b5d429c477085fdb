// topk_merge: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers, innermost first: keys, and where fix_indices is 1 indices, [place, list, x, y]; merged,
// the same as two buffers, with half the lists and at most twice the places.

#include "generators/kernel_generator.h"
#include "generators/topk/topk_merge.h"
#include "schedules/topk/topk_merge.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TopKMergeGenerator : public KernelGenerator<TopKMergeGenerator> {
public:
    GeneratorParam<int> fix_indices{"fix_indices", 1};

    std::vector<GeneratorInput<Buffer<>> *> items;
    GeneratorInput<int> *halvings = nullptr;
    GeneratorOutput<Buffer<void, 4>> *merged = nullptr;

    void configure() {
        const std::vector<Type> types = topk_item_types(type, fix_indices == 1);
        items.push_back(add_input<Buffer<>>("keys", types[0], 4));
        if (types.size() > 1) items.push_back(add_input<Buffer<>>("indices", types[1], 4));
        halvings = add_input<int>("halvings");
        merged = add_output<Buffer<void, 4>>("merged", types);
    }

    void generate() {
        check_algorithm({"merge_path"});
        TopKMergeOperands operands = {
            {}, items[0]->dim(0).extent(), items[0]->dim(1).extent(), *halvings};
        for (auto *buffer : items) {
            for (int d = 0; d < 4; d++) buffer->dim(d).set_min(0);
            operands.items.push_back(*buffer);
        }
        TopKMerge stages = topk_merge(operands);
        const Var &place = stages.place, &list = stages.list, &x = stages.x, &y = stages.y;
        (*merged)(place, list, x, y) = Tuple(topk_item(stages.merged(place, list, x, y)));
        stages.merged = *merged;
        for (int d = 0; d < 4; d++) stages.merged.output_buffers()[0].dim(d).set_min(0);
        const sc::Context context = schedule_context();
        finish(sc::topk_merge_schedules, stages, context);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TopKMergeGenerator, topk_merge)
