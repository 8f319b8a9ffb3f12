"""What the verbs are called with: each wrong argument is one error that says what to do."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import neardup_solr as nd
from neardup_solr.argument_types import OneOrMore
from neardup_solr.arguments import checked
from neardup_solr.checks import QUERIES, describe, listed
from neardup_solr.errors import SettingsError
from neardup_solr.settings_by_name import settings_of
from neardup_solr.solr.access import Connection
from neardup_solr.solr.collection import open_collection
from neardup_solr.sources import read_pairs
from neardup_solr.units import in_bytes, in_seconds
from tests.refusals import refusal

ADDRESS = "http://127.0.0.1:1/solr"
NOWHERE = open_collection(ADDRESS, "x")  # no Solr answers there
DOCUMENTS = [nd.Document(id="1", text="one two three"), nd.Document(id="2", text="one two")]
SIGNATURE = nd.signature.decode("AAAAAA==")
# What each verb can be called with; all others check their arguments on their own.
RIGHT: dict[str, dict[str, Any]] = {
    "annotate": {"collection": NOWHERE},
    "answer": {"source": DOCUMENTS, "one": "1", "other": "2", "answer": "same", "answers": "a"},
    "connect": {"address": ADDRESS},
    "dead_letters": {"collection": NOWHERE},
    "delete": {"collection": NOWHERE, "ids": ["1"]},
    "doctor": {"collection": NOWHERE},
    "duplicates": {"source": DOCUMENTS},
    "explain": {"source": DOCUMENTS, "one": "1", "other": "2"},
    "gate": {"source": DOCUMENTS, "collection": NOWHERE},
    "index": {"source": DOCUMENTS, "collection": NOWHERE},
    "init": {"collection": NOWHERE},
    "lint": {"collection": NOWHERE},
    "mark": {"collection": NOWHERE, "clusters": []},
    "passages": {"source": DOCUMENTS},
    "read": {"source": DOCUMENTS},
    "reband": {"collection": NOWHERE, "bands": 42, "rows": 3},
    "report": {"collection": NOWHERE},
    "retry": {"collection": NOWHERE},
    "review": {"source": DOCUMENTS[:1], "answers": "a"},  # which has no pair to ask about
    "search": {"collection": NOWHERE, "text": "one two"},
    "serve": {"collection": NOWHERE},
    "signatures": {"source": DOCUMENTS, "output": "s.parquet"},
    "strip": {"collection": NOWHERE},
    "tune": {"source": DOCUMENTS, "sample": 2},
    "Answers.add": {"pairs": "pairs.csv"},
}
ON_THEIR_OWN = {"evaluate"}
# Values, and the kinds of arguments that they may be.
VALUES: list[tuple[object, set[str]]] = [
    (None, {"None"}), (True, {"bool"}), (5, {"int", "float"}), (np.int64(5), {"int", "float"}),
    (1.5, {"float"}), (np.float32(0.5), {"float"}), (math.nan, set()), (math.inf, set()),
    (-math.inf, set()), (10**400, set()), (2**63 - 1, {"int", "float"}), (2**63, set()),
    (-(2**63), set()), ("many", {"str", "Path"}), ("5", {"str", "Path"}), ("", {"str"}),
    (ADDRESS, {"str"}),
    ("\ud800", {"Path"}), ("a\0", {"str"}), (b"x", set()), (object(), set()),
    (object, {"function"}), ([], {"str...", "choice...", "tuple...", "Cluster..."}),
    (["one"], {"str..."}), (("one", "two"), {"str..."}), ([5], {"int..."}), (["one", None], set()),
    (["\ud800"], {"Path..."}), ([("1", "2")], {"tuple..."}), ([("1",)], set()),
    ([["1", "2"]], set()), ({5: "five"}, set()), ({"a": 5}, {"any mapping"}),
    ({"a": "b"}, {"mapping", "any mapping"}),
    (print, {"function"}), (Path("x"), {"Path"}), (NOWHERE, {"Collection"}),
    ((each for each in "ab"), set()), (np.array([1, 2]), {"int..."}), (nd.Settings(), {"Settings"}),
]  # fmt: skip
# Values of the right type that hardly anybody means.
STRANGE = [
    0, -1, 1, 2**31, 10**30, 0.0, -0.5, 1e-300, 1e300, math.inf, -math.inf, 10**400, "", " ", "\0",
    "a\nb", "x" * 10_000, "é\u0301 {!x}", "4G", "-4G", [], [""], ["\0", "a,b", "a"], {}, {"a": 5},
    {"": ""}, {"a": "b\nc"}, {"hashes": "5"}, {"hashes": 10**30}, {"kind": []}, {"fields": 5},
    {"fields": None}, {"fields": [5]}, {"fields": "-"}, {"language": 5},
    {"kind": "stems", "language": 5}, {"kind": "stems", "language": "elvish"},
    {"profile_quant_rate": "x"}, {"profile_quant_rate": math.nan}, {"profile_min_token_len": None},
    {"normalization": "1"}, {"seed": True}, [("1", "1")], [("", "\0")], True, None, Path(),
    Path("nowhere", "x"), NOWHERE,
]  # fmt: skip


def verbs() -> dict[str, Callable[..., Any]]:
    """The public functions whose arguments are checked by their annotations."""
    named = {name: getattr(nd, name) for name in nd.__all__}
    named["Answers.add"] = nd.Answers("answers.jsonl").add
    return {name: verb for name, verb in named.items() if hasattr(verb, "__wrapped__")}


def kinds(hint: Any) -> set[str]:
    """What an annotation allows, in words of the table above."""
    origin = get_origin(hint) or hint
    if origin in (Union, UnionType):
        found = set().union(*map(kinds, get_args(hint)))
        return found - {"str"} if "Path" in found else found  # a text is the name of a file then
    if origin is Literal:
        return {"choice"}
    name = "None" if origin is NoneType else origin.__name__
    if name == "Sequence":
        inner = get_args(hint)[0]
        is_union = get_origin(inner) in (Union, UnionType)
        alternatives = get_args(inner) if is_union else (inner,)
        return {f"{one}..." for each in alternatives for one in kinds(each)}
    if name == "Mapping":
        return {"any mapping" if Any in get_args(hint) else "mapping"}
    return {{"Callable": "function"}.get(name, name)}


def types_of(verb: Callable[..., Any]) -> dict[str, Any]:
    """The types of a verb's arguments: those of `nd` and of `nd.types` are loaded for them."""
    names = {name: getattr(nd.types, name) for name in nd.types.__all__}
    names |= {name: getattr(nd, name) for name in nd.__all__}
    return get_type_hints(inspect.unwrap(verb), localns=names | {"Connection": Connection})


def arguments(verb: Callable[..., Any]) -> Iterator[tuple[str, set[str]]]:
    """The names of a verb's arguments, and what each may be."""
    hints = types_of(verb)
    return ((name, kinds(hints[name])) for name in inspect.signature(verb).parameters)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a path names is within a folder of the test, and no Solr is started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARDUP_SOLR_URL", ADDRESS)


def test_every_verb_is_checked() -> None:
    """There is no public function that the tests below forget."""
    functions = {name for name in nd.__all__ if inspect.isfunction(getattr(nd, name))}
    assert functions | {"Answers.add"} == RIGHT.keys() | ON_THEIR_OWN
    assert verbs().keys() == RIGHT.keys()


@pytest.mark.parametrize("name", RIGHT)
def test_a_value_of_a_wrong_kind(name: str) -> None:
    """It is named with what it has to be and what to do, in a line, before any work."""
    verb, tried = verbs()[name], 0
    for argument, allowed in arguments(verb):
        for value, of in VALUES:
            if "Any" in allowed or of & allowed:
                continue
            with pytest.raises(nd.ArgumentError) as refused:
                verb(**RIGHT[name] | {argument: value})
            line = str(refused.value)
            about = f"^`{argument}` (must be .+, not .+|cannot be '.*'); [^;]+$"
            assert re.search(about, line) or "\n" in line, (argument, value, line)
            assert len(line) < 250, line
            assert "give another" not in line, line
            tried += 1
    assert tried > 25


@pytest.mark.parametrize("name", RIGHT)
def test_no_query_is_blank(name: str) -> None:
    """Solr would take it for all documents, to be deleted, stripped or marked."""
    for argument in QUERIES & {argument for argument, _ in arguments(verbs()[name])}:
        for blank in ("", " ", "\t\n"):
            with pytest.raises(nd.ArgumentError):
                verbs()[name](**RIGHT[name] | {argument: blank})


@pytest.mark.parametrize("path", ["", ADDRESS])
def test_no_result_is_written_without_a_file(path: str) -> None:
    """An empty name would be that of the current folder."""
    found = nd.duplicates(DOCUMENTS)
    judged = nd.evaluate([("1", "2")], found)
    writers: list[Callable[..., object]] = [
        nd.Answers("a").write,
        found.write,
        found.write_unique,
        judged.write,
    ]
    for write in writers:
        with pytest.raises(nd.ArgumentError):
            write(path)
    with pytest.raises(nd.ArgumentError):
        found.write_unique("kept.csv", removed=path)
    with pytest.raises(nd.ArgumentError):
        found.write_unique("kept.csv", rejected=path)
    for known, result in (([("1", "2")], path), (path, found)):
        with pytest.raises(nd.NeardupError):
            nd.evaluate(known, result)


@pytest.mark.parametrize("name", RIGHT)
def test_a_value_of_the_right_kind_is_taken(name: str) -> None:
    """What the annotations allow is never refused for what it is."""
    verb = verbs()[name]
    taken = checked(_with_the_signature_of(verb))
    for argument, allowed in arguments(verb):
        for value, of in VALUES:
            if argument in QUERIES and isinstance(value, str) and not value:
                continue
            if "Any" in allowed or of & allowed:
                assert taken(**RIGHT[name] | {argument: value}) == "taken"


def _with_the_signature_of(verb: Callable[..., Any]) -> Callable[..., str]:
    """A function of the same annotations that does nothing."""

    def taken(*args: object, **kwargs: object) -> str:
        return "taken"

    taken.__name__, taken.__annotations__ = verb.__name__, types_of(verb)
    taken.__signature__ = inspect.signature(verb)  # type: ignore[attr-defined]  # for `inspect`
    return taken


@pytest.mark.parametrize("name", RIGHT)
def test_strange_values_give_errors_of_ours(name: str) -> None:
    """No TypeError, KeyError or the like, whatever an argument is."""
    verb = verbs()[name]
    for argument, _ in arguments(verb):
        for value in STRANGE:
            with suppress(nd.NeardupError):
                made = verb(**RIGHT[name] | {argument: value})
                if isinstance(made, Iterator):
                    list(made)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_no_argument_at_all(name: str) -> None:
    """A misspelt argument, one too many and one too few are told."""
    verb = verbs()[name]
    for argument, _ in arguments(verb):
        with pytest.raises(nd.ArgumentError) as refused:
            verb(**RIGHT[name] | {f"{argument}_": 1})
        assert str(refused.value) == (
            f"nd.{name}() has no argument `{argument}_`; did you mean `{argument}`?"
        )
    with pytest.raises(nd.ArgumentError) as refused:
        verb(**RIGHT[name], zzz=1)
    assert str(refused.value) == f"nd.{name}() has no argument `zzz`; see help(nd.{name})"
    with pytest.raises(nd.ArgumentError, match=rf"^nd\.{name}\(\): too many positional .*; "):
        verb(*[None] * 50)
    needed = [p.name for p in inspect.signature(verb).parameters.values() if p.default is p.empty]
    for argument in needed:
        given = {key: value for key, value in RIGHT[name].items() if key != argument}
        with pytest.raises(nd.ArgumentError, match=f": missing a required .*`{argument}`; .+"):
            verb(**given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda nd: nd.search("ads", text="x"),
         "`collection` must be a Collection, not the string 'ads'; give one such as "
         'collection=nd.connect("http://host:8983/solr", "NAME")'),
        (lambda nd: nd.index(NOWHERE, "ads.jsonl"),
         "`collection` must be a Collection, not the string 'ads.jsonl'; give one such as "
         'collection=nd.connect("http://host:8983/solr", "NAME")'),
        (lambda nd: nd.gate(NOWHERE, []),
         '`collection` must be a Collection, not a list; give one such as '
         'collection=nd.connect("http://host:8983/solr", "NAME")'),
        (lambda nd: nd.search(NOWHERE, text="x", candidates="5"),
         "`candidates` must be a whole number, not the string '5'; give one such as candidates=5"),
        (lambda nd: nd.search(NOWHERE, text="x", candidates="all"),
         "`candidates` must be a whole number, not the string 'all'; give one such as "
         'candidates=5'),
        (lambda nd: nd.search(NOWHERE, text="x", candidates=2.7),
         '`candidates` must be a whole number, not 2.7; give one such as candidates=5'),
        (lambda nd: nd.reband(NOWHERE, bands=5, row=3),
         "nd.reband() has no argument `row`; did you mean `rows`?"),
        (lambda nd: nd.duplicates([], threshold=0.5),
         "nd.duplicates() has no argument `threshold`; did you mean `min_similarity`?"),
        (lambda nd: nd.duplicates([], num_perm=64),
         "nd.duplicates() has no argument `num_perm`; did you mean `settings={'hashes': ...}`?"),
        (lambda nd: nd.duplicates([], field="x"),
         "nd.duplicates() has no argument `field`; did you mean `fields` or `text`?"),
        (lambda nd: nd.duplicates([], answers_file="x"),
         "nd.duplicates() has no argument `answers_file`; did you mean `answers`?"),
        (lambda nd: nd.duplicates([], modelfile="x"),
         "nd.duplicates() has no argument `modelfile`; did you mean `model`?"),
        (lambda nd: nd.duplicates([], treshold=0.5),
         "nd.duplicates() has no argument `treshold`; did you mean `min_similarity`?"),
        (lambda nd: nd.Source("ads.csv", ids="x"),
         "nd.Source() has no argument `ids`; did you mean `id`?"),
        (lambda nd: nd.Source("ads.csv", seperator=";"),
         "nd.Source() has no argument `seperator`; did you mean `delimiter`?"),
        (lambda nd: nd.Settings(hash=64),
         "nd.Settings() has no argument `hash`; did you mean `hashes` or `family`?"),
        (lambda nd: nd.duplicates("ads.csv", sep=";"),
         "nd.duplicates() has no argument `sep`; did you mean"
         " `nd.Source(PATH, delimiter=...)`?"),
        (lambda nd: nd.duplicates("ads.csv", lsh=True),
         "nd.duplicates() has no argument `lsh`; did you mean `by='bands'`?"),
        (lambda nd: nd.duplicates("ads.csv", output_file="a"),
         "nd.duplicates() has no argument `output_file`; use the result: found.write(path)"),
        (lambda nd: nd.search(NOWHERE, text="x", url="a"),
         "nd.search() has no argument `url`; use nd.connect(ADDRESS, NAME)"),
        (lambda nd: nd.index([], NOWHERE, n_jobs=2),
         "nd.index() has no argument `n_jobs`; did you mean `threads`?"),
        (lambda nd: nd.index([], NOWHERE, quiet=True),
         "nd.index() has no argument `quiet`; see help(nd.index)"),
        (lambda nd: nd.duplicates([], measure="Levenshtein"),
         "`measure` cannot be 'Levenshtein'; did you mean 'words'? Choose one of auto, words,"
         " jaccard, containment, passages, aligned, records, estimate, fields, model"),
        (lambda nd: nd.search(NOWHERE, text="x", min_similarity="0.8"),
         "`min_similarity` must be a number, not the string '0.8'; give one such as "
         'min_similarity=0.5'),
        (lambda nd: nd.search(NOWHERE, text="x", min_similarity=80),
         "`min_similarity` cannot be 80; for 80 % give 0.8"),
        (lambda nd: nd.duplicates([], min_similarity=1.5),
         '`min_similarity` cannot be 1.5; give 0 to 1'),
        (lambda nd: nd.duplicates([], texts=-1),
         "`texts` cannot be -1; give 0 or more, or True"),
        (lambda nd: nd.duplicates([], by="all", cap=9),
         "`cap` cannot be used with `by` all, which compares every pair; omit it"),
        (lambda nd: nd.search(NOWHERE, id=5.5),
         '`id` must be a string or a whole number, not 5.5; give one such as id="12"'),
        (lambda nd: nd.search(NOWHERE, text="\ud800"),
         "`text` must be a string, not the string '\\ud800', which is not valid Unicode; give one "
         'such as text="12"'),
        (lambda nd: nd.search(NOWHERE, text="x", same=["city"]),
         "`same` names fields that a text does not have: city; name first_word or"
         " md5_hash, or use `fq`"),
        (lambda nd: nd.search(NOWHERE, text="x", by="band"),
         "`by` cannot be 'band'; did you mean 'bands'? Choose one of shingles, bands, signatures,"
         " profile, md5"),
        (lambda nd: nd.duplicates([], within=True),
         "nd.duplicates() has no argument `within`; run it again on each side alone"),
        (lambda nd: nd.search(NOWHERE, text="x", fq=[5]),
         '`fq` must be a string or a list of strings, not a list with 5; give one such as fq="12"'),
        (lambda nd: nd.duplicates([], output="pairs.tsv"),
         "nd.duplicates() has no argument `output`; use the result: found.write(path)"),
        (lambda nd: nd.delete(NOWHERE, "abc"),
         '`ids` must be a list of strings, not the string \'abc\'; give one such as ids=["12"]'),
        (lambda nd: nd.delete(NOWHERE, 7),
         '`ids` must be a list of strings, not 7; give one such as ids=["12"]'),
        (lambda nd: nd.mark(NOWHERE, [1]),
         '`clusters` must be the result of nd.duplicates or a list of Clusters, not a list with '
         '1; give one such as clusters=nd.duplicates(...)'),
        (lambda nd: nd.duplicates([], settings=5),
         '`settings` must be nd.Settings or a mapping, not 5; give one such as '
         'settings=nd.Settings(hashes=256)'),
        (lambda nd: nd.duplicates(NOWHERE, settings={"hashes": 256}),
         "a collection has its own settings, so `settings` cannot be set; omit `settings`"),
        (lambda nd: nd.index([], NOWHERE, patience="soon"),
         "`patience` soon is not a valid time; give one such as 90s or 5m"),
        (lambda nd: nd.connect(ADDRESS, patience=-1), "`patience` cannot be -1; give 0 or more"),
        (lambda nd: nd.duplicates([], settings={"hash": 5}),
         "`settings` cannot be 'hash'; did you mean 'hashes'? Choose one of kind,"
         " shingle_size, language, family, hashes, seed, bands, rows, signatures, fields,"
         " profile_min_token_len, profile_quant_rate, normalization, measure"),
        (lambda nd: nd.Source([], lossy="yes"),
         "`lossy` must be True or False, not the string 'yes'; give one such as lossy=True"),
        (lambda nd: nd.duplicates([], on_error=5),
         '`on_error` must be a function, not 5; give one such as on_error=print'),
        (lambda nd: nd.tune([], known=[("1",)]),
         '`known` must be a list of pairs of ids or a string or a path or a DataFrame, not a list'
         ' with a tuple; give one such as known=[("1", "2")]'),
    ],
)  # fmt: skip
def test_messages(call: Callable[[Any], object], said: str) -> None:
    """Each says what was given, and what to give instead, as a person would."""
    with pytest.raises(nd.ArgumentError) as refused:
        call(nd)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("title,body", ("title", "body")),
        (" title , body,", ("title", "body")),
        ('"title,body",city', ("title,body", "city")),
        (["title,body"], ["title,body"]),
        ("title", "title"),
    ],
)
def test_a_text_of_names_is_split_as_in_an_option(text: Any, names: Any) -> None:
    """But not a text to search for, and not the names in a list, which may have a comma."""

    @checked
    def verb(*, fields: OneOrMore | Mapping[str, str] | None, fq: OneOrMore, text: str) -> Any:
        return fields, fq, text

    assert verb(fields=text, fq="a,b", text="a,b") == (names, "a,b", "a,b")


def test_columns_are_named_in_one_text(tmp_path: Path) -> None:
    """A column with a comma in its name is named in a list."""
    path = tmp_path / "a.csv"
    path.write_text('id,a,b,"a,b"\n1,one two,three,x y\n2,one two,three,w z\n')
    assert len(nd.duplicates(path, text="a,b").pairs) == 1
    assert len(nd.duplicates(nd.Source(path, text="a,b")).pairs) == 1
    with pytest.raises(nd.ArgumentError):
        nd.Source(path, text='a,"b')
    assert len(nd.duplicates(path, fields="a,b:exact").pairs) == 1
    assert nd.duplicates(path, text=["a,b"]).pairs == ()
    with refusal(nd.ArgumentError, "argument-invalid", "CSV"):
        nd.duplicates(path, text='"a,b')


@pytest.mark.parametrize(
    ("name", "meant"),
    [("dedupe", "duplicates"), ("duplicatse", "duplicates"), ("query", "search"), ("whale", "")],
)
def test_a_function_of_another_name(name: str, meant: str) -> None:
    """The error of the module names ours, if any is near."""
    step = f"; did you mean '{meant}'?" if meant else ""
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'{re.escape(step)}$"):
        getattr(nd, name)


@pytest.mark.parametrize("error", [nd.SettingsError, ValueError, TypeError])
def test_who_catches_it(error: type[Exception]) -> None:
    """A program may catch it by a name that it knows already."""
    with pytest.raises(error):
        nd.tune([], hashes="x")


@pytest.mark.parametrize(
    "call",
    [
        lambda value: nd.signature.decode(value),
        lambda value: nd.signature.estimate_jaccard(value, value),
        lambda value: nd.signature.estimate_jaccard(SIGNATURE, SIGNATURE, level=value),
        lambda value: nd.evaluate(value, [("1", "2")]),
        lambda value: nd.evaluate([("1", "2")], value),
        lambda value: read_pairs(value),
    ],
    ids=["decode", "jaccard", "level", "known", "found", "read_pairs"],
)
def test_functions_that_check_on_their_own(call: Callable[[Any], object]) -> None:
    """Their errors are ours as well."""
    for value in [*STRANGE, *(value for value, _ in VALUES)]:
        with suppress(nd.NeardupError):
            call(value)


@pytest.mark.parametrize("name", [field.name for field in fields(nd.Settings)])
def test_settings_check_on_their_own(name: str) -> None:
    """What can be comes back from the fingerprint, for all else the error is ours."""
    for value in [*STRANGE, *(value for value, _ in VALUES)]:
        for make in (lambda given: nd.Settings(**given), settings_of):
            with suppress(nd.NeardupError):
                made = make({name: value})
                assert nd.Settings.parse(made.fingerprint).fingerprint == made.fingerprint


def test_what_values_are() -> None:
    """In the words of messages."""
    given: list[Any] = [None, True, 5, 0.5, "a", b"a", [], object(), np.int8(3), Path("x")]
    assert [describe(value) for value in given] == [
        "None", "True", "5", "0.5", "the string 'a'", "a bytes", "a list", "an object",
        repr(np.int8(3)), "a pathlib.PosixPath",
    ]  # fmt: skip


def test_one_or_more() -> None:
    """A text is not taken for its letters."""
    assert listed("ab") == ("ab",)
    assert listed(["a", "b"]) == listed(("a", "b")) == ("a", "b")
    assert listed(()) == ()


FIRST = """
import sys
import neardup_solr
from tests.refusals import refusal
for name in neardup_solr.__all__:
    getattr(neardup_solr, name)
    for module in [each for each in sys.modules if each.startswith("neardup_solr.")]:
        if not module.startswith("neardup_solr.kernel"):
            del sys.modules[module]
print("all")
"""


def test_every_name_can_be_the_first() -> None:
    """Modules that know each other are imported in any order."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("all\n", "")


@pytest.mark.parametrize(
    ("size", "expected"),
    [("0", 0), ("1000", 1000), ("1000b", 1000), ("2k", 2048), (" 1.5M ", 3 << 19),
     ("4G", 4 << 30), ("4gb", 4 << 30), ("1e3", 1000)],
)  # fmt: skip
def test_in_bytes(size: str, expected: int) -> None:
    """Units are powers of 1024, in any case, with or without a b."""
    assert in_bytes(size) == expected


@pytest.mark.parametrize("size", ["", "b", "g", "3x", "1 2", "inf", "nan", "2gg", "2tb"])
def test_what_is_no_size(size: str) -> None:
    """The line quotes it and shows a good one."""
    refused = "is not a valid size; give one such as 512M or 4G"
    with pytest.raises(SettingsError, match=refused) as error:
        in_bytes(size)
    assert str(error.value).startswith(size)


@pytest.mark.parametrize(("given", "seconds"), [("5m", 300), ("90s", 90), ("0", 0), (2.5, 2.5)])
def test_times_are_texts_or_numbers(given: float | str, seconds: float) -> None:
    """`patience` is the same in the command and in Python."""
    assert in_seconds(given, "patience") == seconds
