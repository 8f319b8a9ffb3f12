"""The linker of object files into memory: those of numba, for Linux on x86-64.

All relocations of numba's code are addresses of 64 bits, so linking is copying and adding. LLVM
links whatever else there is; loading it takes 30 ms and 54 MB.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

_KIND = b"\x7fELF\2\1"  # 64 bits, the low byte first
_RELOCATABLE_X86_64 = 1, 62
_HEADER = struct.Struct("<16xHH20xQ10xHHH")
_SECTION = struct.Struct("<4xIQ8xQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_ADDRESS = struct.Struct("<Q")
_CONTENT, _SYMBOLS, _RELOCATIONS, _ZEROS = 1, 2, 4, 8  # types of sections that matter
_WRITABLE, _LOADED, _BY_THREAD = 1, 2, 0x400  # flags of sections
_UNDEFINED, _RESERVED = 0, 0xFF00  # numbers of no section
_ABSOLUTE_64 = 1  # type of a relocation
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 2, 32
_C = ("malloc", "free", "memset", "memcpy", "memmove")


class _Section(NamedTuple):
    type: int
    flags: int
    offset: int
    size: int
    link: int  # for symbols: the section of their names; for relocations: that of symbols
    target: int  # for relocations: the section that they change
    alignment: int
    entry: int


def link(machine: bytes, known: Mapping[str, int]) -> dict[str, int] | None:
    """Link an object file into memory for good, and return the addresses of what it defines.

    `known` are addresses of what it may need. None if it has anything that is not expected here.
    """
    if machine[: len(_KIND)] != _KIND:
        return None
    *kind, at, size, count, _ = _HEADER.unpack_from(machine)
    if tuple(kind) != _RELOCATABLE_X86_64 or size != _SECTION.size:
        return None
    sections = [
        _Section(*_SECTION.unpack_from(machine, at + size * number)) for number in range(count)
    ]
    places, room = _place(sections)
    tables = [number for number, each in enumerate(sections) if each.type == _SYMBOLS]
    if not places or len(tables) != 1:
        return None
    base = _reserve(room)
    addresses = {number: base + place for number, place in places.items()}
    names, values = _read_symbols(machine, sections, sections[tables[0]], addresses, known)
    image = bytearray(room)
    for number, place in places.items():
        each = sections[number]
        if each.type == _CONTENT:
            image[place : place + each.size] = machine[each.offset : each.offset + each.size]
    for each in sections:
        if each.type == _RELOCATIONS and each.target in places:
            for at in range(each.offset, each.offset + each.size, _RELOCATION.size):
                offset, type, symbol, addend = _RELOCATION.unpack_from(machine, at)
                if type != _ABSOLUTE_64 or (value := values[symbol]) is None:
                    return None
                _ADDRESS.pack_into(image, places[each.target] + offset, value + addend)
    ctypes.memmove(base, bytes(image), room)
    is_denied = _library().mprotect(base, room, _READ | _EXECUTE)
    return None if is_denied else names


def _place(sections: list[_Section]) -> tuple[dict[int, int], int]:
    """Place what is loaded one behind the other; nothing if there is anything else than code."""
    places, room = dict[int, int](), 0
    for number, each in enumerate(sections):
        if each.flags & _LOADED and each.type in (_CONTENT, _ZEROS):
            if each.flags & (_WRITABLE | _BY_THREAD):
                return {}, 0
            room = -(-room // max(each.alignment, 1)) * max(each.alignment, 1)
            places[number], room = room, room + each.size
    return places, room


def _read_symbols(
    machine: bytes, sections: list[_Section], table: _Section, addresses: Mapping[int, int],
    known: Mapping[str, int],
) -> tuple[dict[str, int], list[int | None]]:  # fmt: skip
    """Read the addresses of symbols that are defined, by name, and of all, by number."""
    defined, values = dict[str, int](), list[int | None]()
    for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
        name_at, _, _, section, value, _ = _SYMBOL.unpack_from(machine, at)
        first = sections[table.link].offset + name_at
        name = machine[first : machine.index(b"\0", first)].decode()
        if section == _UNDEFINED:
            values.append(known.get(name))
        elif section >= _RESERVED or section not in addresses:
            values.append(None)
        else:
            values.append(addresses[section] + value)
            if name:
                defined[name] = addresses[section] + value
    return defined, values


@cache
def find_c() -> dict[str, int]:
    """Find the functions of C that code may need."""
    return {name: ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value or 0 for name in _C}


@cache
def _library() -> Any:
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *3 * (ctypes.c_int,), ctypes.c_long)
    library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return library


def _reserve(room: int) -> int:
    """Reserve memory of its own pages, which is never given back: threads may run what is there."""
    address: int | None = _library().mmap(None, room, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise MemoryError("out of memory for machine code")
    return address
