"""A password that is given in every way, and looked for in all that comes out."""

from __future__ import annotations

import base64
import logging
import os
import pickle
import subprocess
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.command import NEARDUP, neardup, sign_once
from tests.faults.conftest import RecordRow
from tests.faults.scripted import Answer, answering
from tests.faults.tiers import sized
from tests.solr.front import Door, certify, front
from website.commands import commands

pytestmark = pytest.mark.usefixtures("plain_environment")
USER, PASSWORD = "me", "c4n4ry/of@tests"
# As it is, in an address, and in the header that basic auth sends.
SIGNS = ("c4n4ry", base64.b64encode(b"me:c4n4ry").decode())
NOBODY = "http://127.0.0.1:1/solr"
ADS = "id,text\n1,Blue Door Cafe 12 Harbour Street\n2,Blue Door Cafe 12 Harbour St\n3,\n,no id\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """How a command gets a password: the address to name, and variables."""

    address: str
    variables: dict[str, str] = field(default_factory=dict)


def in_address(address: str, _folder: Path) -> Given:
    """In the address."""
    user = f"{USER}:{quote(PASSWORD, safe='')}"
    return Given(address=address.replace("://", f"://{user}@"))


def in_variables(address: str, _folder: Path) -> Given:
    """In two variables."""
    return Given(
        address=address,
        variables={"NEARDUP_SOLR_USER": USER, "NEARDUP_SOLR_PASSWORD": PASSWORD},
    )


def in_a_file(address: str, folder: Path) -> Given:
    """In a file, and the user in the address."""
    path = secret(folder / "password", f"{PASSWORD}\n")
    return Given(
        address=address.replace("://", f"://{USER}@"),
        variables={"NEARDUP_SOLR_PASSWORD_FILE": str(path)},
    )


def in_an_open_file(address: str, folder: Path) -> Given:
    """In a file that others can read, which is refused."""
    given = in_a_file(address, folder)
    (folder / "password").chmod(0o644)
    return given


def in_netrc(address: str, folder: Path) -> Given:
    """In the file of other programs, too."""
    path = secret(folder / "netrc", f"default login {USER} password {PASSWORD}\n")
    return Given(address=address, variables={"NETRC": str(path)})


def in_a_token(address: str, _folder: Path) -> Given:
    """As a token."""
    return Given(address=address, variables={"NEARDUP_SOLR_TOKEN": PASSWORD})


def in_a_proxy(address: str, _folder: Path) -> Given:
    """In the address of a proxy, which is what answers then."""
    host = address.split("/")[2].rpartition("@")[2]
    proxy = f"http://{USER}:{quote(PASSWORD, safe='')}@{host}"
    variables = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY"), proxy)
    return Given(address=address.replace(host, "solr.invalid:8983"), variables=variables)


def secret(path: Path, content: str) -> Path:
    """A file that its owner alone can read."""
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    return path


WAYS: list[Callable[[str, Path], Given]] = [
    in_address, in_variables, in_a_file, in_an_open_file, in_netrc, in_a_token, in_a_proxy,
]  # fmt: skip

FIELDS = Answer(body=b'{"responseHeader":{"status":0},"fields":[{"name":"id"}]}')
HTML = b"<html>c\xf4te</html>"
ECHO = b'{"responseHeader":{"status":%d},"error":{"msg":"bad c4n4ry/of@tests, Basic ' + (
    base64.b64encode(b"me:c4n4ry/of@tests") + b'"}}'
)
FAULTS: dict[str, Answer | str] = {
    "401": Answer(status=401, kind="text/html", body=b"who are you?"),
    "403": Answer(status=403),
    "404": Answer(status=404, kind="text/html", body=HTML),
    "407": Answer(status=407, kind="text/html", body=HTML),
    "redirect": Answer(status=302, location=f"http://{USER}:{quote(PASSWORD, safe='')}@h/solr"),
    "html": Answer(kind="text/html", body=HTML),
    "empty": Answer(body=b""),
    "400": Answer(status=400, body=b'{"responseHeader":{"status":400},"error":{"msg":"no"}}'),
    "500": Answer(status=500, body=b'{"responseHeader":{"status":500},"error":{"msg":"no"}}'),
    "an echo": Answer(status=400, body=ECHO % 400),
    "silent": Answer(silent=True),
    "nobody": NOBODY,
    "no such host": "http://solr.invalid:8983/solr",
    "not tls": "https://127.0.0.1:1/solr",
    "no address": "http://127.0.0.1:0/solr",
    "no scheme": "ftp://127.0.0.1/solr",
}
FILES = ("ads.csv", "known.tsv")
AT_ONCE = ("--patience", "0")  # they end, and do not wait for a Solr that is away
COMMANDS: dict[str, Sequence[str]] = {
    "demo": ["demo"],
    "init": ["init"],
    "lint": ["lint"],
    "annotate": ["annotate", *AT_ONCE],
    "strip": ["strip", *AT_ONCE],
    "doctor": ["doctor"],
    "index": ["index", "ads.csv", *AT_ONCE],
    "search": ["search", "--text", "Blue Door Cafe"],
    "report": ["report", *AT_ONCE],
    "duplicates": ["duplicates", *AT_ONCE],
    "gate": ["gate", "ads.csv", *AT_ONCE],
    "serve": ["serve", "--port", "0"],
    "explain": ["explain", "1", "2"],
    "answer": ["answer", "1", "2", "same", "--answers", "answers.jsonl"],
    "review": ["review", "--answers", "answers.jsonl"],
    "evaluate": ["evaluate", "known.tsv", *AT_ONCE],
    "delete": ["delete", "1"],
    "passages": ["passages", *AT_ONCE],
    "tune": ["tune", *AT_ONCE],
    "reband": ["reband", "--bands", "16", "--band-rows", "4", *AT_ONCE],
    "dead-letters": ["dead-letters", "retry"],
}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the kernel before any command has to say that it does."""
    sign_once()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run, with their input; secrets stay out of it."""
    place = tmp_path / "work"
    place.mkdir()
    (place / "ads.csv").write_text(ADS)
    (place / "known.tsv").write_text("1\t2\n")
    monkeypatch.chdir(place)
    monkeypatch.setenv("NEARDUP_HOME", str(place / "home"))
    for name in ("USER", "PASSWORD", "PASSWORD_FILE", "PLAIN_HTTP", "URL"):
        monkeypatch.delenv(f"NEARDUP_SOLR_{name}", raising=False)
    monkeypatch.setenv("NETRC", "/nowhere")
    return place


def shows(text: str | bytes) -> bool:
    """Whether a text has the password, in any of its forms."""
    said = text.decode("latin-1") if isinstance(text, bytes) else text
    return any(sign in said for sign in SIGNS)


@contextmanager
def failing(fault: Answer | str, *, at_once: bool = True) -> Iterator[str]:
    """An address at which this goes wrong, `at_once` or at the second request."""
    if isinstance(fault, str):
        yield fault
    else:
        with answering(*([] if at_once else [FIELDS]), fault) as (address, _):
            yield address


def cases(name: str) -> Iterator[tuple[Callable[[str, Path], Given], bool, Sequence[str]]]:
    """Ways, whether it fails at once, and commands: a quarter of them, or fewer in a hurry."""
    all_words, step = list(COMMANDS.values()), sized(usual=16, full=4)
    for at, way in enumerate(WAYS):
        if way is in_a_proxy and name.startswith("no "):
            continue  # nothing is asked of a proxy that has no address
        if way is in_a_token and name == "an echo":
            continue  # which has the password of basic auth, too: nobody has sent that
        # A Solr that has answered and is silent then would be waited for.
        for at_once in (True, False)[: 1 if name == "silent" else 2]:
            begin = 2 * at + at_once
            for words in all_words[begin % step :: step]:
                if at_once or words != ["demo"]:  # which would wait, too
                    yield way, at_once, words


@pytest.mark.parametrize("name", FAULTS)
def test_no_command_shows_it_whatever_fails(
    name: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    row: RecordRow,
) -> None:
    """Not on either stream, not in a log of level DEBUG; each run ends as one that failed."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(SIZES, "longest_wait", 0.001)  # seconds before it is tried again
    runs = 0
    for way, at_once, words in cases(name):
        with failing(FAULTS[name], at_once=at_once) as address, monkeypatch.context() as patch:
            given = way(address, tmp_path)
            for variable, value in given.variables.items():
                patch.setenv(variable, value)
            typed = [*words, "--solr", given.address]
            ran = neardup(*typed)
        said = ran.stdout + ran.stderr + "".join(capfd.readouterr())
        assert ran.returncode in (1, 2, 3, 4), (typed, said)
        assert "neardup: " in ran.stderr
        assert not shows(said + caplog.text), typed
        caplog.clear()
        runs += 1
    assert not any(shows(path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    row("S3", f"{name}: 0 hits in {runs} runs")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("way", WAYS)
def test_no_error_carries_it(
    way: Callable[[str, Path], Given],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither its traceback nor its attributes nor its pickle."""
    for name, fault in FAULTS.items():
        if way is in_a_token and name == "an echo":
            continue
        with failing(fault) as address, monkeypatch.context() as patch:
            given = way(address, tmp_path)
            for variable, value in given.variables.items():
                patch.setenv(variable, value)
            with pytest.raises(nd.NeardupError) as caught:
                nd.connect(given.address, "x").count()
        error = caught.value
        assert not shows("".join(traceback.format_exception(error)))
        assert not shows(f"{error!r} {error.args!r} {vars(error)!r}")
        assert not shows(pickle.dumps(error))


def test_no_command_is_forgotten() -> None:
    """Those that ask a Solr of yours are all tried."""
    assert {words.split()[0] for words in commands()} - {"signatures", "solr"} == set(COMMANDS)


def test_no_help_and_no_wrong_usage_shows_it(folder: Path) -> None:
    """An address beside --help, an option that does not exist, and a second command."""
    address = in_address("http://127.0.0.1:1/solr", folder).address
    for words in (["--help"], ["index", "--help"], ["nonsense"], ["search", "--nonsense"],
                  ["index", "ads.csv", "--batch", "x"], ["search"]):  # fmt: skip
        environment = os.environ | {"NEARDUP_SOLR_URL": address, "NEARDUP_SOLR_PASSWORD": PASSWORD}
        ran = subprocess.run(
            [*NEARDUP, *words], env=environment, capture_output=True, timeout=60, check=False
        )
        assert ran.stdout + ran.stderr
        assert not shows(ran.stdout + ran.stderr)


ADDRESS = f"http://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:1/solr/x"
MISPLACED: Sequence[Sequence[str]] = [
    ["index", ADDRESS],
    ["duplicates", ADDRESS],
    ["gate", ADDRESS],
    ["tune", ADDRESS],
    ["signatures", ADDRESS, "-o", "s.parquet"],
    ["signatures", "ads.csv", "-o", ADDRESS],
    ["evaluate", ADDRESS],
    ["evaluate", "known.tsv", ADDRESS],
    ["explain", "1", "2", "--source", ADDRESS],
    ["evaluate", "known.tsv", ADDRESS],
    ["search", "--text", "x", "-c", ADDRESS],
    ["duplicates", "-o", ADDRESS],
    ["duplicates", "ads.csv", "--unique", ADDRESS],
    ["duplicates", "ads.csv", "--text-field", ADDRESS],
    ["--ca", ADDRESS, "lint", "--solr", "https://127.0.0.1:1/solr"],
    ["index", "ads.csv", "--job", f"/proc/none/{ADDRESS}"],
    ["index", "ads.csv", "--fields", ADDRESS],
    ["search", ADDRESS],
    ["search", "--max-distance", ADDRESS],
    ["search", "--measure", ADDRESS],
]


@pytest.mark.parametrize(
    "words", MISPLACED, ids=lambda words: " ".join(words).replace(ADDRESS, "URL")
)
def test_an_address_in_a_wrong_place(
    words: Sequence[str],
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever has to be a file, a name or a field: the line shows no user and no password."""
    monkeypatch.setenv("NEARDUP_SOLR_URL", NOBODY)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")  # which --ca sets, for this test alone
    ran = neardup(*words)
    assert ran.returncode in (2, 3, 4)
    assert ran.stderr.startswith(("neardup: ", "Usage: "))
    assert not shows(ran.stdout + ran.stderr + "".join(capfd.readouterr()))


def test_a_password_goes_to_no_server_that_is_not_trusted(
    solr: nd.Collection, folder: Path, tmp_path: Path
) -> None:
    """TLS is verified by default: a server with a certificate of its own gets nothing."""
    with front(solr.base, tls=certify(tmp_path)) as address:
        given = in_variables(address, folder)
        ran = subprocess.run(
            [*NEARDUP, "search", "--text", "x", "--solr", given.address],
            env=os.environ | given.variables, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert ran.returncode == 4
    assert "its TLS certificate is not trusted; set --ca or $REQUESTS_CA_BUNDLE" in ran.stderr
    assert not shows(ran.stderr)


WORK: Sequence[Sequence[str]] = [
    ["index", "ads.csv", "--job", "job"],
    ["dead-letters", "show", "--job", "job", "-o", "letters.csv"],
    ["dead-letters", "retry", "--job", "job"],
    ["search", "--id", "1", "--format", "jsonl"],
    ["report", "-o", "report.tsv"],
    ["duplicates", "-o", "pairs.html"],
    ["duplicates", "-o", "pairs.parquet"],
    ["duplicates", "-o", "pairs.jsonl"],
    ["gate", "ads.csv", "-o", "gate.csv", "--hold", "0.5", "--exact", "hold", "--held", "h.jsonl"],
    ["evaluate", "known.tsv", "-o", "wrong.csv"],
    ["explain", "1", "2", "--format", "json"],
    ["lint"],
    ["doctor"],
    ["tune", "--format", "json"],
    ["reband", "--bands", "16", "--band-rows", "4", *AT_ONCE],
    ["annotate"],
    ["strip"],
    ["delete", "1"],
]


@pytest.mark.parametrize("way", [way for way in WAYS if way not in (in_an_open_file, in_a_proxy)])
def test_no_command_keeps_it(
    way: Callable[[str, Path], Given],
    solr: nd.Collection,
    folder: Path,
    tmp_path: Path,
    row: RecordRow,
) -> None:
    """All work is done with the password, and it is in no output and in no file afterwards."""
    door = Door(credentials=f"{USER}:{PASSWORD}")
    if way is in_a_token:
        door = Door(headers=(("Authorization", f"Bearer {PASSWORD}"),))
    with front(solr.base, door=door) as address:
        given = way(f"{address}/{solr.name}", tmp_path)
        some = WORK if way is in_variables else WORK[:2]
        commands = sized(usual=some[:7], full=some)
        for words in commands:
            ran = neardup(*words, env={**given.variables, "NEARDUP_SOLR_URL": given.address})
            assert "neardup: " not in ran.stderr, ran.stderr
            assert ran.returncode in (0, 1), ran.stderr
            assert not shows(ran.stdout + ran.stderr)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > len(FILES)
    assert not [path for path in files if shows(path.read_bytes())]
    assert not [path for path in files if shows(str(path))]
    row("S3", f"{way.__name__.replace('_', ' ')}: 0 hits in {len(commands)} commands' files")


@pytest.mark.parametrize("way", sized(usual=[in_address], full=[in_variables]))
def test_no_interrupted_job_keeps_it(
    way: Callable[[str, Path], Given], solr: nd.Collection, folder: Path, tmp_path: Path
) -> None:
    """The checkpoint and the dead letters of a run that was killed do not have it."""
    (folder / "ads.jsonl").write_text('{"id": 1}\n{"id": 2, "text": "a"}\n{"id": 3, "text": "b"}\n')
    door = Door(credentials=f"{USER}:{PASSWORD}")
    with front(solr.base, door=door) as address:
        given = way(f"{address}/{solr.name}", tmp_path)
        named = {"NEARDUP_SOLR_URL": given.address, "NEARDUP_FAILPOINT": "after-checkpoint"}
        ran = subprocess.run(
            [*NEARDUP, "index", "ads.jsonl", "--job", "job", "--checkpoint-every", "2"],
            env=os.environ | given.variables | named, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
    assert ran.returncode == 137, ran.stderr
    kept = [path for path in (folder / "job").iterdir() if path.is_file()]
    assert {"checkpoint.json", "dead-letters.jsonl"} <= {path.name for path in kept}
    assert not [path for path in kept if shows(path.read_bytes())]
