#include "kernel_map/cells.h"

#include <bit>
#include <numeric>
#include <vector>

namespace hk::detail {

namespace {

// Along an axis. Positions are counted from 0, and
//
//   position = step * dilation + residue
//
// An offset leads from a position to others of its residue alone. The cells of a residue have
// numbers that follow one another, and one more that is no cell's where they have neighbours, so
// that a neighbour is never mistaken for one of another residue.
struct CellAxis {
    CellAxis(const KeyAxis &axis, int64_t kernel_size, int64_t dilation)
        : shift(axis.shift),
          mask(axis.mask()),
          kernel_size(kernel_size),
          first_offset(offset_at(kernel_size, 0)) {
        const int64_t most = axis.extent + axis.stride - 1;  // of positions
        const int64_t last_offset = first_offset + kernel_size - 1;
        const int64_t reach = std::min(std::max(-first_offset, last_offset), most / dilation);
        step = reach == 0 ? 1 : dilation;
        side = reach + 1;
        const int64_t cells = most / step / side + 1;
        before = reach > 0 && cells > 1 && first_offset < 0;
        after = reach > 0 && cells > 1 && last_offset > 0;
        room = cells + (before || after);
        numbers = std::min(step, most + 1) * room;
    }

    int64_t position(int64_t key) const { return key >> shift & mask; }
    int64_t cell(int64_t position) const { return position % step * room + position / step / side; }

    int shift;
    int64_t mask, kernel_size, first_offset;
    int64_t step, side;     // of a cell, in steps
    int64_t room, numbers;  // of a residue's cells, of all
    bool before, after;     // whether neighbours may be reached
};

// Steps along x, y and z, of which differences alone matter: modulo 2^32.
struct Voxel {
    std::array<uint32_t, 3> steps;
    int32_t id;  // of an input its row, of an output its cell
};

struct Range {
    int32_t first, end;
};

class CellFinder {
public:
    CellFinder(const PairsRequest &request, KernelMap &map)
        : cloud_(request.cloud),
          map_(map),
          axes_{axis(request, 1), axis(request, 2), axis(request, 3)},
          starts_(map.starts.data<int64_t>()) {
        for (int a = 2; a >= 0; a--) {
            cell_shift_[a] = bits_;
            bits_ += std::bit_width(static_cast<uint64_t>(axes_[a].numbers - 1));
            const KeyAxis &key = cloud_.axes[a + 1];
            bias_ += (key.stride - 1) << key.shift;
        }
        batch_shift_ = bits_;
        bits_ += std::bit_width(static_cast<uint64_t>(cloud_.axes[0].extent));
    }

    void find(const Array<int64_t> *keys) {
        const SortedKeys inputs = in_cells(cloud_.keys, cloud_.size());
        inputs_ = Array<Voxel>(inputs.size());
        each_chunk(inputs.size(), [&](int64_t, int64_t first, int64_t end) {
            for (int64_t i = first; i < end; i++) {
                const int64_t place = inputs.row(i);
                inputs_[i] = {steps_of(cloud_.keys[place], false),
                              static_cast<int32_t>(cloud_.row(place))};
            }
        });
        if (keys) {
            place_outputs(in_cells(*keys, keys->size()), inputs, *keys,
                          [](int64_t place) { return place; });
        } else {
            place_outputs(inputs, inputs, cloud_.keys,
                          [&](int64_t place) { return cloud_.row(place); });
        }
        count();
        write();
    }

private:
    static CellAxis axis(const PairsRequest &request, size_t a) {
        return {request.cloud.axes[a], request.options.kernel_size[a - 1],
                request.options.dilation[a - 1]};
    }

    int64_t cell_of(int64_t key) const {
        const int64_t biased = key + bias_;
        int64_t cell = biased >> cloud_.axes[0].shift << batch_shift_;
        for (size_t a = 0; a < 3; a++)
            cell += axes_[a].cell(axes_[a].position(biased)) << cell_shift_[a];
        return cell;
    }

    // Of an output those of its first offset.
    std::array<uint32_t, 3> steps_of(int64_t key, bool output) const {
        std::array<uint32_t, 3> steps;
        for (size_t a = 0; a < 3; a++) {
            const int64_t step = axes_[a].position(key + bias_) / axes_[a].step;
            steps[a] = static_cast<uint32_t>(step + (output ? axes_[a].first_offset : 0));
        }
        return steps;
    }

    // Sorted by cells.
    SortedKeys in_cells(const Array<int64_t> &keys, int64_t count) const {
        SortedKeys cells(count);
        each_chunk(count, [&](int64_t, int64_t first, int64_t end) {
            for (int64_t i = first; i < end; i++) cells.keys[i] = cell_of(keys[i]);
        });
        cells.sort(bits_);
        return cells;
    }

    // `outputs` are keys[i] at place i, of row row_of(i).
    template<typename RowOf>
    void place_outputs(const SortedKeys &outputs, const SortedKeys &inputs,
                       const Array<int64_t> &keys, RowOf row_of) {
        Array<int64_t> cells(outputs.size());  // those that there are
        Array<int32_t> numbers(outputs.size());
        int64_t count = 0;
        for (int64_t i = 0; i < outputs.size(); i++) {
            if (count == 0 || cells[count - 1] != outputs.keys[i]) cells[count++] = outputs.keys[i];
            numbers[i] = static_cast<int32_t>(count - 1);
        }
        cells.shrink(count);
        outputs_ = Array<Voxel>(outputs.size());
        each_chunk(outputs.size(), [&](int64_t, int64_t first, int64_t end) {
            for (int64_t i = first; i < end; i++) {
                const int64_t place = outputs.row(i);
                outputs_[row_of(place)] = {steps_of(keys[place], true), numbers[i]};
            }
        });
        find_ranges(cells, inputs);
    }

    // The inputs around each cell of outputs: cells that are neighbours along z lie side by side.
    void find_ranges(const Array<int64_t> &cells, const SortedKeys &inputs) {
        std::vector<int64_t> columns;
        for (int64_t x = -axes_[0].before; x <= axes_[0].after; x++) {
            for (int64_t y = -axes_[1].before; y <= axes_[1].after; y++) {
                columns.push_back(x * (int64_t{1} << cell_shift_[0]) +
                                  y * (int64_t{1} << cell_shift_[1]));
            }
        }
        columns_ = std::ssize(columns);
        ranges_ = Array<Range>(cells.size() * columns_);
        each_chunk(cells.size(), [&](int64_t, int64_t first, int64_t end) {
            const int64_t *keys = inputs.keys.begin();
            for (int64_t column = 0; column < columns_; column++) {
                const int64_t from = columns[static_cast<size_t>(column)] - axes_[2].before;
                const int64_t to = columns[static_cast<size_t>(column)] + axes_[2].after;
                int64_t p =
                    std::lower_bound(keys, keys + inputs.size(), cells[first] + from) - keys;
                for (int64_t i = first; i < end; i++) {
                    while (keys[p] < cells[i] + from) p++;
                    int64_t q = p;
                    while (keys[q] <= cells[i] + to) q++;
                    ranges_[i * columns_ + column] = {static_cast<int32_t>(p),
                                                      static_cast<int32_t>(q)};
                }
            }
        });
    }

    // hit(n, o, row) for each pair of the outputs `first` to end - 1, outputs upwards.
    template<typename Hit>
    void each_pair(int64_t first, int64_t end, Hit hit) const {
        const auto size = [&](size_t a) { return static_cast<uint32_t>(axes_[a].kernel_size); };
        const uint32_t size_x = size(0), size_y = size(1), size_z = size(2);
        for (int64_t o = first; o < end; o++) {
            const auto [from_x, from_y, from_z] = outputs_[o].steps;
            const Range *range = ranges_.begin() + outputs_[o].id * columns_;
            for (const Range *last = range + columns_; range != last; range++) {
                for (const Voxel *input = inputs_.begin() + range->first,
                                 *stop = inputs_.begin() + range->end;
                     input != stop; input++) {
                    const uint32_t x = input->steps[0] - from_x, y = input->steps[1] - from_y,
                                   z = input->steps[2] - from_z;
                    if (x < size_x && y < size_y && z < size_z)
                        hit((x * size_y + y) * size_z + z, o, input->id);
                }
            }
        }
    }

    int64_t bound(int64_t task) const { return outputs_.size() * task / tasks_; }

    // Of each task the number of pairs of each offset, which then is where they lie in the offset.
    void count() {
        // Halide has no threads before its first task.
        const int64_t threads = std::max(halide_get_num_threads(), 1);
        tasks_ = std::min<int64_t>({chunks_of(outputs_.size()), 4 * threads, 32});
        before_ = Array<int32_t>(tasks_ * map_.offsets);
        parallel(tasks_, [&](int64_t t) {
            int32_t *counts = before_.begin() + t * map_.offsets;
            std::fill(counts, counts + map_.offsets, 0);
            each_pair(bound(t), bound(t + 1), [=](uint32_t n, int64_t, int32_t) { counts[n]++; });
        });
        each_chunk(map_.offsets, [&](int64_t, int64_t first, int64_t end) {
            for (int64_t n = first; n < end; n++) {
                int32_t sum = 0;
                for (int64_t t = 0; t < tasks_; t++)
                    sum += std::exchange(before_[t * map_.offsets + n], sum);
                starts_[n + 1] = sum;
            }
        });
        std::partial_sum(starts_, starts_ + map_.offsets + 1, starts_);
    }

    void write() {
        const int64_t pairs = starts_[map_.offsets];
        map_.imap = Tensor({pairs}, DataType::s32);
        map_.omap = Tensor({pairs}, DataType::s32);
        auto *imap = map_.imap.data<int32_t>(), *omap = map_.omap.data<int32_t>();
        parallel(tasks_, [&](int64_t t) {
            int32_t *before = before_.begin() + t * map_.offsets;
            each_pair(bound(t), bound(t + 1), [=, this](uint32_t n, int64_t o, int32_t row) {
                const int64_t at = starts_[n] + before[n]++;
                imap[at] = row;
                omap[at] = static_cast<int32_t>(o);
            });
        });
    }

    const Cloud &cloud_;
    KernelMap &map_;
    const std::array<CellAxis, 3> axes_;
    std::array<int, 3> cell_shift_{};
    int batch_shift_ = 0, bits_ = 0;  // of a cell's number
    int64_t bias_ = 0;                // of keys, so that no position is negative
    int64_t *const starts_;
    Array<Voxel> inputs_, outputs_;  // by cells; by rows
    Array<Range> ranges_;            // [output cell, column]
    int64_t columns_ = 0, tasks_ = 0;
    Array<int32_t> before_;  // [task, offset]
};

}  // namespace

void find_pairs_in_cells(const PairsRequest &request, KernelMap &map) {
    CellFinder(request, map).find(request.keys);
}

}  // namespace hk::detail
