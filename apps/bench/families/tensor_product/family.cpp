// The tensor product and its gradients: in lists layers of a sparse network over one cloud, in
// explain also numbers of rows and pairs. Work is operations of pairs, which no kernel can leave
// out.

#include "hk/tensor_product.h"

#include <algorithm>

#include "check.h"
#include "cloud.h"
#include "data.h"
#include "family.h"
#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "peers/python.h"
#include "tensor_product/operands.h"
#include "tests/tensor_product/reference.h"

namespace hk::bench {

namespace {

// The tensors of a product. One of them is the result: the output, or the gradient of another.
enum Role : size_t { input, weight, output };

// Most cases have that of the one before.
const KernelMap &kept_map(const CloudShape &cloud) {
    static std::map<CloudShape, KernelMap> kept;
    const auto [at, is_new] = kept.try_emplace(cloud);
    if (is_new) at->second = map_of(cloud_of(cloud.voxels), cloud);
    return at->second;
}

class TensorProduct : public Problem {
public:
    explicit TensorProduct(Role result) : result_(result) {}

    std::vector<Field> fields() override {
        return {field("voxels", cloud_.voxels, "of the cloud that bench has; 0: rows and pairs"),
                field("kernel", cloud_.kernel, "of a convolution over it, in every direction"),
                field("stride", cloud_.stride, "the same"),
                not_in_lists(field("rows", rows_, "of the input")),
                not_in_lists(field("output_rows", output_rows_, "-1: as many as of the input")),
                not_in_lists(field("pairs", pairs_, "of an offset, on average")),
                not_in_lists(field("offsets", offsets_, "of the kernel")),
                required(field("c", c_, "channels of the input, of all groups")),
                required(field("m", m_, "channels of the output, of all groups")),
                field("groups", options_.groups, "of channels"),
                field("mode", options_.summation, {Summation::deterministic, Summation::atomic},
                      "of sums")};
    }

    void prepare(Layout) override {
        if (cloud_.voxels > 0) {
            const KernelMap &map = kept_map(cloud_);
            rows_ = map.input_rows;
            output_rows_ = map.output_rows;
            offsets_ = map.offsets;
            all_pairs_ = map.pairs();
        } else {
            if (rows_ < 0 || pairs_ < 0) {
                throw InvalidArgument("tensor_product: --rows " + std::to_string(rows_) +
                                      " and --pairs " + std::to_string(pairs_) +
                                      ", or --voxels, have to be given");
            }
            if (output_rows_ < 0) output_rows_ = rows_;
            all_pairs_ = offsets_ * pairs_;
        }
        weight_ = {offsets_, c_ / std::max<int64_t>(options_.groups, 1), m_};
        problem_ = TensorProductProblem::from_shapes({rows_, c_}, weight_, all_pairs_,
                                                     {output_rows_, m_}, type(), options_);
    }

    std::string name(std::optional<DataType>) const override {
        return cloud_.name() + "_" + std::to_string(c_) + "-" + std::to_string(m_) +
               (options_.summation == Summation::atomic && result_ != weight ? "_atomic" : "");
    }
    std::string kind() const override { return cloud_.submanifold() ? "submanifold" : "strided"; }

    std::span<const KernelInfo> kernels() const override {
        if (result_ == weight) return tensor_product_backward_weight_kernels();
        static const std::vector<KernelInfo> all[] = {rows_of(Summation::deterministic),
                                                      rows_of(Summation::atomic)};
        return all[options_.summation == Summation::atomic];
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return (result_ == input    ? select_tensor_product_backward_data
                : result_ == weight ? select_tensor_product_backward_weight
                                    : select_tensor_product)(problem_, device, limits, explain);
    }
    std::vector<std::string> kind_fields() const override { return {"adjacent"}; }
    int64_t value_of(std::string_view name) const override {
        return detail::tensor_product_fields(problem_)[name];
    }

    std::vector<Operand> operands() const override {
        const Shape shapes[] = {{rows_, c_}, weight_, {output_rows_, m_}};
        const char *const names[] = {"input", "weight", "output"};
        std::vector<Operand> all;
        for (const Role role : {input, weight, output}) {
            const bool gradient = result_ != output && (role == result_ || role == output);
            all.push_back({names[role] + std::string(gradient ? "_gradient" : ""), type(),
                           shapes[role],
                           role == result_ ? Operand::Use::written : Operand::Use::read});
        }
        return all;
    }
    std::map<std::string, Shape> shapes() const override {
        std::map<std::string, Shape> shapes = Problem::shapes();
        shapes["imap"] = {all_pairs_};
        return shapes;
    }
    double work() const override {
        return 2.0 * static_cast<double>(all_pairs_) * static_cast<double>(weight_[1] * m_);
    }
    std::string data() const override { return cloud_.name() + ": " + words(kept_map(cloud_)); }
    // Multiples of 1/16, whose sums are exact in every type of sums.
    int bits() const override { return 5; }

    // As a call that is the only one of its maps.
    void run(const KernelInfo *row) override { run(row, maps(true)); }

    Tensors draw() override {
        if (cloud_.voxels == 0) throw InvalidArgument("a case runs over a cloud: voxels is 0");
        return Problem::draw();
    }

    Judge judge(const Tensors &host) const override {
        const KernelMap &map = kept_map(cloud_);
        const reference::TensorProductPairs pairs{map.imap, map.omap, map.starts};
        const Operand result = operands()[result_];
        const Tensor shape(result.shape, type());
        const auto rows =
            reference::Rows::sampled(shape.elements() / result.shape.back(), work() / 2);
        reference::TensorProductResult made =
            result_ == input ? reference::tensor_product_backward_data(host[output], host[weight],
                                                                       pairs, shape, options_, rows)
            : result_ == weight ? reference::tensor_product_backward_weight(
                                      host[input], host[output], pairs, shape, options_, rows)
                                : reference::tensor_product(host[input], host[weight], pairs, shape,
                                                            options_, rows);
        return judge_of({{result.name, expected_of(type(), {std::move(made.values), {}, 0}, rows,
                                                   {}, Sums::exact)}});
    }

    Peers libraries(const Tensors &host) const override {
        Peers peers;
        if (!settings().device.is_cpu() || numpy_version().empty() || type() == DataType::bf16 ||
            options_.groups != 1) {
            return peers;
        }
        PythonTask task = numpy_task(host);
        peers.push_back(std::make_unique<PythonPeer>("NumPy", "whole offsets", task));
        task.options["block"] = 2048;
        peers.push_back(std::make_unique<PythonPeer>("NumPy blocked", "blocks of pairs", task));
        return peers;
    }

    std::vector<Contestant> variants(const Tensors &) override {
        const auto unchecked = [this](int count) {
            for (int i = 0; i < count; ++i) run(nullptr, maps(false));
            settings().device.synchronize();
        };
        const auto kept = [this, maps = maps(true)](int count) {
            for (int i = 0; i < count; ++i) run(nullptr, maps);
            settings().device.synchronize();
        };
        return {{"hk unchecked", "maps not checked", false, unchecked, nullptr},
                {"hk kept maps", "maps checked and sorted before", false, kept, nullptr}};
    }

    std::optional<Arithmetic> arithmetic() const override {
        const auto product = [](int64_t a, int64_t b) {
            return static_cast<double>(a) * static_cast<double>(b);
        };
        const auto size = static_cast<double>(size_of(type()));
        const double bytes = size * (product(rows_, c_) + product(output_rows_, m_) +
                                     product(weight_[0], weight_[1]) * static_cast<double>(m_)) +
                             static_cast<double>(all_pairs_) * 8;
        return Arithmetic{work(), bytes, product(all_pairs_, c_) * size,
                          product(all_pairs_, m_) * size};
    }

private:
    static std::vector<KernelInfo> rows_of(Summation summation) {
        TensorProductProblem problem;
        problem.summation = summation;
        std::vector<KernelInfo> all;
        for (const DeviceType device : {DeviceType::cpu, DeviceType::opencl}) {
            const auto rows = detail::tensor_product_kernels_for(problem, device);
            all.insert(all.end(), rows.begin(), rows.end());
        }
        return all;
    }

    // Without a cloud those of one pair, for launches that nobody runs.
    TensorProductMaps maps(bool check) const {
        if (cloud_.voxels > 0) {
            const KernelMap &map = kept_map(cloud_);
            return {map.imap, map.omap, map.input_rows, map.output_rows, map.starts, check};
        }
        const Tensor map = Tensor::zeros({offsets_, pairs_}, DataType::s32);
        return {map, map, rows_, output_rows_, {}, false};
    }

    void run(const KernelInfo *row, const TensorProductMaps &maps) const {
        const Tensor &in = tensor(input), &factors = tensor(weight), &out = tensor(output);
        if (result_ == input) {
            row ? tensor_product_backward_data_with(*row, out, factors, maps, in, options_)
                : tensor_product_backward_data(out, factors, maps, in, options_);
        } else if (result_ == weight) {
            row ? tensor_product_backward_weight_with(*row, in, out, maps, factors, options_)
                : tensor_product_backward_weight(in, out, maps, factors, options_);
        } else {
            row ? tensor_product_with(*row, in, factors, maps, out, options_)
                : tensor_product(in, factors, maps, out, options_);
        }
    }

    // The gradient of the input is a product too, from output rows to input rows, by weights turned
    // round.
    PythonTask numpy_task(const Tensors &host) const {
        const KernelMap &map = kept_map(cloud_);
        const bool back = result_ == input, of_weight = result_ == weight;
        PythonTask task{"numpy_tasks.py",
                        of_weight ? "tensor_product_backward_weight" : "tensor_product",
                        {{"imap", back ? map.omap : map.imap},
                         {"omap", back ? map.imap : map.omap},
                         {"starts", map.starts},
                         {"input", host[back ? output : input]}},
                        {{"turned", back}},
                        settings().threads};
        if (of_weight) {
            task.arrays.push_back({"gradient", host[output]});
        } else {
            task.arrays.push_back({"weight", host[weight]});
            task.options["output_rows"] = back ? rows_ : output_rows_;
        }
        return task;
    }

    Role result_;
    CloudShape cloud_{0, 3, 1};
    int64_t rows_ = -1, output_rows_ = -1, pairs_ = -1, offsets_ = 27, c_ = 1, m_ = 1;
    int64_t all_pairs_ = 0;
    Shape weight_;
    TensorProductOptions options_;
    TensorProductProblem problem_;
};

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result;
    if (settings.device.is_cpu() && !numpy_version().empty()) {
        result.push_back({numpy_version(), {"NumPy", "NumPy blocked"}});
    }
    result.push_back({"", {"hk unchecked", "hk kept maps"}});
    return result;
}

Unit unit(const Settings &settings) {
    Unit unit = arithmetic(settings);
    if (settings.type == DataType::f64 || !settings.device.is_cpu()) unit.peak = nullptr;
    return unit;
}

Family family_of(Role result, std::string name, std::string description) {
    Family family{std::move(name),
                  std::move(description),
                  [result] { return std::make_unique<TensorProduct>(result); },
                  "tensor_product",
                  {"cloud"},
                  unit,
                  peers};
    family.types.push_back(DataType::f64);
    return family;
}

}  // namespace

std::vector<Family> tensor_product_families() {
    return {
        family_of(output, "tensor_product", "Gather, multiply, scatter: sparse convolution"),
        family_of(input, "tensor_product_backward_data", "Gradient of a tensor product's input"),
        family_of(weight, "tensor_product_backward_weight",
                  "Gradient of a tensor product's weight")};
}

}  // namespace hk::bench
