#include "problem.h"

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

double Problem::work() const {
    double bytes = 0;
    for (const Operand &operand : operands()) {
        double of_one = static_cast<double>(size_of(operand.type));
        for (const int64_t extent : operand.shape) of_one *= static_cast<double>(extent);
        bytes += of_one * (operand.is_read() + operand.is_written());
    }
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

ProblemCase::ProblemCase(const Make &make, std::unique_ptr<Problem> problem)
    : Case(problem->select(problem->settings().device.type(), limits_of(problem->settings()), false)
               .kernel),
      problem_(std::move(problem)),
      operands_(problem_->operands()),
      host_(problem_->draw()),
      judge_(problem_->judge(host_)) {
    device_ = placed(*problem_, host_, problem_->settings().device);
    problem_->bind(device_);
    if (!problem_->settings().device.is_cpu()) copy(make);
}

void ProblemCase::copy(const Make &make) {
    // Caches of GPUs hold up to 60 MB (H200); memory of many small tensors is not worth having.
    constexpr size_t together = size_t{256} << 20, most = 16;
    size_t bytes = 1;
    for (const Tensor &tensor : device_) bytes += static_cast<size_t>(tensor.elements() * size_of(tensor.type()));
    for (size_t i = 1; i < std::min(most, together / bytes); ++i) {
        copies_.push_back(make());
        copies_.back()->bind(placed(*problem_, host_, problem_->settings().device));
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
    return judge_(problem_->results(), kernel());
}

void ProblemCase::run(int count) {
    for (int i = 0; i < count; ++i) {
        Problem &problem = turn_ == 0 ? *problem_ : *copies_[turn_ - 1];
        problem.run(used());
        turn_ = turn_ == copies_.size() ? 0 : turn_ + 1;
    }
    problem_->settings().device.synchronize();
}

std::vector<Contestant> ProblemCase::peers() {
    std::vector<Contestant> result =
        right_ones(libraries(), [this](const Outputs &made) { return check(made); });
    for (Contestant &variant : problem_->variants(host_)) result.push_back(std::move(variant));
    return result;
}

}  // namespace hk::bench
