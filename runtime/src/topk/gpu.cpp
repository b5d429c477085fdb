#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "hk/error.h"
#include "topk/gpu_memory.h"
#include "topk/gpu_plan.h"
#include "topk/operands.h"

namespace hk::detail {

namespace {

using Use = KernelBuffer::Use;

constexpr const char *kOperation = "topk";

bool has_indices(const KernelInfo &row) {
    for (const Constraint &constraint : row.where) {
        if (std::string_view(constraint.field) == "indices") return constraint.value == 1;
    }
    return false;
}

int64_t tile_of(const KernelInfo &row) {
    constexpr std::string_view kKnob = "tile:";
    const char *knobs = row.knobs, *end = knobs + std::strlen(knobs);
    int64_t tile = 0;
    if (std::string_view(knobs).starts_with(kKnob)) {
        std::from_chars(knobs + kKnob.size(), end, tile);
    }
    if (tile == 0) throw Error("topk: kernel " + std::string(row.name) + " has no knob tile");
    return tile;
}

Fields step_fields(DataType type, bool indices, const TopKProblem &problem) {
    const int64_t columns = problem.columns, k = problem.k;
    Fields fields(type, Layout::any);
#include "topk/step_fields.def"
    return fields;
}

Fields result_fields(DataType type, bool indices) {
    Fields fields(type, Layout::any);
#include "topk/result_fields.def"
    return fields;
}

const KernelInfo &first_that_fits(std::span<const KernelInfo> rows, const Fields &step,
                                  Device device) {
    const Selection selection = select(rows, step, device.type(), device.limits(), false);
    if (!selection.kernel) {
        throw DeviceError("topk: no kernel of " + std::string(rows.front().family) + " for " +
                          std::string(name_of(step.type)) + " fits " + device.name());
    }
    return *selection.kernel;
}

// The rows of topk_tiles that a call runs: the given one, and of the other kind, with indices or
// without, the one of the same tile or the first that fits; and for steps that need no more,
// smaller ones.
class TileRows {
public:
    TileRows(const KernelInfo &given, const TopKProblem &problem, Device device) {
        const bool other = !has_indices(given);
        rows_[!other] = {&given, nullptr};
        for (const KernelInfo &row : topk_tiles_kernels()) {
            if (!fits(row, given, problem, device)) continue;
            Rows &rows = rows_[has_indices(row)];
            const int64_t tile = tile_of(row);
            if (has_indices(row) == other && std::strcmp(row.knobs, given.knobs) == 0) {
                rows.row = &row;
            }
            if (tile > kTopKWholeTile && (!rows.small || tile < tile_of(*rows.small))) {
                rows.small = &row;
            }
        }
        if (!rows_[other].row) {
            rows_[other].row = &first_that_fits(topk_tiles_kernels(),
                                                step_fields(given.type, other, problem), device);
        }
    }

    const KernelInfo &of(const TopKStep &step) const {
        const auto &[row, small] = rows_[step.indices];
        const bool enough = small && tile_of(*row) > tile_of(*small) &&
                            step.items <= tile_of(*small) && step.places <= step.items;
        return enough ? *small : *row;
    }
    TopKTileSizes sizes() const { return {tile_of(*rows_[1].row), tile_of(*rows_[0].row)}; }

private:
    struct Rows {
        const KernelInfo *row = nullptr, *small = nullptr;
    };
    Rows rows_[2];  // of keys alone, with indices

    static bool fits(const KernelInfo &row, const KernelInfo &given, const TopKProblem &problem,
                     Device device) {
        const Fields step = step_fields(given.type, has_indices(row), problem);
        return select({&row, 1}, step, given.device, device.limits(), false).kernel;
    }
};

// What a step makes.
struct Items {
    Items(const KernelInfo &kernel, CallContext &context, const TopKOperands &operands,
          const TopKStep &step)
        : keys(kernel, context,
               {halide_type_uint, static_cast<uint8_t>(size_of(operands.input.type) > 4 ? 64 : 32)},
               extents(operands, step)) {
        if (step.indices) {
            indices.emplace(kernel, context, halide_type_t{halide_type_int, 32},
                            extents(operands, step));
        }
    }

    static TopKScratch::Extents extents(const TopKOperands &operands, const TopKStep &step) {
        return {step.places, step.lists, operands.input.dims[1].extent,
                operands.input.dims[2].extent};
    }

    // As outputs of a kernel: `alone` where they are keys alone, else the two others.
    void add_to(KernelArguments &arguments, const char *alone, const char *of_keys,
                const char *of_indices) {
        if (!indices) {
            arguments.add({{alone, keys}});
        } else {
            arguments.add({{of_keys, keys}, {of_indices, *indices}});
        }
    }

    TopKScratch keys;
    std::optional<TopKScratch> indices;
};

class Call {
public:
    Call(const TileRows &rows, const TopKOperands &operands, CallContext &context, bool own_queue)
        : rows_(rows),
          operands_(operands),
          context_(context),
          own_queue_(own_queue),
          keys_(topk_key_arguments(operands.problem.type, operands.problem.order)),
          input_(operands.input, {kOperation, "input", Use::read, own_queue}) {}

    void run(const std::vector<TopKStep> &steps) {
        for (const TopKStep &step : steps) {
            if (step.kind == TopKStep::Kind::merge) {
                merge(step);
            } else {
                sort_tiles(step);
            }
        }
        if (operands_.problem.values) unpack_values();
        if (operands_.problem.indices) unpack_indices();
    }

private:
    const TileRows &rows_;
    const TopKOperands &operands_;
    CallContext &context_;
    const bool own_queue_;
    const std::array<NamedArgument, 4> keys_;
    KernelBuffer input_;
    std::unique_ptr<Items> items_;  // of the last step

    void sort_tiles(const TopKStep &step) {
        const KernelInfo &kernel = rows_.of(step);
        auto made = std::make_unique<Items>(kernel, context_, operands_, step);
        const bool gather = step.kind == TopKStep::Kind::gather;
        TopKListView list = gather ? TopKListView(*items_->indices, step.items / step.chunk)
                                   : TopKListView::unused(made->keys);
        KernelArguments arguments(kOperation, kernel);
        arguments
            .add({{"input", input_},
                  {"list", list},
                  {"stride", static_cast<int32_t>(step.stride)},
                  {"chunk", static_cast<int32_t>(step.chunk)},
                  {"gather", gather}})
            .add(keys_);
        made->add_to(arguments, "items", "items_0", "items_1");
        call_kernel(context_, arguments);
        items_ = std::move(made);
    }

    void merge(const TopKStep &step) {
        const DataType key = size_of(operands_.input.type) > 4 ? DataType::u64 : DataType::u32;
        const KernelInfo &kernel =
            first_that_fits(topk_merge_kernels(), step_fields(key, step.indices, operands_.problem),
                            context_.device);
        auto made = std::make_unique<Items>(kernel, context_, operands_, step);
        const int32_t halvings = std::bit_width(static_cast<uint64_t>(items_->keys.extent(0)));
        KernelArguments arguments(kOperation, kernel);
        arguments.add({{"keys", items_->keys}});
        if (step.indices) arguments.add({{"indices", *items_->indices}});
        arguments.add({{"halvings", halvings}});
        made->add_to(arguments, "merged", "merged_0", "merged_1");
        call_kernel(context_, arguments);
        items_ = std::move(made);
    }

    void unpack_values() {
        unpack(items_->keys, operands_.values, "values", topk_row_type(operands_.problem.type),
               false);
    }
    void unpack_indices() {
        unpack(*items_->indices, operands_.indices, "indices", DataType::u32, true);
    }
    void unpack(TopKScratch &from, const BufferView &to, const char *name, DataType type,
                bool indices) {
        KernelBuffer output(to, {kOperation, name, Use::write, own_queue_});
        TopKListView items(from, operands_.problem.k);
        const KernelInfo &kernel =
            first_that_fits(topk_unpack_kernels(), result_fields(type, indices), context_.device);
        call_kernel(context_, KernelArguments(kOperation, kernel)
                                  .add({{"items", items}})
                                  .add(keys_)
                                  .add({{"output", output}}));
        output.finish();
    }
};

// Whether kernels can count the bytes of the steps' items.
bool counted(const std::vector<TopKStep> &steps, const TopKOperands &operands) {
    const int64_t bytes = std::max<int64_t>(size_of(operands.input.type), 4);
    for (const TopKStep &step : steps) {
        if (step.places * step.lists * bytes >
            std::numeric_limits<int32_t>::max() / operands.problem.rows)
            return false;
    }
    return true;
}

// Some of the rows: `length` of those along x (1) or y (2), from `start`.
TopKOperands part(TopKOperands operands, size_t dim, int64_t start, int64_t length) {
    const auto cut = [&](BufferView &view, size_t d) {
        if (view.dims.size() == 0) return;
        view.offset += start * view.dims[d].stride;
        view.dims[d].extent = length;
    };
    cut(operands.input, dim);
    cut(operands.values, dim);
    cut(operands.indices, dim + 1);
    operands.problem.rows = operands.input.dims[1].extent * operands.input.dims[2].extent;
    return operands;
}

}  // namespace

void topk_on_gpu(const KernelInfo &tiles, const TopKOperands &operands, CallContext &context,
                 bool own_queue) {
    const TileRows rows(tiles, operands.problem, context.device);
    const std::vector<TopKStep> steps = topk_plan(operands.problem, rows.sizes());
    if (operands.problem.rows == 1 || counted(steps, operands)) {
        Call(rows, operands, context, own_queue).run(steps);
        return;
    }
    const size_t dim = operands.input.dims[1].extent > operands.input.dims[2].extent ? 1 : 2;
    const int64_t all = operands.input.dims[dim].extent, half = all / 2;
    topk_on_gpu(tiles, part(operands, dim, 0, half), context, own_queue);
    topk_on_gpu(tiles, part(operands, dim, half, all - half), context, own_queue);
}

}  // namespace hk::detail
