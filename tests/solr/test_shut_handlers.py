"""The doors of the configset: what neardup_solr needs is open, everything else is shut."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.solr import foreign

Recorded = Callable[[str, str], None]  # a figure of the table of faults
TIMEOUT = 30

OPEN = (
    "/select?q=*:*",
    "/get?id=1",
    "/export?q=*:*&sort=id+asc&fl=id",
    "/update?commit=true",
    "/admin/ping",
    "/schema",
    "/schema/fields",
    "/schema/uniquekey",
)

# Opened by Solr itself (its implicit handlers), by older versions, or by its sample configsets.
SHUT = (
    "/config",
    "/config/overlay",
    "/config/params",
    "/config/requestHandler",
    "/admin/file?file=solrconfig.xml",
    "/admin/luke",
    "/admin/segments",
    "/admin/mbeans?stats=true",
    "/admin/plugins",
    "/admin/system",
    "/admin/threads",
    "/admin/properties",
    "/admin/logging",
    "/debug/dump",
    "/stream?expr=list()",
    "/sql?stmt=select",
    "/graph?expr=list()",
    "/replication?command=details",
    "/replication?command=filecontent&file=segments_1",
    "/terms?terms.fl=id",
    "/analysis/field",
    "/analysis/document",
    "/tasks/list",
    "/tasks/cancel?queryUUID=1",
    "/update/json",
    "/update/json/docs",
    "/update/csv",
    "/update/cbor",
    "/update/xml",
    "/update/extract",
    "/query?q=*:*",
    "/browse",
    "/spell",
    "/mlt",
    "/tvrh",
    "/elevate",
    "/dataimport",
    "/blob",
)

# The same handlers by Solr's second API, which has other names for some.
SHUT_SECOND_API = (
    "config",
    "config/overlay",
    "config/params",
    "config/params/x",
    "config/requestHandler",
    "update",
    "update/json",
    "update/xml",
    "update/csv",
    "update/bin",
    "stream",
    "replication/indexversion",
    "replication/files?generation=1",
    "replication/files/segments_1",
    "replication/backups",
    "segments",
    "mlt?q=*:*",
    "tasks/list",
    "tasks/cancel?queryUUID=1",
    "admin/file",
    "debug/dump",
    "terms",
)

# Shut doors by names that a server may take for others.
DISGUISED = (
    "/select/../config", "/./config", "//config", "/%63onfig", "/config/", "/config;x=1", "/CONFIG",
    "/config%00", "/config%09", "/config%2foverlay", "/\\config", "/select;/config",
    "/select/config", "/select/..;/config", "/select/..%2fconfig", "/schema/../config",
    "/get/../admin/file?file=solrconfig.xml", "/admin/ping/../file?file=solrconfig.xml",
    "/select/../../../solr/none/config", "/%2e%2e/none/config", "/debug/dump/", "/stream/",
)  # fmt: skip

SCHEMA_COMMANDS = (
    {"add-field": {"name": "planted", "type": "string"}},
    {"delete-field": {"name": "content_bands"}},
    {"replace-field-type": {"name": "string", "class": "solr.TextField"}},
    {"add-copy-field": {"source": "content", "dest": "planted"}},
)
FIELD = {"name": "planted", "type": "string"}
# The same by the second API of Solr 10, which has an address for each part of the schema.
SCHEMA_CHANGES: tuple[tuple[str, str, Any], ...] = (
    *(("POST", "schema", command) for command in SCHEMA_COMMANDS),
    ("POST", "schema/bulk", [{"operationType": "add-field"} | FIELD]),
    ("PUT", "schema/fields/planted", FIELD),
    ("PUT", "schema/dynamicfields/planted_*", FIELD | {"name": "planted_*"}),
    ("PUT", "schema/fieldtypes/string", {"name": "string", "class": "solr.TextField"}),
    ("DELETE", "schema/fields/content_bands", None),
    ("DELETE", "schema/fieldtypes/string", None),
)


def test_open_doors(core_url: str, record_property: Recorded) -> None:
    """What the client uses answers 200."""
    statuses = {path: requests.get(core_url + path, timeout=TIMEOUT).status_code for path in OPEN}
    assert statuses == dict.fromkeys(OPEN, 200)
    record_property("S2", f"{len(OPEN)} paths open: select, get, update, ping, export, schema")


def kind(answer: requests.Response) -> tuple[int, str | None]:
    """The status and the type of an answer: Solr's own are not in HTML."""
    return answer.status_code, answer.headers.get("Content-Type")


def unknown_name(core_url: str, method: str) -> tuple[int, str | None]:
    """How a name is answered that nobody has: by Jetty, whose POST is 405 with Solr 10."""
    answer = requests.request(method, f"{core_url}/no_such_name", data=b"{}", timeout=TIMEOUT)
    assert answer.status_code in (404, 405)
    return kind(answer)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_shut_doors(core_url: str, method: str, record_property: Recorded) -> None:
    """Every other name answers 404, or as one that nobody has, whether it is read or written."""
    nobody = unknown_name(core_url, method)
    for path in SHUT:
        answer = requests.request(
            method, core_url + path, json={} if method == "POST" else None, timeout=TIMEOUT
        )
        assert answer.status_code == 404 or kind(answer) == nobody, path
    record_property("S2", f"{method}: {len(SHUT)} of {len(SHUT)} paths shut")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_shut_doors_in_disguise(core_url: str, method: str, record_property: Recorded) -> None:
    """A path that is spelled differently reaches nothing that is shut."""
    address = urlsplit(core_url)
    nobody = unknown_name(core_url, method)
    for path in DISGUISED:
        with closing(HTTPConnection(address.netloc, timeout=TIMEOUT)) as connection:
            connection.putrequest(method, address.path + path)
            connection.putheader("Content-Length", "2")
            connection.endheaders(b"{}")
            answer = connection.getresponse()
            assert (
                answer.status in (400, 404)
                or (answer.status, answer.headers["Content-Type"]) == nobody
            ), path
            assert b"requestHandler" not in answer.read()
    record_property("S2", f"{method}: {len(DISGUISED)} of {len(DISGUISED)} disguises refused")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_shut_doors_by_other_methods(core_url: str, method: str) -> None:
    """No method of HTTP opens one; of some Solr says only that it does not know them."""
    statuses = {
        path: requests.request(method, core_url + path, json={}, timeout=TIMEOUT).status_code
        for path in SHUT
    }
    assert {path for path, status in statuses.items() if status < 400} == set()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_shut_doors_of_the_second_api(
    core_url: str, method: str, record_property: Recorded
) -> None:
    """Solr's second API reaches none of the shut handlers either."""
    solr_url, core = core_url.rsplit("/", 1)
    statuses = {
        path: requests.request(
            method, f"{solr_url}/____v2/cores/{core}/{path}", timeout=TIMEOUT
        ).status_code
        for path in SHUT_SECOND_API
    }
    assert {path for path, status in statuses.items() if status not in (404, 405)} == set()
    count = len(SHUT_SECOND_API)
    record_property("S2", f"{method}: {count} of {count} paths of the second API shut")


def test_schema_cannot_be_changed_over_http(core_url: str) -> None:
    """Every change of the schema is refused, and the schema stays as it was."""
    solr_url, core = core_url.rsplit("/", 1)
    before = requests.get(f"{core_url}/schema", timeout=TIMEOUT).json()["schema"]
    for command in SCHEMA_COMMANDS:
        answer = requests.post(f"{core_url}/schema", json=command, timeout=TIMEOUT)
        assert answer.status_code == 400
        assert "not editable" in answer.text
    for method, path, body in SCHEMA_CHANGES:
        address = f"{solr_url}/____v2/cores/{core}/{path}"
        answer = requests.request(method, address, json=body, timeout=TIMEOUT)
        # Solr 10 refuses some with 200.
        assert answer.status_code in (404, 405) or "not editable" in answer.text, path
    assert requests.get(f"{core_url}/schema", timeout=TIMEOUT).json()["schema"] == before


@pytest.mark.parametrize("stream", ["stream.url", "stream.file", "stream.body"])
@pytest.mark.parametrize(
    "handler", ["/select", "/update", "/update/", "/get", "/export", "/schema"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_remote_streaming(
    core_url: str, tmp_path: Path, method: str, handler: str, stream: str
) -> None:
    """A request cannot make Solr read an address, a file or a body from a parameter.

    Solr up to 9 says that this is disabled; Solr 10 does not know these parameters.
    """
    planted = json.dumps([{"id": "planted"}])
    file = tmp_path / "planted.json"
    file.write_text(planted)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        source = {"stream.url": address, "stream.file": str(file), "stream.body": planted}
        usual = {"q": "*:*", "sort": "id asc", "fl": "id", "commit": "true"}
        told = usual | {stream: source[stream], "stream.contentType": "application/json"}
        answers = [
            requests.get(core_url + handler, params=params, timeout=TIMEOUT)
            if method == "GET"
            else requests.post(core_url + handler, data=params, timeout=TIMEOUT)  # a form
            for params in (usual, told)
        ]
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert "disabled" in answers[1].text or without_time(answers[0]) == without_time(answers[1])
    found = requests.get(f"{core_url}/select?q=*:*", timeout=TIMEOUT).json()
    assert found["response"]["numFound"] == 0


def without_time(answer: requests.Response) -> tuple[int, str]:
    """The status and the text of an answer, but for how long it took."""
    return answer.status_code, re.sub(r'"QTime":\d+', "", answer.text)


def test_no_configuration_is_edited(address: str) -> None:
    """The embedded Solr refuses it for other collections, too, whose configuration is not shut."""
    command = {"add-requesthandler": {"name": "/planted", "class": "solr.SearchHandler"}}
    with foreign.collection() as core:
        solr_url, name = core.url.rsplit("/", 1)
        for url in (core.url, f"{solr_url}/____v2/cores/{name}"):
            for path, body in (("config", command), ("config/params", {"set": {"x": {"q": "y"}}})):
                answer = requests.post(f"{url}/{path}", json=body, timeout=TIMEOUT)
                assert answer.status_code == 403, path
        told = requests.get(f"{core.url}/config/overlay", timeout=TIMEOUT)
        assert "planted" not in told.text
        planted = requests.get(f"{core.url}/planted?q=*:*", timeout=TIMEOUT)
        assert planted.status_code == 404


def test_no_foreign_shards(core_url: str) -> None:
    """A search cannot be sent on to another host."""
    params = {"q": "*:*", "shards": "127.0.0.1:9/solr/other"}
    answer = requests.get(f"{core_url}/select", params=params, timeout=TIMEOUT)
    assert answer.status_code == 403


def test_no_handler_by_parameter(core_url: str) -> None:
    """The parameter qt does not reach another handler through /select."""
    params = {"q": "*:*", "qt": "/schema"}
    answer = requests.get(f"{core_url}/select", params=params, timeout=TIMEOUT).json()
    assert answer["response"]["numFound"] == 0
    assert "schema" not in answer


def test_health_check_cannot_be_switched(core_url: str) -> None:
    """Nobody can make /admin/ping fail for others."""
    params = {"action": "disable"}
    assert requests.get(f"{core_url}/admin/ping", params=params, timeout=TIMEOUT).status_code == 503
    assert requests.get(f"{core_url}/admin/ping", timeout=TIMEOUT).json()["status"] == "OK"


def ids(answer: requests.Response) -> list[str]:
    """The ids in an answer of /select, /export or /get."""
    return [document["id"] for document in answer.json()["response"]["docs"]]


@pytest.mark.parametrize("switch", [{}, {"expandMacros": "true"}])
def test_macros_are_text(core_url: str, switch: dict[str, str]) -> None:
    """A value that holds ${name} finds itself and nothing else, whatever the request asks for."""
    documents = [{"id": "${other}"}, {"id": "secret"}]
    requests.post(f"{core_url}/update?commit=true", json=documents, timeout=TIMEOUT)
    params = {"v": "${other}", "other": "secret"} | switch
    search = {"q": "{!term f=id v=$v}", "fl": "id", "sort": "id asc"} | params
    requested = {"/select": search, "/export": search, "/get": {"ids": "${other}"} | params}
    for handler, query in requested.items():
        assert ids(requests.get(core_url + handler, params=query, timeout=TIMEOUT)) == ["${other}"]
        assert ids(requests.post(core_url + handler, data=query, timeout=TIMEOUT)) == ["${other}"]
    body = {"query": search["q"], "params": params}
    assert ids(requests.post(f"{core_url}/select", json=body, timeout=TIMEOUT)) == ["${other}"]


def test_xml_reads_no_files(core_url: str) -> None:
    """An external entity in an XML update stays empty."""
    headers = {"Content-Type": "text/xml"}
    body = (
        '<!DOCTYPE add [<!ENTITY leak SYSTEM "file:///etc/passwd">]>'
        '<add><doc><field name="id">1</field><field name="leak">[&leak;]</field></doc></add>'
    )
    requests.post(
        f"{core_url}/update?commit=true", data=body, headers=headers, timeout=TIMEOUT
    ).raise_for_status()
    answer = requests.get(f"{core_url}/select?q=id:1", timeout=TIMEOUT).json()
    assert answer["response"]["docs"][0]["leak"] == ["[]"]


def test_parameters_are_not_echoed(core_url: str) -> None:
    """An answer does not repeat the request, so a long query costs its size once."""
    answer = requests.get(f"{core_url}/select", params={"q": "id:canary"}, timeout=TIMEOUT)
    assert "canary" not in answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
