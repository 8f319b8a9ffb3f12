"""What clients of the service may filter by: fields with values, and filters that have a name."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.conftest import Cores
from tests.services import Served, serving

TEXT = "Blue Door Cafe 12 Harbour Street Bristol fish and chips since 1961 number"
CITIES = ["Paris", "New York", "AND", "a:b", "/x/", "São Paulo", "a\\b", "{!x}", 'a"b', "東京"]
DOCUMENTS = [{"id": str(n), "text": f"{TEXT} {n}", "city": city, "tags": ["x", f"y{n % 3}"]}
             for n, city in enumerate(CITIES)]  # fmt: skip
SLEEP = "sleep(400000,1)"


@pytest.fixture(scope="module")
def cities(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with a document of each city."""
    core = core_pool.take()
    nd.index(DOCUMENTS, core, keep=["city", "tags"])
    yield core
    core_pool.give_back(core.name)


@pytest.fixture(scope="module")
def served(cities: nd.Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its service, with two filters that have names."""
    log = tmp_path_factory.mktemp("served") / "log"
    words = ("--filter", "capital={!terms f=city}Paris,東京", "--filter", "new=city:New*")
    with serving(cities.url, log, *words) as service:
        yield service


def find_ids(served: Served, fq: object) -> list[str]:
    """Search with a filter, and return the ids of the matches."""
    answer = served.ask("search", {"text": f"{TEXT} 1", "fq": fq})
    assert answer.status == 200, (fq, answer.body)
    return [match["id"] for match in answer.json["matches"]]


ALLOWED = [
    "city:Paris", "city : Paris", "+city:Paris", "*:* -city:Paris", "-city:Paris", "!city:Paris",
    "NOT city:Paris", "city:(Paris OR 東京)", "city:(Paris 東京)", "city:P*", "city:*", "*:*",
    "city:Paris OR (tags:y1 AND NOT city:P*)", "city:Paris || city:AN\\D", "tags:x && tags:y2",
    'city:"New York"', "city:New\\ York", 'city:"a:b"', "city:a\\:b", 'city:"a\\\\b"',
    'city:"/x/"', "city:\\/x\\/", 'city:"a\\"b"', "city:São\\ Paulo", "city:\\u6771\\u4eac",
    'city:"AND"', "city:AND*", "city:(AND* NOT*)", "city:[A TO B]", "city:{A TO *]",
    'city:["New York" TO Paris}', "id:[1 TO 3]",
    "_version_:[1 TO *]", ["tags:x", "city:(Paris OR AN*)"], [], "", "tags:(+x -y1)",
    " \t\ncity:Paris\u3000", "id:(" + " OR ".join(map(str, range(900))) + ")",
    "((((tags:x))))", "tags:nothing",
]  # fmt: skip


def test_fields_with_values_filter_as_in_solr(served: Served, cities: nd.Collection) -> None:
    """Whatever the grammar allows finds what the same filter finds in the library."""
    for fq in ALLOWED:
        filters = [fq] if isinstance(fq, str) and fq else fq or []
        found = nd.search(cities, text=f"{TEXT} 1", fq=filters)
        assert find_ids(served, fq) == [match.id for match in found], fq
    assert find_ids(served, 'city:"{!x}"') == find_ids(served, "city:\\{\\!x\\}") == ["7"]
    assert find_ids(served, "_version_:-5") == []


REFUSED = [
    f'_val_:"{SLEEP}"', f'\\_val_:"{SLEEP}"', f'\\u005fval_:"{SLEEP}"', f'_val_ : "{SLEEP}"',
    f'id:(1 _val_:"{SLEEP}")', f'id:1 OR (-_val_:"{SLEEP}")', '_query_:"id:1"', "_any_:1",
    "id:/.*/", "/.*/", "id:1~", "id:1~2", 'id:"1 2"~3', "id:*1", "id:1*1", "id:1?", "id:1^2",
    "id:1^=2", "(id:1)^2", "id:1 /* x */", "/* x */ id:1", "filter(id:1)", "bare", '"bare"',
    "id:", "id:(", "id:(1", "id:1)", "id:[1 TO", "id:[1 TO 2", "id:1 OR", "OR id:1", "id:1 AND OR",
    "--id:1", "id:1 ++id:2",
    "(" * 5_000 + "id:1" + ")" * 5_000, "-" * 5_000 + "id:1", "id:1\x00", "id:\\", "id:\\ud800",
    " OR ".join(["id:1"] * 1_001), " ".join(["id:1*"] * 60), ["id:1"] * 60, f"id:{'1' * 70_000}",
    "\u00a0_val_:1", f"{SLEEP}:1", "*", "*:1", "id:1;x y", "$q", "id:1 $q", "id:$q{",
    "capital OR id:1", "-capital", "capital new", 5, {"id": 1}, [["id:1"]], [{"bool": {}}], [None],
]  # fmt: skip


def test_other_filters_are_refused(served: Served) -> None:
    """Solr never sees functions and other parsers; the service says so in a line, and goes on."""
    with ThreadPoolExecutor(8) as pool:
        bodies = [{"text": TEXT, "fq": fq} for fq in REFUSED]
        answers = [*pool.map(lambda body: served.ask("search", body), bodies)]
    for fq, answer in zip(REFUSED, answers, strict=True):
        assert answer.status == 400, (fq, answer.body)
        assert answer.json["error"]
        assert answer.json["next"]
        assert "\n" not in answer.json["error"]
    assert find_ids(served, "city:Paris") == ["0"]


def test_names_of_fields_are_nothing_else(served: Served) -> None:
    """A function, a transformer or a clause is no field that has to be the same."""
    for name in (SLEEP, f'_val_:"{SLEEP}" x_s', "[explain]", "*", "score:1", "id,city", "a b", "",
                 f"x:{SLEEP}", "city:[* TO *] OR id"):  # fmt: skip
        answer = served.ask("search", {"id": "1", "same": name})
        assert answer.status == 400, (name, answer.body)
    assert served.ask("search", {"id": "1", "same": "city"}).json == {"matches": []}
    near = served.ask("search", {"id": "1", "same": ["tags"]}).json["matches"]
    assert {match["id"] for match in near} == {"4", "7"}


def test_named_filters(served: Served) -> None:
    """Clients choose by name what the operator has written in Solr's syntax."""
    assert set(find_ids(served, "capital")) == {"0", "9"}
    assert find_ids(served, [" capital ", "city:P*"]) == ["0"]
    assert find_ids(served, "new") == ["1"]
    answer = served.ask("search", {"text": TEXT, "fq": "capitol"})
    assert answer.status == 400
    assert "capital" in answer.json["error"]
    for joined in ("capital city:Paris", "-capital", "(capital)", "city:Paris OR capital"):
        answer = served.ask("search", {"text": TEXT, "fq": joined})
        assert answer.status == 400
        assert "a list of filters" in answer.json["next"]


def test_a_token_may_use_all_of_the_syntax(cities: nd.Collection, tmp_path: Path) -> None:
    """One with local-params filters as the command line does, and by names."""
    path = tmp_path / "tokens"
    path.write_text("one c4n4ry-of-search search\nother c4n4ry-of-params search local-params\n")
    path.chmod(0o600)
    words = ("--tokens", str(path), "--filter", "capital={!terms f=city}Paris,東京")
    with serving(cities.url, tmp_path / "log", *words) as served:

        def search(token: str, fq: object) -> tuple[int, int]:
            sent = {"text": TEXT, "fq": fq}
            answer = served.ask("search", sent, Authorization=f"Bearer c4n4ry-of-{token}")
            return answer.status, len(answer.json.get("matches", ()))

        for fq, count in {"city:Pariss~1": 1, '_val_:"sum(1,1)"': 10, "{!term f=id}3": 1}.items():
            assert search("params", fq) == (200, count)
            assert search("search", fq)[0] in (400, 403)
        assert search("params", " capital ") == search("search", "capital") == (200, 2)
        for token in ("params", "search"):
            for unknown in ("capitol", ["id:1", "capitol"], "東京"):
                answer = served.ask(
                    "search",
                    {"text": TEXT, "fq": unknown},
                    Authorization=f"Bearer c4n4ry-of-{token}",
                )
                assert answer.status == 400
                assert "capital" in answer.json["error"] + answer.json["next"]
                assert "\n" not in answer.json["error"]


def test_wrong_options(cities: nd.Collection) -> None:
    """A filter without a name or a query, twice, or that Solr does not understand."""
    place = ("serve", "--solr", cities.url, "--port", "0")
    for filters in (["city:x"], ["a="], ["=a"], ["a b=id:1"], ["a=id:1", "a=id:2"], ["a=((("]):
        options = [word for each in filters for word in ("--filter", each)]
        run = neardup(*place, *options)
        assert run.returncode != 0, filters
        assert run.stderr.count("\n") <= 3
