// Top-k: in lists of packed rows the largest of each, values and s64 indices or one of them. Work
// is counted in bytes of the input.

#include "hk/topk.h"

#include <cstring>
#include <random>

#include "data.h"
#include "family.h"
#include "peers/topk_peer.h"
#include "tests/reference/elements.h"
#include "tests/topk/reference.h"
#include "topk/operands.h"

namespace hk::bench {

namespace {

// Floats in -1..1, integers over the whole range; neither NaN nor -0.
Tensor random_rows(DataType type, const Shape &shape) {
    const Tensor tensor(shape, type);
    std::byte *stored = bytes_of(tensor);
    const int64_t size = size_of(type);
    std::mt19937_64 random(1);
    for (int64_t i = 0; i < tensor.elements(); ++i, stored += size) {
        uint64_t bits = random();
        // Multiples of 2^-31 that are not 0.
        const float value = static_cast<float>(static_cast<int32_t>(bits >> 32) | 1) * 0x1p-31f;
        if (type == DataType::f32) std::memcpy(&bits, &value, 4);
        if (type == DataType::f64) {
            const double wide = static_cast<double>(static_cast<int64_t>(bits) | 1) * 0x1p-63;
            std::memcpy(&bits, &wide, 8);
        }
        if (type == DataType::f16) bits = f16_from_f32(value);
        if (type == DataType::bf16) bits = bf16_from_f32(value);
        // Small ones round to zeros in f16, of which none is negative.
        if (type == DataType::f16 && (bits & 0x7fff) == 0) bits = 0;
        std::memcpy(stored, &bits, size);
    }
    return tensor;
}

// The first element of a result that is not the expected one.
std::string difference(const char *name, const Tensor &got, const Tensor &wanted) {
    const std::vector<uint64_t> a = reference::bits(got), b = reference::bits(wanted);
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i]) continue;
        return std::string(name) + " " + std::to_string(i) + " has the bits " +
               std::to_string(a[i]) + ", must have " + std::to_string(b[i]);
    }
    return "";
}

class TopKRows : public Problem {
public:
    std::vector<Field> fields() override {
        return {required(field("input", input_, 0, "extents, as 64x32000")),
                required(field("k", k_, "how many of each row")),
                field("axis", axis_, "from the back where negative"),
                field("order", options_.order, {Order::largest, Order::smallest}, "first"),
                field("outputs", outputs_, {"both", "values", "indices"}, "asked for")};
    }
    void prepare(Layout) override {
        options_.axis = static_cast<int>(axis_);
        problem_ = TopKProblem::from_shape(input_, type(), k_, options_);
        problem_.values = outputs_ != "indices";
        problem_.indices = outputs_ != "values";
    }
    void set_batch(int64_t batch) override { input_[0] = batch; }

    std::string name(std::optional<DataType> type) const override {
        std::string text;
        for (const int64_t extent : input_)
            text += (text.empty() ? "" : "x") + std::to_string(extent);
        text += "_k" + std::to_string(k_) + (type ? "_" + std::string(name_of(*type)) : "");
        return text + (outputs_ == "both" ? "" : "_" + outputs_);
    }
    std::string kind() const override { return outputs_; }

    std::span<const KernelInfo> kernels() const override {
        static const std::vector<KernelInfo> all = [] {
            std::vector<KernelInfo> rows;
            for (const auto &some : {topk_kernels(), topk_tiles_kernels()})
                rows.insert(rows.end(), some.begin(), some.end());
            return rows;
        }();
        return all;
    }
    // Rows of the table stand for all types of their width.
    bool serves(const KernelInfo &kernel) const override {
        return kernel.type == detail::topk_row_type(type());
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return select_topk(problem_, device, limits, explain);
    }
    std::vector<std::string> kind_fields() const override {
        return {"values", "indices", "adjacent"};
    }
    int64_t value_of(std::string_view name) const override {
        return detail::topk_fields(problem_)[name];
    }

    // Other libraries make both results.
    std::vector<Operand> operands() const override {
        Shape output = input_;
        output[static_cast<size_t>(axis_ < 0 ? axis_ + std::ssize(input_) : axis_)] = k_;
        return {{"input", type(), input_},
                {"values", type(), output, Operand::Use::written},
                {"indices", DataType::s64, output, Operand::Use::written}};
    }
    double work() const override {
        return static_cast<double>(problem_.rows * problem_.columns * size_of(type()));
    }

    void run(const KernelInfo *row) override { run(row, problem_.values, problem_.indices); }

    Tensors draw() override { return {random_rows(type(), input_), {}, {}}; }

    Judge judge(const Tensors &host) const override {
        const reference::TopKResult wanted =
            reference::topk(host[0], k_, static_cast<int>(axis_), options_.order, DataType::s64);
        return [wanted, p = problem_](const Tensors &results, const KernelInfo *) {
            std::string failure;
            if (p.values) failure = difference("value", results[0], wanted.values);
            if (p.indices && failure.empty())
                failure = difference("index", results[1], wanted.indices);
            return Check{failure.empty() ? 0. : 1., failure};
        };
    }

    Peers libraries(const Tensors &host) const override {
        if (!settings().device.is_cpu() || input_.size() != 2 || axis_ % 2 == 0) return {};
        return onnxruntime_topk(problem_, host[0], settings().threads);
    }

    std::vector<Contestant> variants(const Tensors &host) override {
        std::vector<Contestant> result;
        if (outputs_ != "both") {
            const auto both = [this](int count) {
                for (int i = 0; i < count; ++i) run(nullptr, true, true);
                settings().device.synchronize();
            };
            result.push_back({"hk both", "values and indices", false, both, nullptr});
        }
        if (settings().device.is_cpu() && settings().threads == 1) {
            const auto pass = [input = host[0], bytes = work()](int count) {
                for (int i = 0; i < count; ++i) {
                    volatile uint32_t largest =
                        one_pass(bytes_of(input), static_cast<int64_t>(bytes));
                    static_cast<void>(largest);
                }
            };
            result.push_back({"one pass", "the largest word", false, pass, nullptr});
        }
        return result;
    }

private:
    void run(const KernelInfo *row, bool with_values, bool with_indices) const {
        const Tensor values = with_values ? tensor(1) : Tensor();
        const Tensor indices = with_indices ? tensor(2) : Tensor();
        row ? topk_with(*row, tensor(0), k_, values, indices, options_)
            : topk(tensor(0), k_, values, indices, options_);
    }

    Shape input_;
    int64_t k_ = 1, axis_ = -1;
    TopKOptions options_;
    std::string outputs_ = "both";
    TopKProblem problem_;
};

// The steps after the first of a GPU, and the tiles that the given one leaves to others.
std::vector<const KernelInfo *> helpers(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    const auto add = [&](std::span<const KernelInfo> kernels, bool of_type) {
        for (const KernelInfo &kernel : kernels) {
            if (kernel.device == settings.device.type() &&
                (!of_type || kernel.type == detail::topk_row_type(settings.type)))
                result.push_back(&kernel);
        }
    };
    add(topk_tiles_kernels(), true);
    add(topk_unpack_kernels(), true);
    add(topk_merge_kernels(), false);
    return result;
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result;
    const bool on_cpu = settings.device.is_cpu();
    if (on_cpu && !onnxruntime_version().empty()) {
        result.push_back({onnxruntime_version(), {"ONNX Runtime"}});
    }
    result.push_back({"", {"hk both"}});
    if (on_cpu && settings.threads == 1) result.back().names.emplace_back("one pass");
    return result;
}

}  // namespace

std::vector<Family> topk_families() {
    using enum DataType;
    Family family{"topk",
                  "The k largest or smallest along an axis",
                  [] { return std::make_unique<TopKRows>(); },
                  "topk",
                  {"topk", "topk_f16"}};
    family.peers = peers;
    family.types = {f32, f16, bf16, f64, s8, u8, s16, u16, s32, u32, s64, u64};
    family.helpers = helpers;
    family.variants = {{"outputs", {"both", "values", "indices"}}};
    return {family};
}

}  // namespace hk::bench
