"""Operations that numba does not have, written in LLVM's instructions."""

import inspect
from collections.abc import Callable
from typing import Any

import numba.extending
from llvmlite import ir
from numba import config, types
from numba.core import cgutils

ARRAY = None  # as the type of an argument: any C-contiguous array


def intrinsic(result: Any, *arguments: Any, python: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a decorator for a function that writes an operation, given numba's types of its result and arguments.

    The function receives LLVM's builder and a value for each argument: of an array the struct of pointer and shape.
    With ``NUMBA_DISABLE_JIT=1`` the operation is the function `python`.
    """

    def decorate(write: Any) -> Any:
        def define(typingctx: Any, *given: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                values = [
                    context.make_array(kind)(context, builder, value) if argument is ARRAY else value
                    for argument, kind, value in zip(arguments, signature.args, args)
                ]
                written = write(builder, *values)
                return context.get_dummy_value() if result is types.void else written

            return result(*(argument or kind for argument, kind in zip(arguments, given))), codegen

        define.__name__, define.__doc__ = write.__name__, write.__doc__
        define.__signature__ = inspect.signature(write)  # type: ignore[attr-defined]
        return python if config.DISABLE_JIT else numba.extending.intrinsic(define)

    return decorate


def item_pointer(builder: Any, array: Any, index: Any, kind: Any = None) -> Any:
    """Address of an item of an array, as a pointer to LLVM's type `kind` if that is given."""
    pointer = builder.gep(array.data, [index])
    return pointer if kind is None else builder.bitcast(pointer, kind.as_pointer())


def call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Call an operation of LLVM."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def no_operation(*arguments: Any) -> None:
    """Do nothing."""
