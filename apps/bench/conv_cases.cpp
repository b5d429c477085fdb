#include "conv_cases.h"

namespace hk::bench {

namespace {

CaseInfo case_of(const ConvKernels &kernels, const std::string &list, const std::string &name,
                 const ConvShape &shape, const Settings &settings) {
    const auto select = [kernels, shape] { return kernels.select(shape); };
    const auto prepare = [=] { return kernels.prepare(shape, select(), settings); };
    CaseInfo info{list, name, kernels.kind(shape), shape.count, prepare};
    info.select = select;
    return info;
}

std::vector<CaseInfo> table_cases(const ConvKernels &kernels, const Settings &settings) {
    std::vector<CaseInfo> result;
    for (const KernelInfo *kernel : kernels.rows) {
        bool found = false;
        for (const char *list :
             {"resnet50", "mobilenetv2", "resnext50", "depthwise", "conv_training", "smoke"}) {
            for (const ConvShape &shape : conv_list(list, kernels.pass, settings.batch)) {
                if (kernels.select(shape) != kernel) continue;
                const std::string name = kernel->row + (" " + shape.name);
                result.push_back(case_of(kernels, "table", name, shape, settings));
                result.back().row = kernel;
                found = true;
                break;
            }
            if (found) break;
        }
    }
    return result;
}

}  // namespace

std::string kind_of(const ConvShape &shape) {
    if (shape.groups > 1) return shape.groups == shape.channels ? "depthwise" : "grouped";
    return shape.kernel_height * shape.kernel_width == 1 ? "dense 1x1" : "dense, larger";
}

std::vector<CaseInfo> conv_cases(const ConvKernels &kernels, const std::string &list,
                                 const Settings &settings) {
    if (list == "table") return table_cases(kernels, settings);
    std::vector<CaseInfo> result;
    for (const ConvShape &shape : conv_list(list, kernels.pass, settings.batch)) {
        result.push_back(case_of(kernels, list, shape.name, shape, settings));
    }
    return result;
}

Unit arithmetic(const Settings &settings) {
    return {size_of(settings.type) == 1 ? "GOP/s" : "GFLOP/s",
            [settings](double seconds) {
                return measure_peak(settings.type, settings.threads, seconds);
            },
            "multiply-adds, " + peak_instructions(settings.type)};
}

std::vector<std::string> conv_case_lists() {
    std::vector<std::string> lists = conv_list_names();
    lists.push_back("table");
    return lists;
}

}  // namespace hk::bench
