#pragma once
// What TensorProductMaps share: the maps, and what kernels have made of them so far.

#include <memory>
#include <mutex>
#include <vector>

#include "hk/tensor_product.h"
#include "kernel_call.h"
#include "tensor_product/pair_lists.h"

namespace hk {

struct TensorProductMaps::Impl {
    // Something that kernels read, made of the maps.
    struct Form {
        virtual ~Form() = default;
        virtual size_t bytes() const = 0;
    };

    enum class Direction : uint8_t { forward, backward };  // from imap's rows to omap's; back

    detail::PairMaps pairs(Direction direction) const;
    void check_disjoint(const char *operation, const detail::Operand &output) const;

    // The form of this type with this key, made by make() the first time. Other calls wait for it.
    template<typename F, typename Make>
    std::shared_ptr<const F> form(const typename F::Key &key, const Make &make) {
        const std::lock_guard lock(mutex);
        for (const auto &form : forms) {
            const auto found = std::dynamic_pointer_cast<const F>(form);
            if (found && found->key() == key) return found;
        }
        const std::shared_ptr<const F> made = make();
        forms.push_back(made);
        return made;
    }

    Tensor imap, omap;
    bool ragged;
    std::vector<detail::PairRange> ranges;  // of ragged maps
    int64_t offsets, input_rows, output_rows;
    std::mutex mutex;
    std::vector<std::shared_ptr<const Form>> forms;
};

}  // namespace hk
