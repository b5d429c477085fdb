// ONNX Runtime through its C interface, loaded at run time: its Python package has the library but
// no header. The interface is a table of functions that only ever grows at its end, so that the
// index of an entry is the same in every release from 1.0 on.

#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "peers/onnxruntime_session.h"

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

}  // namespace

struct OnnxruntimeSession::Parts {
    MemoryInfo *memory = nullptr;
    Value *input = nullptr;
    std::vector<Value *> outputs;
    Session *session = nullptr;

    ~Parts() {
        const Api *api = Api::get();
        api->release(release_session, session);
        api->release(release_value, input);
        for (Value *output : outputs) api->release(release_value, output);
        api->release(release_memory_info, memory);
    }
};

OnnxruntimeSession::OnnxruntimeSession(const std::string &model, OnnxTensor input,
                                       std::vector<OnnxTensor> outputs, int threads)
    : input_(std::move(input)), outputs_(std::move(outputs)), parts_(std::make_unique<Parts>()) {
    const Api *api = Api::get();
    if (!api) throw std::runtime_error("ONNX Runtime is not installed");
    const int arena = 1, default_memory = 0, all_optimizations = 99;
    api->call(create_cpu_memory_info, arena, default_memory, &parts_->memory);
    const auto value = [&](OnnxTensor &tensor, Value **created) {
        api->call(create_tensor_with_data, parts_->memory, static_cast<void *>(tensor.data.data()),
                  tensor.data.size(), tensor.shape.data(), tensor.shape.size(), tensor.type,
                  created);
    };
    value(input_, &parts_->input);
    parts_->outputs.resize(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) value(outputs_[i], &parts_->outputs[i]);
    Options *options = nullptr;
    api->call(create_session_options, &options);
    const std::unique_ptr<Options, std::function<void(Options *)>> owner(
        options, [api](Options *object) { api->release(release_session_options, object); });
    api->call(set_intra_op_threads, options, threads);
    api->call(set_optimization_level, options, all_optimizations);
    api->call(create_session_from_array, environment(*api), static_cast<const void *>(model.data()),
              model.size(), options, &parts_->session);
}

OnnxruntimeSession::~OnnxruntimeSession() = default;

void OnnxruntimeSession::run() {
    const char *input = input_.name.c_str();
    std::vector<const char *> names;
    for (const OnnxTensor &output : outputs_) names.push_back(output.name.c_str());
    Api::get()->call(run_session, parts_->session, static_cast<void *>(nullptr), &input,
                     &parts_->input, size_t{1}, names.data(), names.size(), parts_->outputs.data());
}

std::string onnxruntime_version() {
    const Api *api = Api::get();
    return api ? "ONNX Runtime " + api->version() : "";
}

}  // namespace hk::bench
