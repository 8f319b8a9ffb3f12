"""The compiled kernel: functions that numba compiles once, kept, and called without it later.

Importing numba and letting it find what it compiled before takes longer than most commands
run. So the machine code of an entry point is kept by itself (`store`), as an object file for each
combination of argument types; the linker of LLVM loads it, and ctypes calls it, which releases
the GIL. numba is imported only if something has to be compiled.

A wheel brings this code for most processors of 64-bit Linux (`store.LEVEL`). Elsewhere the first
call has another process compile all entry points (`build`), in parallel.

This needs to know how numba passes arguments and where its arrays keep their data, so it is done
for the releases and the system that it was tried with (`store.is_tried`). With others numba calls
what it compiles by itself: as right, and as fast once it is loaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from neardup_solr.kernel.store import Code, Store, compile_all, is_tried, open_store
from neardup_solr.progress import LOG, run_aside

# What numba's arrays need of its runtime: memory with a header, counted once, data in field 3.
_MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %wide = zext i32 %alignment to i64
  %more = add i64 %wide, 64
  %room = add i64 %size, %more
  %header = call ptr @malloc(i64 %room)
  %failed = icmp eq ptr %header, null
  br i1 %failed, label %end, label %fill
fill:
  %address = ptrtoint ptr %header to i64
  %past = add i64 %address, %more
  %over = urem i64 %past, %wide
  %start = sub i64 %past, %over
  %data = inttoptr i64 %start to ptr
  %field = getelementptr i64, ptr %header, i64 3
  store i64 1, ptr %header
  store ptr %data, ptr %field
  br label %end
end:
  ret ptr %header
}
define void @NRT_MemInfo_call_dtor(ptr %header) {
  call void @free(ptr %header)
  ret void
}
"""
MEMORY = "memory", _MEMORY  # its name and what it is made of in the store
_LINKED = {"NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor", "memset", "memcpy", "memmove"}
_LOCK = RLock()
LARGE = 1 << 22  # values in the arrays of a call, which then runs beside the signal handlers
_ARRAY = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_void_p)
_NAMES = {char: np.dtype(char).name for char in "?bBhHiIlLqQfd"}  # quicker than `dtype.name`
_SCALARS = {bool: "bool", int: "int64", float: "float64"}
_CTYPES: dict[str, Any] = {
    "bool": ctypes.c_uint8, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64, "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
}  # fmt: skip

_T = TypeVar("_T")
Kind = Any  # of an argument: the name of a scalar, (name, dimensions, layout), or of a NamedTuple
_HELD: dict[int, tuple[Any, list[Any], Kind]] = {}  # NamedTuples, flattened, by id


class Inner:
    """A function that compiled functions call. By itself it is called only to be looked at."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba has it."""
        from numba import njit

        return njit(nogil=True)(self.function)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba sees where another function names this."""
        from numba import types

        return types.Dispatcher(self.dispatcher)

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


class Compiled:
    """An entry point: called from Python with arrays, numbers, and NamedTuples of them.

    Arrays are filled in place, results are numbers. `kinds` are those of the arguments that are
    compiled ahead; other types are compiled for when they are met, which takes seconds.
    """

    def __init__(self, function: Callable[..., Any], kinds: tuple[Kind, ...] = ()) -> None:
        self.function = function
        self.kinds = kinds
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._loaded: dict[tuple[Kind, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        if _runs_alone():
            call = self._bind(arguments)
        else:
            call = partial(_call_jit, self.function, (), arguments)
        size = sum(getattr(value, "size", 1) for value in arguments)
        return run_aside(call) if size > LARGE else call()

    def _bind(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """Bind the machine code, which is compiled if need be, to these arguments."""
        kinds: list[Kind] = []
        values: list[Any] = []
        for argument in arguments:
            kinds.append(_flatten(argument, values))
        key = tuple(kinds)
        call = self._loaded.get(key) or self._load_stored(key)
        return partial(call or run_aside(partial(self._load, key)), values, arguments)

    def is_stored(self) -> bool:
        """Return True if its machine code need not be compiled before a first call."""
        if _runs_alone():
            return bool(self._loaded) or open_store().read(self.name, repr(self.kinds)) is not None
        return open_store().has_cached(self.function.__name__)

    def _load_stored(self, kinds: tuple[Kind, ...]) -> Callable[..., Any] | None:
        """Load the code if it is stored, which takes less time than a new thread."""
        with _LOCK:
            if kinds not in self._loaded and (code := open_store().read(self.name, repr(kinds))):
                self._loaded[kinds] = _link(self.name, code, kinds)
            return self._loaded.get(kinds)

    def _load(self, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
        with _LOCK:
            if kinds not in self._loaded:
                self._loaded[kinds] = self._link(kinds)
            return self._loaded[kinds]

    def _link(self, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
        code = open_store().read(self.name, repr(kinds))
        if code is None:
            _log_compiling()
            if not is_tried():
                return partial(_call_jit, self.function)
            if kinds == self.kinds:
                compile_all(self.name.partition(".")[0])
                code = open_store().read(self.name, repr(kinds))
        return _link(self.name, code or self.compile(kinds, open_store()), kinds)

    def compile(self, kinds: tuple[Kind, ...], store: Store) -> Code:
        """Compile for arguments of these kinds, and keep the code."""
        code = _compile(self.function, kinds)
        store.write(self.name, repr(kinds), code)
        return code


inner = Inner  # as a decorator


def compiled(*kinds: str | tuple[type, str]) -> Callable[[Callable[..., Any]], Compiled]:
    """Make entry points of functions, for arguments of these kinds: see `_parse`."""
    return lambda function: Compiled(function, tuple(_parse(kinds)))


def _parse(kinds: Sequence[str | tuple[type, str]]) -> Iterator[Kind]:
    """Yield the kinds that are written as "bool uint8[] uint32[,]", or (NamedTuple, "...")."""
    for each in kinds:
        if isinstance(each, tuple):
            yield each[0], tuple(_parse(each[1:]))
            continue
        for word in each.split():
            name, _, dimensions = word.partition("[")
            yield (name, len(dimensions), "C") if dimensions else name


def _runs_alone() -> bool:
    """Return True if machine code is called by us, and not by numba."""
    return is_tried() or open_store().carried is not None


def _call_jit(function: Callable[..., Any], _: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """Have numba call a function. It flattens the arguments by itself."""
    return _jit(function)(*arguments)


def hold(value: _T) -> _T:
    """Flatten a NamedTuple once and for all, as it is an argument of many calls."""
    values: list[Any] = []
    _HELD[id(value)] = value, values, _flatten(value, values)
    return value


def _flatten(value: Any, values: list[Any]) -> Kind:
    """Append what a compiled function gets for an argument, and return the argument's kind."""
    if isinstance(value, np.ndarray):
        address = value.__array_interface__["data"][0]
        values += (None, None, value.size, value.itemsize, address, *value.shape, *value.strides)
        flags = value.flags
        if not value.dtype.isnative:
            raise TypeError(f"{value.dtype} does not have this machine's byte order")
        layout = "C" if flags.c_contiguous else "A"
        return _NAMES[value.dtype.char], value.ndim, layout if flags.aligned else f"{layout}-"
    if isinstance(value, tuple):
        if held := _HELD.get(id(value)):
            values += held[1]
            return held[2]
        members = tuple([_flatten(member, values) for member in value])
        return type(value), members
    if isinstance(value, np.generic):
        values.append(value.item())
        return value.dtype.name
    values.append(value)
    return _SCALARS[type(value)]


def _arguments(kind: Kind) -> Iterator[Any]:
    """Yield the ctypes of what an argument of a kind is flattened to."""
    if isinstance(kind, str):
        yield _CTYPES[kind]
    elif len(kind) == 3:
        yield from _ARRAY
        yield from 2 * kind[1] * (ctypes.c_ssize_t,)
    else:
        for member in kind[1]:
            yield from _arguments(member)


def _link(name: str, code: Code, kinds: Sequence[Kind]) -> Callable[[Sequence[Any]], Any]:
    """Make a function that takes flattened arguments and runs the code."""
    from llvmlite import binding

    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code.machine))
    engine.finalize_object()
    address = engine.get_function_address(code.symbol)
    arguments = [type for kind in kinds for type in _arguments(kind)]
    pointers = (ctypes.c_void_p, ctypes.c_void_p)
    native = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, *arguments)(address)
    fields = [(f"at{at}", _CTYPES[type]) for at, type in enumerate(code.returns)]
    result = type("Result", (ctypes.Structure,), {"_fields_": fields})
    return partial(_call, name, native, result)


def _call(
    name: str, native: Any, result: Any, values: Sequence[Any], arguments: Sequence[Any]
) -> Any:
    """Call machine code. The values have addresses in the arguments, which so stay alive."""
    returned, raised = result(), ctypes.c_void_p()
    if native(ctypes.addressof(returned), ctypes.addressof(raised), *values):
        raise MemoryError(f"out of memory in {name}; process fewer texts at a time")
    numbers = tuple([getattr(returned, field) for field, _ in result._fields_])
    return numbers[0] if len(numbers) == 1 else numbers or None


@cache
def _engine() -> Any:
    from llvmlite import binding

    machine = _target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    memory = open_store().read(*MEMORY) or compile_memory(open_store())
    engine.add_object_file(binding.ObjectFileRef.from_data(memory.machine))
    return engine


def compile_memory(store: Store) -> Code:
    """Compile what numba's arrays need, and keep the code: compiling takes longer than linking."""
    from llvmlite import binding

    machine = _target_machine().emit_object(binding.parse_assembly(_MEMORY))
    code = Code(symbol="NRT_MemInfo_alloc_aligned", returns=(), machine=machine)
    store.write(*MEMORY, code)
    return code


@cache
def _target_machine() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(jit=True)


@cache
def _jit(function: Callable[..., Any]) -> Any:
    """Have numba compile a function, keep it in our folder, and call it by itself."""
    import numba

    config: Any = numba.config
    folder = open_store().folder
    if not open_store().has_cached(function.__name__):
        _log_compiling()
    with _LOCK:
        usual, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            return numba.njit(nogil=True, cache=folder is not None)(function)
        finally:
            config.CACHE_DIR = usual


@cache
def _log_compiling() -> None:
    """Log, once a process, why a first call takes seconds."""
    LOG.info("compiling the kernel (first use only): may take half a minute")


def _compile(function: Callable[..., Any], kinds: Sequence[Kind]) -> Code:
    """Have numba compile a function for arguments of these kinds."""
    from numba import types
    from numba.core import compiler
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    flags = compiler.Flags()
    for option in ("nrt", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper"):
        setattr(flags, option, True)
    typing, target = cpu_target.typing_context, cpu_target.target_context
    with global_compiler_lock:
        typing.refresh()
        target.refresh()
        signature = tuple(_numba_type(kind) for kind in kinds)
        result = compiler.compile_extra(typing, target, function, signature, None, flags, {})
        result.library.enable_object_caching()
        result.library.finalize()
        _require_alone(result.library._final_module)
        machine = result.library._get_compiled_object()
    returned: Any = result.signature.return_type
    members: Any = returned if isinstance(returned, types.BaseTuple) else [returned]
    returns = tuple(str(member) for member in members if member is not types.none)
    return Code(symbol=result.fndesc.llvm_func_name, returns=returns, machine=machine)


def _require_alone(module: Any) -> None:
    """Refuse code that calls functions of numba itself, such as for sorting."""
    text = str(module)
    for function in module.functions:
        name = function.name
        if function.is_declaration and not name.startswith("llvm.") and name not in _LINKED:
            # A declaration may be all that is left once the code is optimised.
            assert text.count(f"@{name}(") == 1, f"{name} does not exist without numba"


def _numba_type(kind: Kind) -> Any:
    from numba import types

    if isinstance(kind, str):
        return getattr(types, "boolean" if kind == "bool" else kind)
    if len(kind) == 3:
        name, dimensions, layout = kind
        return types.Array(_numba_type(name), dimensions, layout[0], aligned=len(layout) == 1)
    return types.NamedTuple([_numba_type(member) for member in kind[1]], kind[0])
