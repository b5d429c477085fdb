// topk_tiles: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers, innermost first: input [column, x, y], list [place, x, y], items [place, tile, x, y] as
// two buffers, of keys and, where fix_indices is 1, of indices.

#include "generators/kernel_generator.h"
#include "generators/topk/topk_tiles.h"
#include "schedules/topk/topk_tiles.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TopKTilesGenerator : public KernelGenerator<TopKTilesGenerator> {
public:
    GeneratorParam<int> fix_indices{"fix_indices", 1};

    Input<Buffer<void, 3>> input{"input"};
    Input<Buffer<int32_t, 3>> list{"list"};
    Input<int> stride{"stride"}, chunk{"chunk"};
    Input<bool> gather{"gather"};
    Input<bool> floats{"floats"};
    Input<uint64_t> flip{"flip"}, infinity{"infinity"}, nan{"nan"};
    GeneratorOutput<Buffer<void, 4>> *items = nullptr;

    void configure() {
        set_types(input);
        items = add_output<Buffer<void, 4>>("items", topk_item_types(type, fix_indices == 1));
    }

    void generate() {
        check_algorithm({"bitonic"});
        for (int d = 0; d < 3; d++) {
            input.dim(d).set_min(0);
            list.dim(d).set_min(0);
        }
        input.dim(0).set_stride(Expr());
        const sc::Context context = schedule_context();
        const TopKTilesOperands operands = {input,
                                            list,
                                            type,
                                            input.dim(0).extent(),
                                            stride,
                                            chunk,
                                            gather,
                                            list.dim(0).extent(),
                                            topk_keys(type, floats, flip, infinity, nan),
                                            fix_indices == 1};
        const sc::TopKTile tile = sc::topk_tile(context);
        TopKTiles stages = topk_tiles(operands, tile.items, tile.keep);
        (*items)(stages.place, stages.tile, stages.x, stages.y) =
            Tuple(topk_item(stages.items(stages.place, stages.tile, stages.x, stages.y)));
        stages.items = *items;
        for (int d = 0; d < 4; d++) stages.items.output_buffers()[0].dim(d).set_min(0);
        finish(sc::topk_tiles_schedules, stages, context);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TopKTilesGenerator, topk_tiles)
