// The family softmax_cross_entropy in the benchmark, on packed logits: loss and gradient, the
// gradient over the logits, and the loss alone. Work is counted in bytes of the tensors, of logits
// that are written over twice; memcpy reads and writes as many.

#include "hk/softmax_cross_entropy.h"

#include "conv2d_data.h"
#include "lists.h"
#include "peers/memcpy.h"
#include "softmax_cross_entropy_check.h"

namespace hk::bench {

namespace {

constexpr const char *kFamily = "softmax_cross_entropy";

const KernelInfo *kernel_of(int64_t rows, int64_t classes, const Settings &settings) {
    return select_softmax_cross_entropy(rows, classes, settings.type, settings.device.type(),
                                        limits_of(settings))
        .kernel;
}

class SoftmaxCase : public Case {
public:
    // `kind`: "both", "in_place" or "loss".
    SoftmaxCase(const std::string &kind, int64_t rows, int64_t classes, const Settings &settings)
        : Case(kernel_of(rows, classes, settings)),
          kind_(kind),
          settings_(settings),
          host_logits_(random_data({rows, classes}, settings.type, 1)),
          logits_(host_logits_.tensor.to(settings.device)),
          loss_({rows}, DataType::f32, settings.device) {
        const Tensor labels({rows}, DataType::s32);
        for (int64_t n = 0; n < rows; ++n) {
            host_labels_.push_back(static_cast<int32_t>(7919 * n % classes));
            labels.data<int32_t>()[n] = host_labels_.back();
        }
        labels_ = labels.to(settings.device);
        if (kind == "both") gradient_ = Tensor({rows, classes}, settings.type, settings.device);
    }

    double work() const override {
        const int passes = kind_ == "loss" ? 1 : 2;
        return static_cast<double>(passes * logits_.elements() * size_of(settings_.type) +
                                   2 * 4 * loss_.elements());
    }
    std::map<std::string, Shape> shapes() const override { return {{"logits", logits_.shape()}}; }

    Check check() override {
        poison(loss_);
        if (gradient_.defined()) poison(gradient_);
        logits_.copy_from(host_logits_.tensor.to(settings_.device));
        run(1);
        const Tensor written = kind_ == "in_place" ? logits_ : gradient_;
        return check_softmax_cross_entropy(
            host_logits_.values, host_labels_, loss_.to(Device::cpu()),
            written.defined() ? written.to(Device::cpu()) : Tensor());
    }

    // In place again and again the logits are the last gradient, which takes as long.
    void run(int count) override {
        const Output gradient = kind_ == "in_place" ? inplace(logits_) : Output(gradient_);
        for (int i = 0; i < count; ++i)
            softmax_cross_entropy_with(*kernel(), logits_, labels_, loss_, gradient);
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override { return memcpy_of(work(), settings_); }

private:
    std::string kind_;
    Settings settings_;
    Data host_logits_;
    std::vector<int32_t> host_labels_;
    Tensor logits_, labels_, loss_, gradient_;
};

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    std::vector<CaseInfo> result;
    for (ListLine &line : list_lines(list_text(kFamily, list))) {
        int64_t rows = 1, classes = 1;
        line.read("rows", rows);
        line.read("classes", classes);
        line.finish();
        if (settings.batch > 0) rows = settings.batch;
        const std::string size = std::to_string(rows) + "x" + std::to_string(classes);
        for (const std::string kind : {"both", "in_place", "loss"}) {
            result.push_back({list, size + "_" + kind, kind, 1, [kind, rows, classes, settings] {
                                  return std::make_unique<SoftmaxCase>(kind, rows, classes,
                                                                       settings);
                              }});
            result.back().select = [rows, classes, settings] {
                return kernel_of(rows, classes, settings);
            };
        }
    }
    return result;
}

}  // namespace

Family softmax_cross_entropy_family() {
    return {
        kFamily,
        {DataType::f32, DataType::f16, DataType::bf16},
        embedded_lists(kFamily),
        {"logits"},
        cases,
        [](const Settings &settings) { return rows_of(softmax_cross_entropy_kernels(), settings); },
        memcpy_library,
        [](const Settings &) {
            return Unit{"GB/s", nullptr, ""};
        },
        {Layout::any}};
}

}  // namespace hk::bench
