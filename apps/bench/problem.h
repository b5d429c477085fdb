#pragma once
// A problem of a family, and a call of its kernels on given tensors: what bench, explain and the
// explorer know of it. Each family has its own in families/.

#include "case.h"
#include "field.h"
#include "peers/peer.h"

namespace hk::bench {

// A tensor of a call.
struct Operand {
    std::string name;
    DataType type;
    Shape shape;
    enum class Use : uint8_t { read, written, both } use = Use::read;

    bool is_read() const { return use != Use::written; }
    bool is_written() const { return use != Use::read; }
};

using Tensors = std::vector<Tensor>;

// Holds what a call wrote, in host memory and in the order of the operands, against what it should
// have written. `row`: the kernel of ours that wrote it, whose bound it is held to; null: another
// library did.
using Judge = std::function<Check(const Tensors &results, const KernelInfo *row)>;

// What a problem asks for, whatever the kernel.
struct Arithmetic {
    double operations;       // multiplications and additions
    double bytes;            // of all tensors, each once
    double gathered, added;  // bytes of rows that are read, and added to, by all pairs
};

class Problem {
public:
    virtual ~Problem() = default;

    virtual std::vector<Field> fields() = 0;

    // What is known before the fields are read: types, layout, device.
    void set(const Settings &settings) { settings_ = settings; }
    // After they were; `written`: the layout of shapes in them. Throws InvalidArgument where they
    // don't fit each other.
    virtual void prepare(Layout written) = 0;
    // Throws InvalidArgument where there are no batches. Before prepare().
    virtual void set_batch(int64_t batch);

    // Of the case of a list, and its kind (CaseInfo): from the fields alone. `type`: where the list
    // names it.
    virtual std::string name(std::optional<DataType> type) const = 0;
    virtual std::string kind() const = 0;

    virtual std::span<const KernelInfo> kernels() const = 0;
    // Whether a row is for the settings' types and layout; by default, those that are its own.
    virtual bool serves(const KernelInfo &kernel) const;
    virtual Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const = 0;

    virtual std::vector<Operand> operands() const = 0;
    virtual double work() const;                          // bytes of all operands, read and written
    virtual std::map<std::string, Shape> shapes() const;  // of the operands

    // The tensors of the calls that follow, one an operand.
    virtual void bind(const Tensors &tensors) { tensors_ = tensors; }
    virtual void run(const KernelInfo *row) = 0;  // null: what selection takes
    // Kernels that no problem is of, on these tensors.
    virtual void run_beside() {}

    // Packed tensors in host memory for the operands that are read, undefined ones for others; at
    // random, of as many bits.
    virtual Tensors draw();
    virtual int bits() const { return 32; }
    virtual Judge judge(const Tensors &host) const = 0;
    virtual Tensors results() const;  // of the last run
    // Of another library's; undefined where it makes fewer.
    virtual Tensors results_of(const Outputs &made) const;

    virtual Peers libraries(const Tensors &host) const;
    // What else takes part, whose results need no check: other variants of ours, or bounds.
    virtual std::vector<Contestant> variants(const Tensors &host);

    // What the case runs on, in words, where its name does not say it. Prepared.
    virtual std::string data() const { return ""; }

    // For explain: what is to say of the problem besides its fields; the fields of conditions that
    // tell kinds of problems apart, and the problem's value of them. What rows ask of all other
    // fields, sizes, is told as their regions; no fields: of none.
    virtual std::string note() const { return ""; }
    virtual std::vector<std::string> kind_fields() const { return {}; }
    virtual int64_t value_of(std::string_view) const { return 0; }
    virtual std::optional<Arithmetic> arithmetic() const { return std::nullopt; }

    const Settings &settings() const { return settings_; }

protected:
    DataType type() const { return settings_.type; }
    Layout layout() const { return settings_.layout; }
    const Tensor &tensor(size_t i) const { return tensors_[i]; }

private:
    Settings settings_;
    Tensors tensors_;
};

// The tensors of a call on a device: copies of those of draw(), and undefined values in others.
Tensors placed(const Problem &problem, const Tensors &drawn, Device device);

// A problem on random data. On a GPU calls take up to 16 copies of its tensors in turn, of 256 MiB
// together where these suffice: a call would else find all that it reads in the caches.
class ProblemCase : public Case {
public:
    using Make = std::function<std::unique_ptr<Problem>()>;  // prepared ones, all the same
    explicit ProblemCase(const Make &make) : ProblemCase(make, make()) {}

    double work() const override { return problem().work(); }
    std::map<std::string, Shape> shapes() const override { return problem().shapes(); }
    Check check() override;
    void run(int count) override;
    std::vector<Contestant> peers() override;

    // Of other libraries, whatever their results are, and a check of these.
    Peers libraries() const { return problem().libraries(host_); }
    Check check(const Outputs &made) const { return judge_(problem().results_of(made), nullptr); }

private:
    std::vector<std::unique_ptr<Problem>> problems_;  // the first is checked
    std::vector<Operand> operands_;
    Tensors host_, device_;
    Judge judge_;
    size_t turn_ = 0;

    ProblemCase(const Make &make, std::unique_ptr<Problem> first);
    Problem &problem() const { return *problems_.front(); }
};

}  // namespace hk::bench
