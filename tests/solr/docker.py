"""The Solr of the tests in a container: `pytest --solr docker`, after `scripts/solr-image`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from docker.errors import APIError, DockerException, ImageNotFound
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 8983
READY_WITHIN = 60  # seconds; an idle machine needs three


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
    try:
        solr = DockerContainer(image)
    except DockerException:
        pytest.fail(
            "no Docker daemon answers; start one (as root: dockerd), or leave out --solr docker",
            pytrace=False,
        )
    client = solr.get_docker_client().client
    try:
        client.images.get(image)
    except ImageNotFound:
        client.close()
        pytest.fail(
            f"Docker has no image {image}; build it with: python scripts/solr-image {image}",
            pytrace=False,
        )
    return solr


def _start(solr: DockerContainer) -> None:
    ready = HttpWaitStrategy(PORT, "/solr/admin/info/system?wt=json")
    ready.for_response_predicate(_is_solr).with_startup_timeout(READY_WITHIN)
    try:
        solr.waiting_for(ready.with_poll_interval(0.2)).start()
    except (APIError, OSError, RuntimeError) as error:  # OSError: also every kind of time-out
        pytest.fail(
            f"Solr does not start from {solr.image} ({_last_words(solr) or error}); "
            f"build it again with: python scripts/solr-image {solr.image}",
            pytrace=False,
        )


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
