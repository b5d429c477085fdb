// The family topk in the benchmark: packed rows, the largest of each, values and s64 indices or one
// of them. Work is counted in bytes of the input.

#include "hk/topk.h"

#include "conv2d_data.h"
#include "lists.h"
#include "peers/topk_peer.h"
#include "topk_check.h"

namespace hk::bench {

namespace {

struct TopKShape {
    int64_t rows = 1, columns = 1, k = 1;
    std::string type;  // empty: that of the settings

    std::string name() const {
        const std::string size = std::to_string(rows) + "x" + std::to_string(columns);
        return size + "_k" + std::to_string(k) + (type.empty() ? "" : "_" + type);
    }
};

std::vector<TopKShape> shapes_of(const std::string &list, const Settings &settings) {
    std::vector<TopKShape> result;
    for (ListLine &line : list_lines(list_text("topk", list))) {
        TopKShape shape;
        line.read("rows", shape.rows);
        line.read("columns", shape.columns);
        line.read("k", shape.k);
        line.read("type", shape.type);
        line.finish();
        if (settings.batch > 0) shape.rows = settings.batch;
        result.push_back(shape);
    }
    return result;
}

// Rows of the table stand for all types of their width.
bool serves(const KernelInfo &kernel, DataType type, DeviceType device) {
    return size_of(kernel.type) == size_of(type) && kernel.device == device;
}

std::vector<const KernelInfo *> rows(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const auto &kernels : {topk_kernels(), topk_tiles_kernels()}) {
        for (const KernelInfo &kernel : kernels) {
            if (serves(kernel, settings.type, settings.device.type())) result.push_back(&kernel);
        }
    }
    return result;
}

// The steps after the first of a GPU, and the tiles that the given one leaves to others.
std::vector<const KernelInfo *> helpers(const Settings &settings) {
    const DeviceType device = settings.device.type();
    std::vector<const KernelInfo *> result;
    for (const auto &kernels : {topk_tiles_kernels(), topk_unpack_kernels()}) {
        for (const KernelInfo &kernel : kernels) {
            if (serves(kernel, settings.type, device)) result.push_back(&kernel);
        }
    }
    for (const KernelInfo &kernel : topk_merge_kernels()) {
        if (kernel.device == device) result.push_back(&kernel);
    }
    return result;
}

const KernelInfo *selected(const TopKProblem &problem, const Settings &settings) {
    return select_topk(problem, settings.device.type(), limits_of(settings)).kernel;
}

class TopKCase : public Case {
public:
    TopKCase(const TopKProblem &problem, const Settings &settings)
        : Case(selected(problem, settings)),
          problem_(problem),
          settings_(settings),
          host_input_(random_rows(problem.type, problem.rows, problem.columns)),
          reference_(problem, host_input_),
          input_(host_input_.to(settings.device)),
          values_({problem.rows, problem.k}, problem.type, settings.device),
          indices_({problem.rows, problem.k}, DataType::s64, settings.device) {}

    double work() const override {
        return static_cast<double>(problem_.rows * problem_.columns * size_of(problem_.type));
    }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", input_.shape()}, {"output", values_.shape()}};
    }

    Check check() override {
        poison(values_);
        poison(indices_);
        run(1);
        const Tensor values = values_.to(Device::cpu()), indices = indices_.to(Device::cpu());
        return reference_.check(problem_.values ? bytes_of(values) : nullptr,
                                problem_.indices ? bytes_of(indices) : nullptr);
    }

    void run(int count) override { run(count, problem_); }

    std::vector<Contestant> peers() override {
        const bool on_cpu = settings_.device.is_cpu();
        Peers all;
        if (on_cpu) all = onnxruntime_topk(problem_, host_input_, settings_.threads);
        std::vector<Contestant> result = right_ones(std::move(all), [this](const Outputs &outputs) {
            return reference_.check(outputs[0].data(), outputs[1].data()).failure.empty();
        });
        if (!(problem_.values && problem_.indices)) {
            TopKProblem both = problem_;
            both.values = both.indices = true;
            result.push_back({"hk both", "values and indices", false,
                              [this, both](int count) { run(count, both); }, nullptr});
        }
        if (on_cpu && settings_.threads == 1) {
            const auto pass = [this](int count) {
                for (int i = 0; i < count; ++i) {
                    volatile uint32_t largest =
                        one_pass(bytes_of(host_input_), static_cast<int64_t>(work()));
                    static_cast<void>(largest);
                }
            };
            result.push_back({"one pass", "the largest word", false, pass, nullptr});
        }
        return result;
    }

private:
    void run(int count, const TopKProblem &p) {
        const Tensor values = p.values ? values_ : Tensor();
        const Tensor indices = p.indices ? indices_ : Tensor();
        const TopKOptions options{-1, p.order, true};
        const bool chosen = !used() || &p != &problem_;
        for (int i = 0; i < count; ++i) {
            if (chosen) {
                topk(input_, p.k, values, indices, options);
            } else {
                topk_with(*used(), input_, p.k, values, indices, options);
            }
        }
        settings_.device.synchronize();
    }

    TopKProblem problem_;
    Settings settings_;
    Tensor host_input_;
    TopKReference reference_;
    Tensor input_, values_, indices_;
};

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    std::vector<CaseInfo> result;
    for (const TopKShape &shape : shapes_of(list, settings)) {
        TopKProblem problem;
        problem.type = shape.type.empty() ? settings.type : data_type_of(shape.type);
        problem.rows = shape.rows;
        problem.columns = shape.columns;
        problem.k = shape.k;
        for (const char *kind : {"both", "values", "indices"}) {
            problem.values = std::string_view(kind) != "indices";
            problem.indices = std::string_view(kind) != "values";
            const bool both = problem.values && problem.indices;
            result.push_back(
                {list, shape.name() + (both ? "" : std::string("_") + kind), kind, 1,
                 [problem, settings] { return std::make_unique<TopKCase>(problem, settings); }});
            result.back().type = problem.type;
            result.back().select = [problem, settings] { return selected(problem, settings); };
        }
    }
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

Family topk_family() {
    Family family = {
        "topk",
        {DataType::f32, DataType::f16, DataType::bf16, DataType::f64, DataType::s8, DataType::u8,
         DataType::s16, DataType::u16, DataType::s32, DataType::u32, DataType::s64, DataType::u64},
        embedded_lists("topk"),
        {"topk", "topk_f16"},
        cases,
        rows,
        peers,
        [](const Settings &) {
            return Unit{"GB/s", nullptr, ""};
        },
        {Layout::any}};
    family.helpers = helpers;
    return family;
}

}  // namespace hk::bench
