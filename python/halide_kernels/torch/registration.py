"""How operators are defined for torch.library, and how they are called: through PyTorch's
dispatcher only where that has to hear of it."""

import torch

from .. import _core

DEVICES = ("CPU", "CUDA")
IMPLEMENTATIONS = {}  # by names of operators: what they compute, where no gradients are recorded
FUNCTIONS = {}  # the same of autograd, of those that have a gradient
TRANSFORMED = {}  # the same under transforms of torch.func and where derivatives go forwards
# Whether tensors come in that want a gradient: by DLPack's C functions; __dlpack__() refuses them.
TAKES_ALL = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")

# Looked up once: call() asks in each call.
is_compiling = torch.compiler.is_compiling
forward_derivatives = torch.autograd.forward_ad


def not_public(path):
    """A function that PyTorch has no public name for; None in a version that lacks it."""
    found = torch
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


# What tells call() that nobody looks on. In a version of PyTorch that lacks some of it, calls go
# the way that is right whoever does.
ONLOOKERS = tuple(not_public(f"_C.{name}") for name in (
    "_len_torch_dispatch_stack", "_len_torch_function_stack", "_is_any_autocast_enabled",
    "_get_tracing_state"))
transforms = not_public("_C._functorch.peek_interpreter_stack")
is_forward_enabled = not_public("_C._is_fwd_grad_enabled")
CAN_ASK = (None not in (*ONLOOKERS, transforms)
           and hasattr(forward_derivatives, "_current_level"))
COMPUTES, RECORDS, DISPATCHES, TRANSFORMS = range(4)
if CAN_ASK:
    way_of = _core._TorchCalls(transforms, ONLOOKERS, torch.is_grad_enabled, torch.Tensor,
                               torch.nn.Parameter).way_of


def refuse_tangents(name, arguments):
    if is_forward_enabled is not None and not is_forward_enabled():
        return
    for value in arguments:
        if (isinstance(value, torch.Tensor) and value.is_floating_point()
                and forward_derivatives.unpack_dual(value).tangent is not None):
            raise no_derivative_forwards(name)


def no_derivative_forwards(name):
    return NotImplementedError(f"halide_kernels::{name} has no jvp: these operators have "
                               "gradients, no derivative forwards")


class Library(torch.library.Library):
    """Whose operators refuse derivatives forwards, which PyTorch takes for zero where an operator
    has none."""

    def impl(self, name, kernel, key="", **options):
        if key == "Autograd":  # the one that torch.library.register_autograd makes
            record = kernel

            def kernel(keyset, *arguments):
                if getattr(forward_derivatives, "_current_level", 0) >= 0:
                    refuse_tangents(name, arguments)
                return record(keyset, *arguments)

        super().impl(name, kernel, key, **options)


LIBRARY = Library("halide_kernels", "DEF")


def operator(schema, autocast=False):
    """Defines the operator whose function is decorated, on all devices. Gradients are recorded
    above it: the function gets tensors that want none. With `autocast` its tensors become those of
    autocast's type."""

    def define(function):
        def run(*arguments):
            return function(*[value.detach() if isinstance(value, torch.Tensor)
                              and value.requires_grad else value for value in arguments])

        name = schema[: schema.index("(")]
        LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for device in DEVICES:
            LIBRARY.impl(name, run, device)
            if autocast:
                LIBRARY.impl(name, autocast_on(device.lower(), name), "Autocast" + device)
        IMPLEMENTATIONS[name] = function if TAKES_ALL else run
        return function

    return define


def autocast_on(device, name):
    def cast(*arguments):
        to = torch.get_autocast_dtype(device)
        arguments = [value.to(to) if torch.is_tensor(value) and value.is_floating_point()
                     else value for value in arguments]
        with torch.amp.autocast(device, enabled=False):
            return dispatch(name, arguments)

    return cast


def fake(name):
    return torch.library.register_fake(f"halide_kernels::{name}", lib=LIBRARY)


def gradient(name, backward, setup_context=None):
    """Registers the operator's gradient."""
    torch.library.register_autograd(f"halide_kernels::{name}", backward,
                                    setup_context=setup_context, lib=LIBRARY)
    TRANSFORMED[name] = transformed(name, backward, setup_context)
    if not setup_context:
        return
    compute = IMPLEMENTATIONS[name]

    # Not with a setup_context of its own, for which PyTorch asks for the signature in each call.
    def forward(ctx, *arguments):
        output = compute(*arguments)
        setup_context(ctx, arguments, output)
        return output

    FUNCTIONS[name] = type(name, (torch.autograd.Function,),
                           {"forward": staticmethod(forward),
                            "backward": staticmethod(backward)}).apply


def transformed(name, backward, setup_context):
    """The function of autograd for torch.func, which needs a setup_context. A derivative forwards
    is an error."""

    def forward(*arguments):
        return dispatch(name, arguments)

    def jvp(*_):
        raise no_derivative_forwards(name)

    return type(name, (torch.autograd.Function,),
                {"generate_vmap_rule": True, "forward": staticmethod(forward),
                 "backward": staticmethod(backward), "jvp": staticmethod(jvp),
                 "setup_context": staticmethod(setup_context or (lambda *_: None))}).apply


def call(name, *arguments):
    """The operator. Through the dispatcher a small call takes twice as long, so it goes there only
    where it must: traced, or of a tensor of a subclass, or of one that has no memory as it is."""
    if is_compiling():
        return dispatch(name, arguments)
    if not CAN_ASK:
        return call_for_all(name, arguments)
    way = way_of(arguments)
    if way == TRANSFORMS or forward_derivatives._current_level >= 0:
        return TRANSFORMED[name](*arguments)
    if way == DISPATCHES or way == RECORDS and name not in FUNCTIONS:
        return dispatch(name, arguments)
    try:
        return (FUNCTIONS if way == RECORDS else IMPLEMENTATIONS)[name](*arguments)
    except (RuntimeError, ValueError):
        if not any(map(is_unreadable, arguments)):
            raise
    return dispatch(name, arguments)


def is_unreadable(value):
    """A tensor without memory, of which shapes alone are asked, or one that is negated as it is
    read."""
    return isinstance(value, torch.Tensor) and (value.is_meta or value.is_neg())


def call_for_all(name, arguments):
    """The operator, whatever looks on, by what is public alone; takes longer."""
    if any(map(torch.is_autocast_enabled, ("cpu", "cuda"))):
        return dispatch(name, arguments)
    return TRANSFORMED[name](*arguments)


def dispatch(name, arguments):
    return getattr(torch.ops.halide_kernels, name)(*arguments)


def refuse_second_gradients():
    """Operators without a gradient so far are gradients themselves: to ask for theirs is an error,
    not a wrong result."""

    def refuse(name):
        def backward(ctx, *grads):
            raise RuntimeError(f"halide_kernels::{name} has no gradient: these operators can be "
                               "differentiated once")

        return backward

    for name in IMPLEMENTATIONS.keys() - TRANSFORMED.keys():
        gradient(name, refuse(name))
