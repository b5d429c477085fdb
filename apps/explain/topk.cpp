#include "hk/topk.h"

#include "flags.h"
#include "hk/error.h"
#include "topk/operands.h"
#include "verb.h"

namespace hk::explain {

namespace {

class TopKVerb : public Verb {
public:
    std::string name() const override { return "topk"; }
    std::string description() const override { return "The k largest or smallest along an axis"; }

    void add_flags(program::Flags &flags) override {
        flags.add("--type", type_, "f32, s64, …").show_default();
        flags.add("--input", input_, "extents, as 64x32000").required();
        flags.add("--k", k_, "how many of each row").required();
        flags.add("--axis", options_.axis, "from the back where negative").show_default();
        flags.add("--order", order_, "largest or smallest").show_default();
        flags.add("--outputs", outputs_, "both, values or indices").show_default();
    }

    void prepare() override {
        if (outputs_ != "both" && outputs_ != "values" && outputs_ != "indices") {
            throw InvalidArgument("--outputs: \"" + outputs_ + "\" is not both, values or indices");
        }
        options_.order = order_of(order_);
        shape_ = parse_shape("--input", input_);
        problem_ = TopKProblem::from_shape(shape_, data_type_of(type_), k_, options_);
        problem_.values = outputs_ != "indices";
        problem_.indices = outputs_ != "values";
        for (const auto &rows : {topk_kernels(), topk_tiles_kernels()}) {
            rows_.insert(rows_.end(), rows.begin(), rows.end());
        }
    }

    std::string problem() const override {
        return "topk " + type_ + ": input " + to_string(shape_) + ", axis " +
               std::to_string(options_.axis) + ": " + std::to_string(problem_.rows) + " rows of " +
               std::to_string(problem_.columns) + ", the " + std::to_string(k_) + " " + order_ +
               " of each, " + (outputs_ == "both" ? "values and indices" : outputs_);
    }
    DataType type() const override { return detail::topk_row_type(problem_.type); }
    Layout layout() const override { return Layout::any; }
    std::span<const KernelInfo> kernels() const override { return rows_; }

    Selection select(const Target &target) const override {
        return select_topk(problem_, target.type, target.limits, true);
    }

    std::vector<std::string> kind_fields() const override {
        return {"values", "indices", "adjacent"};
    }
    int64_t field(std::string_view name) const override {
        return detail::topk_fields(problem_)[name];
    }

    void launch(const KernelInfo &kernel) const override {
        Shape output = shape_;
        const int rank = static_cast<int>(shape_.size());
        output[static_cast<size_t>(options_.axis < 0 ? options_.axis + rank : options_.axis)] = k_;
        MadeUpTensors tensors;
        const Tensor input = tensors.next(problem_.type, shape_);
        Tensor values, indices;
        if (problem_.values) values = tensors.next(problem_.type, output);
        if (problem_.indices) indices = tensors.next(DataType::s64, output);
        topk_with(kernel, input, k_, values, indices, options_);
    }

private:
    std::string type_ = "f32", input_, order_ = "largest", outputs_ = "both";
    int64_t k_ = 1;
    Shape shape_;
    TopKOptions options_;
    TopKProblem problem_;
    std::vector<KernelInfo> rows_;
};

}  // namespace

std::unique_ptr<Verb> topk_verb() { return std::make_unique<TopKVerb>(); }

}  // namespace hk::explain
