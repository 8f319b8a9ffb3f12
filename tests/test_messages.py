"""All messages of the package stand in one file, and each error has a code.

`python -m tests.test_messages` writes the file anew, from the source.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from neardup_solr.errors import CODES

PACKAGE = Path("neardup_solr")
GOLDEN = Path("tests/messages.txt")
# The place of the reason among the arguments, unless it is the first. The next step follows.
REASON_AT = {"SourceError": 1, "PathError": 1, "RecordError": 1, "SolrError": 1,
             "SolrUnreachable": 1, "SolrAnswerError": 2, "SchemaError": 2, "TemplateError": 1,
             "require": 1, "Failure": 1}  # fmt: skip
# What makes an error, beside its class: the class. Each needs a code.
MAKERS = {"error": "SourceError", "require": "ArgumentError", "kind": "ArgumentError",
          "Unusable": "RecordError", "Fault": "SolrAnswerError", "Failure": "HTTP"}  # fmt: skip
# What says something without an error, and under which heading.
SPEAKERS = {"warn": "(printed)", "warning": "(logged)", "info": "(logged)",
            "on_notice": "(notices)", "notify": "(notices)", "BadParameter": "(usage)",
            "UsageError": "(usage)"}  # fmt: skip
# Functions that complete a reason, with its place among their arguments.
HELPERS = {"refuse": 0, "_refuse": 0, "_unusable": 1}
DEEPEST = 3  # names of names that are followed


@dataclass
class Module:
    """A module of the package, and what stands above each of its nodes."""

    path: Path
    tree: ast.Module
    nodes: list[ast.AST] = field(default_factory=list)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    texts: dict[str, ast.expr] = field(default_factory=dict)  # by names in capitals

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            self.nodes.append(node)
            self.parents |= dict.fromkeys(ast.iter_child_nodes(node), node)
        for each in self.tree.body:
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                target = each.targets[0] if isinstance(each, ast.Assign) else each.target
                if isinstance(each.value, ast.Constant | ast.JoinedStr | ast.BinOp):
                    self.texts[ast.unparse(target)] = each.value

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield a node and all that it stands in, from the inside."""
        while node is not self.tree:
            yield node
            node = self.parents[node]

    def find_text(self, name: str) -> ast.expr | None:
        """Find the text that a name in capitals has here, or in the only other module with it."""
        if not name.strip("_").isupper():
            return None
        if name in self.texts:
            return self.texts[name]
        texts = [module.texts[name] for module in modules() if name in module.texts]
        return texts[0] if len(texts) == 1 else None


@cache
def modules() -> list[Module]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return [Module(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def calls() -> Iterator[tuple[Module, ast.Call, str]]:
    """Yield all calls of the package, and the names of what is called."""
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.Call):
                yield module, node, getattr(node.func, "id", getattr(node.func, "attr", ""))


@cache
def classes() -> dict[str, str]:
    """The code of each class of error, "" if the places that raise it give theirs."""
    kinds = [
        node for module in modules() for node in module.nodes if isinstance(node, ast.ClassDef)
    ]
    codes = {"NeardupError": ""}
    for _ in range(4):  # as deep as the tree is
        for kind in kinds:
            own = re.search(r"^    code = '(?!other')(.+)'$", ast.unparse(kind), re.MULTILINE)
            for base in {ast.unparse(base) for base in kind.bases} & codes.keys():
                codes[kind.name] = own[1] if own else codes[base]
    return codes


def find_values(module: Module, name: str, place: ast.expr) -> list[ast.expr]:
    """Find what a local name may be at a place: by the assignments before it."""
    outer = list(module.above(place))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    function = next((node for node in outer if isinstance(node, kinds)), place)
    values = []
    assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for node in sorted(assignments, key=lambda node: -node.lineno):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        else:
            pairs = [(target, value)]
        chosen = [value for each, value in pairs if ast.unparse(each) == name]
        if chosen and node.lineno <= place.lineno:
            values += chosen
            if module.parents[node] in outer:  # always passed on the way to the place
                break
    return values[::-1]


def spell(module: Module, node: ast.expr, place: ast.expr, depth: int = 0) -> str:
    """Spell the text of an expression, with {name} for what is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(spell(module, part, place, DEEPEST) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return spell(module, node.value, place, DEEPEST)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return spell(module, node.left, place, depth) + spell(module, node.right, place, depth)
    if isinstance(node, ast.IfExp) and depth < DEEPEST:
        ways = (node.body, node.orelse)
        return " | ".join(spell(module, way, place, depth + 1) for way in ways)
    if not isinstance(node, ast.Name | ast.Attribute):
        return "{…}"
    name = node.id if isinstance(node, ast.Name) else node.attr
    if text := module.find_text(name):
        return spell(module, text, place, depth)
    values = find_values(module, name, place) if depth < DEEPEST else []
    if not values or any(isinstance(value, ast.Name) for value in values):
        return f"{{{name}}}"
    return " | ".join(dict.fromkeys(spell(module, each, place, depth + 1) for each in values))


def find_code(call: ast.Call) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == "code"), None)


def list_words(code: ast.expr | None) -> set[str]:
    """List the codes that an expression may give."""
    if isinstance(code, ast.IfExp):
        return list_words(code.body) | list_words(code.orelse)
    is_word = isinstance(code, ast.Constant) and isinstance(code.value, str)
    return {ast.literal_eval(code)} if is_word and code else set()


def list_messages() -> dict[str, set[str]]:
    """List the messages of the package under their codes, or under who says them."""
    messages: dict[str, set[str]] = defaultdict(set)
    for module, call, name in calls():
        at, code = REASON_AT.get(name, 0), find_code(call)
        kind = MAKERS.get(name, name)
        if name == "__init__":
            kind = next((each.name for each in module.above(call)
                         if isinstance(each, ast.ClassDef)), "")  # fmt: skip
            at = 1 if module.path.name == "errors.py" and len(call.args) == 3 else 0
        if name in HELPERS:
            parts = call.args[HELPERS[name] :]
            if parts and isinstance(parts[0], ast.Constant | ast.JoinedStr):
                texts = [spell(module, each, call) for each in parts]
                messages["(parts of a reason)"].add("; ".join(texts))
        elif name in SPEAKERS and call.args:
            if name != "info" or ast.unparse(call.func) == "LOG.info":
                messages[SPEAKERS[name]].add(spell(module, call.args[0], call))
        elif (
            classes().get(kind)
            or name == "Fault"
            or (code and kind in {*MAKERS.values(), *classes()})
        ):
            if name == "require" and len(call.args) > 3:
                kind = "DataError"
            several = call.args[at : at + (1 if kind == "RecordError" else 2)]
            texts = [spell(module, each, call) for each in several]
            words = {classes().get(kind, "")} - {""} or list_words(code) or {"(of another error)"}
            words = {"solr-unreachable"} if name == "Fault" and code is None else words
            for word in words:
                if not {*texts} <= {"{reason}", "{next_step}", "{step}", "{…}"}:
                    messages[word].add(f"{kind}: {'; '.join(texts)}")
    return messages


def format_messages() -> str:
    sections = sorted(list_messages().items())
    return "\n\n".join("\n".join([f"[{code}]", *sorted(each)]) for code, each in sections) + "\n"


def test_messages_are_those_of_the_file() -> None:
    """Whoever changes a message sees it in the difference of tests/messages.txt."""
    kept, made = GOLDEN.read_text(encoding="utf-8"), format_messages()
    lines = list(difflib.unified_diff(kept.split("\n"), made.split("\n"), n=0, lineterm=""))
    assert not lines, "\n".join(["write them by: python -m tests.test_messages", *lines[2:]])


def test_every_error_has_a_code() -> None:
    """An error of a class with several meanings gets its code where it is made."""
    lacking = [
        f"{module.path}:{call.lineno}: {name} has no code"
        for module, call, name in calls()
        if classes().get(name) == "" and find_code(call) is None
    ]
    assert not lacking, "\n".join(lacking)


def test_codes_are_those_of_the_table() -> None:
    """Each code in the source has a sentence, and each sentence a place in the source."""
    words = {"other", *classes().values()} - {""}
    for _, call, _ in calls():
        words |= list_words(find_code(call))
    for node in (node for module in modules() for node in module.nodes):
        if isinstance(node, ast.Assign) and re.search(r"\bcode\b", ast.unparse(node.targets[0])):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            words |= set().union(*map(list_words, values)) & CODES.keys()
    assert words == CODES.keys()


if __name__ == "__main__":
    GOLDEN.write_text(format_messages(), encoding="utf-8")
