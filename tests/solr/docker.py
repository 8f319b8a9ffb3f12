"""The Solr of the tests in a container: `pytest --solr docker`, after `scripts/solr-image`."""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from docker.errors import (  # type: ignore[import-untyped]  # it ships no types
    APIError,
    DockerException,
    ImageNotFound,
)
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 8983
READY_WITHIN = 180  # seconds; an idle machine needs three


@contextmanager
def container(image: str) -> Iterator[str]:
    """A Solr in a container of its own, as an address such as http://127.0.0.1:49153/solr.

    The container ends with the block. Without a Docker daemon, without the image, or if Solr does
    not answer within a minute, the test fails with one line that says what to do; images are
    never pulled, since one of Solr alone has no configset of ours.
    """
    # The reaper would be one more image to pull; this block takes the container away itself.
    testcontainers_config.ryuk_disabled = True
    solr = _found(image).with_exposed_ports(PORT)
    try:
        _start(solr)
        yield f"http://{solr.get_container_host_ip()}:{solr.get_exposed_port(PORT)}/solr"
    finally:
        solr.stop()


def _found(image: str) -> DockerContainer:
    """The container to be, once the daemon has said that it has the image."""
    solr = _connected(image)
    client = solr.get_docker_client().client
    try:
        client.images.get(image)
    except ImageNotFound:
        client.close()
        raise _failure(
            f"Docker has no image {image}; build it with: python scripts/solr-image {image}"
        ) from None
    return solr


def _connected(image: str) -> DockerContainer:
    with warnings.catch_warnings():
        # Without a daemon, docker-py drops its socket unclosed, which would be a second error.
        warnings.simplefilter("ignore", ResourceWarning)
        with suppress(DockerException):
            return DockerContainer(image)
        gc.collect()
    raise _failure(
        "no Docker daemon answers; start one (as root: dockerd), or leave out --solr docker"
    )


def _start(solr: DockerContainer) -> None:
    ready = HttpWaitStrategy(PORT, "/solr/admin/info/system?wt=json")
    ready.for_response_predicate(_is_solr).with_startup_timeout(READY_WITHIN)
    try:
        solr.waiting_for(ready.with_poll_interval(0.2)).start()
    except (APIError, OSError, RuntimeError) as error:  # OSError: also every kind of time-out
        raise _failure(
            f"Solr does not start from {solr.image} ({_last_words(solr) or error}); "
            f"build it again with: python scripts/solr-image {solr.image}"
        ) from None


def _is_solr(body: str) -> bool:
    try:
        return "solr_home" in json.loads(body)
    except (ValueError, TypeError):
        return False


def _last_words(solr: DockerContainer) -> str:
    """The last line that the container printed; empty if there is none."""
    with suppress(Exception):  # it may never have been created
        printed = b"\n".join(solr.get_logs()).decode(errors="replace").split("\n")
        return next(line.strip() for line in reversed(printed) if line.strip())
    return ""


def _failure(line: str) -> BaseException:
    """A failed test that shows the line alone, without a traceback."""
    return pytest.fail.Exception(line, pytrace=False)
