// ONNX Runtime through its C interface, loaded at run time: its Python package has the library but
// no header. The interface is a table of functions that only ever grows at its end, so that the
// index of an entry is the same in every release from 1.0 on.

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "peers/conv2d_peer.h"
#include "peers/onnx_model.h"
#include "peers/transpose.h"

namespace hk::bench {

namespace {

struct Status;
struct Env;
struct Options;
struct Session;
struct MemoryInfo;
struct Value;

struct ApiBase {
    void *const *(*get_api)(uint32_t version);
    const char *(*version)();
};

// Entries that are used, by index.
enum Entry {
    get_error_message = 2,
    create_env = 3,
    create_session_from_array = 8,
    run_session = 9,
    create_session_options = 10,
    set_optimization_level = 23,
    set_intra_op_threads = 24,
    create_tensor_with_data = 49,
    create_cpu_memory_info = 69,
    release_status = 93,
    release_memory_info = 94,
    release_session = 95,
    release_value = 96,
    release_session_options = 100,
};

class Api {
public:
    // Null where the library is not installed.
    static const Api *get() {
        static const Api api;
        return api.table_ ? &api : nullptr;
    }

    const std::string &version() const { return version_; }

    template<typename... Args>
    void call(Entry entry, Args... args) const {
        auto *status = reinterpret_cast<Status *(*)(Args...)>(table_[entry])(args...);
        if (!status) return;
        auto *message = reinterpret_cast<const char *(*)(Status *)>(table_[get_error_message]);
        const std::string text = message(status);
        release(release_status, status);
        throw std::runtime_error("ONNX Runtime: " + text);
    }

    template<typename T>
    void release(Entry entry, T *object) const {
        if (object) reinterpret_cast<void (*)(T *)>(table_[entry])(object);
    }

private:
    Api() {
        const char *path = std::getenv("HK_ONNXRUNTIME");
        void *library = dlopen(path ? path : HK_ONNXRUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) return;
        auto get_base = reinterpret_cast<const ApiBase *(*)()>(dlsym(library, "OrtGetApiBase"));
        if (!get_base) return;
        const ApiBase *base = get_base();
        table_ = base->get_api(8);
        version_ = base->version();
    }

    void *const *table_ = nullptr;
    std::string version_;
};

Env *environment(const Api &api) {
    static Env *env = [&] {
        Env *created = nullptr;
        const int errors_only = 3;
        api.call(create_env, errors_only, "hk", &created);
        return created;
    }();
    return env;
}

class OnnxruntimeConv2d : public Peer {
public:
    OnnxruntimeConv2d(const Api &api, const Conv2dData &data, int threads)
        : api_(api), problem_(data.problem) {
        const Conv2dProblem &p = problem_;
        const int64_t bytes = size_of(p.type);
        const int64_t depth = p.channels / p.options.groups;
        const int64_t taps = p.kernel_height * p.kernel_width;
        const bool nhwc = p.options.layout == Layout::nhwc;
        // Channels last to channels first: each image, each filter, is a matrix to transpose.
        const auto first = [&](const void *from, int64_t count, int64_t pixels, int64_t channels) {
            if (nhwc) return transposed(from, bytes, count, pixels, channels);
            const auto *begin = static_cast<const std::byte *>(from);
            return std::vector<std::byte>(begin, begin + count * pixels * channels * bytes);
        };
        input_data_ = first(data.input, p.batch, p.height * p.width, p.channels);
        const auto weight = first(data.weight, p.filters, taps, depth);
        const int64_t output_shape[4] = {p.batch, p.filters, p.output_height(), p.output_width()};
        const int64_t input_shape[4] = {p.batch, p.channels, p.height, p.width};
        output_data_.resize(output_shape[0] * output_shape[1] * output_shape[2] * output_shape[3] *
                            bytes);

        const int arena = 1, default_memory = 0, all_optimizations = 99;
        api_.call(create_cpu_memory_info, arena, default_memory, &memory_);
        input_ = value(input_data_, input_shape);
        output_ = value(output_data_, output_shape);
        Options *options = nullptr;
        api_.call(create_session_options, &options);
        api_.call(set_intra_op_threads, options, threads);
        api_.call(set_optimization_level, options, all_optimizations);
        const std::string model = onnx_conv2d_model(p, weight.data());
        try {
            api_.call(create_session_from_array, environment(api_), model.data(), model.size(),
                      options, &session_);
        } catch (...) {
            api_.release(release_session_options, options);
            release();
            throw;
        }
        api_.release(release_session_options, options);
    }
    ~OnnxruntimeConv2d() override { release(); }

    std::string name() const override { return "ONNX Runtime"; }
    std::string variant() const override { return "NCHW"; }

    void run() override {
        const char *inputs[] = {"x"}, *outputs[] = {"y"};
        Value *values[] = {output_};
        api_.call(run_session, session_, static_cast<void *>(nullptr), &inputs[0], &input_,
                  size_t{1}, &outputs[0], size_t{1}, &values[0]);
    }

    std::vector<std::byte> output() override {
        const Conv2dProblem &p = problem_;
        if (p.options.layout == Layout::nchw) return output_data_;
        return transposed(output_data_.data(), size_of(p.type), p.batch, p.filters,
                          p.output_height() * p.output_width());
    }

private:
    Value *value(std::vector<std::byte> &data, const int64_t (&shape)[4]) {
        Value *created = nullptr;
        api_.call(create_tensor_with_data, memory_, static_cast<void *>(data.data()), data.size(),
                  &shape[0], size_t{4}, onnx_type(problem_.type), &created);
        return created;
    }

    void release() {
        api_.release(release_session, session_);
        api_.release(release_value, input_);
        api_.release(release_value, output_);
        api_.release(release_memory_info, memory_);
    }

    const Api &api_;
    Conv2dProblem problem_;
    std::vector<std::byte> input_data_, output_data_;
    MemoryInfo *memory_ = nullptr;
    Value *input_ = nullptr, *output_ = nullptr;
    Session *session_ = nullptr;
};

}  // namespace

Peers onnxruntime_conv2d(const Conv2dData &data, int threads) {
    Peers peers;
    const Api *api = Api::get();
    if (!api) return peers;
    try {
        peers.push_back(std::make_unique<OnnxruntimeConv2d>(*api, data, threads));
    } catch (const std::runtime_error &) {
        // Not supported: bf16 convolutions.
    }
    return peers;
}

std::string onnxruntime_version() {
    const Api *api = Api::get();
    return api ? "ONNX Runtime " + api->version() : "";
}

}  // namespace hk::bench
