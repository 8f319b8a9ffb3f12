"""Whether the tests of the modules that must not fail notice if one of these is wrong.

    python benchmarks/mutation.py [MODULE ...] [--most 60] [--processes 2]

A mutant is a module with one small change: another comparison, a condition that is negated, `and`
for `or`, another number or short text, a call or a `raise` left out, None returned. The fast tests
of the module run on it, in a process forked from this one; if all pass, it has survived. At most
`--most` mutants of a module are tried, evenly chosen. Messages are not changed: what matters is
what is done, not how it is told. Results go to mutation.md and .json.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import pysolr
import pytest
from hypothesis import strategies
from lib import results

LOADED = (numba, pysolr, strategies)  # once for all mutants, but nothing of the package
TOP = Path(__file__).parents[1]
SECONDS = 300.0  # for the tests of a mutant; one that hangs has been noticed
FUZZ = "faults/test_fuzz_solr.py::test_"
TESTS = {
    "checkpoint": ["unit/test_checkpoint.py"],
    "solr.query": ["unit/solr/test_query.py"],
    "solr.export": [
        "faults/test_exports.py", f"{FUZZ}a_damaged_export", f"{FUZZ}any_documents_in_an_export",
    ],
    "solr.responses": [
        "unit/solr/test_responses.py", "unit/solr/test_faults.py", "faults/test_answers.py",
        "faults/test_halted.py",
        "faults/test_addresses.py",
        f"{FUZZ}any_json_as_an_answer", f"{FUZZ}any_page", f"{FUZZ}any_answer_to_an_update",
    ],
    "solr.update": ["unit/solr/test_update.py", "unit/solr/test_settle.py"],
    "solr.session": [
        "unit/solr/test_retry.py", "unit/solr/test_outage.py",
        "faults/test_answers.py", "faults/test_halted.py", "faults/test_addresses.py",
        "unit/solr/test_session.py",
    ],
}  # fmt: skip
SWAPS: dict[type[Any], type[Any]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A change to a module: its line, the code before and after; and whether it survived."""

    module: str
    line: int
    before: str
    after: str
    survived: bool = False


Row = tuple[str, int, int, int]


def put(name: str, value: Any) -> Callable[[Any], None]:
    """A change of one attribute of a node."""
    return lambda node: setattr(node, name, value)


def changes(node: Any) -> Iterator[Callable[[Any], None]]:
    """What can be changed about one node, in place."""
    match node:
        case ast.Compare():
            yield put("ops", [SWAPS[type(op)]() for op in node.ops])
        case ast.BoolOp() | ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            yield put("op", SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield put("operand", ast.UnaryOp(ast.Not(), node.operand))
        case ast.If() | ast.While() | ast.IfExp():
            yield put("test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(value)):
            yield put("value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield put("value", value + 1)
        case ast.Constant(value=str(value)) if value and " " not in value:
            yield put("value", f"{value}x")
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield put("value", ast.Constant(None))
        case ast.Raise(exc=ast.expr()) | ast.Expr(value=ast.Call()):
            yield put("__class__", ast.Pass)


def left_alone(tree: ast.AST) -> Iterator[ast.AST]:
    """The parts that are not changed: types, decorators, messages and documentation."""
    for node in ast.walk(tree):
        skipped: list[Any] = []
        match node:
            case ast.FunctionDef():
                skipped = [node.returns, *node.decorator_list]
            case ast.ClassDef():
                skipped = [*node.decorator_list]
            case ast.arg() | ast.AnnAssign():
                skipped = [node.annotation]
            case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Expr(value=ast.Constant()):
                skipped = [*ast.iter_child_nodes(node)]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                skipped = [node]
        for part in filter(None, skipped):
            yield from ast.walk(part)


def mutants(module: str) -> Iterator[tuple[Mutant, CodeType]]:
    """All mutants of a module, compiled."""
    path = TOP.joinpath("neardup_solr", *module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set(map(id, left_alone(tree)))
    for number, node in enumerate(ast.walk(tree)):
        for change in () if id(node) in skipped else changes(node):
            other = copy.deepcopy(tree)
            changed = next(one for at, one in enumerate(ast.walk(other)) if at == number)
            change(changed)
            code = compile(ast.fix_missing_locations(other), str(path), "exec")
            before, after = (ast.unparse(each).partition("\n")[0] for each in (node, changed))
            line = getattr(node, "lineno", 0)
            yield Mutant(module=module, line=line, before=before, after=after), code


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads other code as one module."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: object, target: object = None) -> Any:
        """What to load as that module."""
        place = self.code.co_filename
        is_it = name == self.name
        return importlib.util.spec_from_file_location(name, place, loader=self) if is_it else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the other code in it."""
        exec(self.code, vars(module))


def started(module: str, code: CodeType | None) -> int:
    """The process that runs the tests of a module with other code; it ends with 0 if they pass."""
    if pid := os.fork():
        return pid
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    if code is not None:
        sys.meta_path.insert(0, Instead(f"neardup_solr.{module}", code))
    options = ["-x", "--assert=plain", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    os._exit(int(pytest.main([*options, *(f"tests/{name}" for name in TESTS[module])])))


def tried(found: Sequence[tuple[Mutant, CodeType]], processes: int) -> Iterator[Mutant]:
    """The same mutants, with what became of them."""
    waiting, running = list(found), dict[int, tuple[Mutant, float]]()
    while waiting or running:
        while waiting and len(running) < processes:
            mutant, code = waiting.pop(0)
            running[started(mutant.module, code)] = mutant, time.monotonic() + SECONDS
        for pid, (mutant, deadline) in list(running.items()):
            if time.monotonic() > deadline:
                os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del running[pid]
                yield replace(mutant, survived=status == 0)
        time.sleep(0.02)


def main() -> None:
    """Try the mutants of some modules, or of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS))
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    os.chdir(TOP)
    sys.path.insert(0, str(TOP))
    conditions = results.conditions()
    rows: list[Row] = []
    lived: list[Mutant] = []
    for module in asked.modules or TESTS:
        if os.waitpid(started(module, None), 0)[1]:
            sys.exit(f"the tests of {module} fail without any change")
        found = list(mutants(module))
        most = min(asked.most, len(found))
        some = [found[at * len(found) // most] for at in range(most)]
        survivors = [one for one in tried(some, asked.processes) if one.survived]
        rows.append((module, len(found), most, most - len(survivors)))
        lived += survivors
        keep(conditions, rows, lived)  # after each module: all of them take a while


def keep(conditions: dict[str, Any], rows: Sequence[Row], lived: Sequence[Mutant]) -> None:
    """Write what was found so far: module, mutants, tried and killed; and what survived."""
    _, *columns = zip(*rows, strict=True)
    made, tried_of, killed = map(sum, columns)
    every = [(*row, row[3] / row[2]) for row in (*rows, ("all", made, tried_of, killed))]
    table = results.table(("module", "mutants", "tried", "killed", "share"), every)
    survived = [(one.module, one.line, f"`{one.before}`", f"`{one.after}`") for one in lived]
    listed = results.table(("module", "line", "before", "after"), survived)
    measured = {"conditions": conditions, "rows": rows, "survived": [asdict(one) for one in lived]}
    results.keep("mutation", measured, [("Killed", table), ("Survived", listed)])


if __name__ == "__main__":
    main()
