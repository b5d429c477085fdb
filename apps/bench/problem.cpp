#include "problem.h"

#include <algorithm>
#include <cstring>

#include "data.h"
#include "hk/error.h"

namespace hk::bench {

void Problem::set_batch(int64_t batch) {
    throw InvalidArgument("it has no batches, --batch is " + std::to_string(batch));
}

bool Problem::serves(const KernelInfo &kernel) const {
    return kernel.type == type() && kernel.layout == layout();
}

namespace {

double bytes_of(const Operand &operand) {
    double bytes = static_cast<double>(size_of(operand.type));
    for (const int64_t extent : operand.shape) bytes *= static_cast<double>(extent);
    return bytes;
}

double bytes_of_all(const Problem &problem) {
    double bytes = 0;
    for (const Operand &operand : problem.operands()) bytes += bytes_of(operand);
    return bytes;
}

}  // namespace

double Problem::work() const {
    double bytes = 0;
    for (const Operand &operand : operands())
        bytes += bytes_of(operand) * (operand.is_read() + operand.is_written());
    return bytes;
}

std::map<std::string, Shape> Problem::shapes() const {
    std::map<std::string, Shape> result;
    for (const Operand &operand : operands()) result[operand.name] = operand.shape;
    return result;
}

Tensors Problem::draw() {
    Tensors result;
    for (const Operand &operand : operands()) {
        const auto seed = static_cast<uint32_t>(result.size() + 1);
        if (!operand.is_read()) {
            result.emplace_back();
        } else if (operand.type == DataType::f64 || operand.type == DataType::f32 ||
                   operand.type == DataType::f16 || operand.type == DataType::bf16) {
            result.push_back(random_data(operand.shape, operand.type, seed, bits()));
        } else {
            result.push_back(Tensor::zeros(operand.shape, operand.type));
        }
    }
    return result;
}

Tensors Problem::results() const {
    Tensors result;
    const std::vector<Operand> all = operands();
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].is_written()) result.push_back(tensor(i).to(Device::cpu()));
    }
    return result;
}

Tensors Problem::results_of(const Outputs &made) const {
    Tensors result;
    for (const Operand &operand : operands()) {
        if (!operand.is_written()) continue;
        if (result.size() >= made.size()) {
            result.emplace_back();
            continue;
        }
        const std::vector<std::byte> &bytes = made[result.size()];
        result.emplace_back(operand.shape, operand.type);
        if (!bytes.empty()) std::memcpy(bytes_of(result.back()), bytes.data(), bytes.size());
    }
    return result;
}

Peers Problem::libraries(const Tensors &) const { return {}; }

std::vector<Contestant> Problem::variants(const Tensors &) { return {}; }

Tensors placed(const Problem &problem, const Tensors &drawn, Device device) {
    Tensors result;
    for (const Operand &operand : problem.operands()) {
        const Tensor &from = drawn[result.size()];
        result.push_back(operand.is_read() ? from.to(device)
                                           : Tensor(operand.shape, operand.type, device));
    }
    return result;
}

ProblemCase::ProblemCase(const Make &make, std::unique_ptr<Problem> first)
    : Case(first->select(first->settings().device.type(), limits_of(first->settings()), false)
               .kernel) {
    problems_.push_back(std::move(first));
    operands_ = problem().operands();
    host_ = problem().draw();
    judge_ = problem().judge(host_);
    const Device device = problem().settings().device;
    device_ = placed(problem(), host_, device);
    problem().bind(device_);
    if (device.is_cpu()) return;
    constexpr double together = 1 << 28;
    constexpr size_t most = 16;
    const double bytes = std::max(bytes_of_all(problem()), 1.0);
    const auto count = std::min(most, static_cast<size_t>(together / bytes));
    while (problems_.size() < count) {
        problems_.push_back(make());
        problems_.back()->bind(placed(problem(), host_, device));
    }
}

Check ProblemCase::check() {
    for (size_t i = 0; i < operands_.size(); ++i) {
        if (!operands_[i].is_written()) continue;
        if (operands_[i].is_read()) {
            device_[i].copy_from(host_[i].to(device_[i].device()));
        } else {
            poison(device_[i]);
        }
    }
    turn_ = 0;
    run(1);
    return judge_(problem().results(), kernel());
}

void ProblemCase::run(int count) {
    for (int i = 0; i < count; ++i) problems_[turn_++ % problems_.size()]->run(used());
    problem().settings().device.synchronize();
}

std::vector<Contestant> ProblemCase::peers() {
    std::vector<Contestant> result =
        right_ones(libraries(), [this](const Outputs &made) { return check(made); });
    for (Contestant &variant : problem().variants(host_)) result.push_back(std::move(variant));
    return result;
}

}  // namespace hk::bench
