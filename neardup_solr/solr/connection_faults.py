"""The table of faults on the way to a Solr: host names, TLS, proxies, broken connections."""

from __future__ import annotations

import re
from typing import NamedTuple

import requests


class Fault(NamedTuple):
    """A row of a table: the reason and the next step, which may be that of the moment ("")."""

    reason: str
    step: str = ""
    code: str = "solr-unreachable"


_TRUST = "set `ca` or $REQUESTS_CA_BUNDLE to its CA file"
_NAME = "set `cert` or $NEARDUP_SOLR_CERT to a PEM file with {} and its key"
_OF_PROXY = "set them in the proxy's address, as in http://user:password@proxy:3128"
_HOST_UNKNOWN = Fault("the host name is unknown")
_NO_TLS = Fault("it does not use TLS (is it an http:// address?)")
_CLOSED = Fault("it closed the connection without a response")
WANTS_CERTIFICATE = Fault(
    "it requires a client certificate", _NAME.format("a certificate"), code="credentials-unusable"
)
_VALID = _NAME.format("a trusted certificate that has not expired")
REFUSES_CERTIFICATE = Fault(
    "it refuses the client certificate", _VALID, code="credentials-unusable"
)
PROXY_REFUSES = Fault("the proxy refuses these credentials (HTTP 407)", _OF_PROXY, code="proxy")
_PROXY = "check the proxy setting (`proxy`, $HTTPS_PROXY or $HTTP_PROXY)"
PROXY_AWAY = Fault("the proxy does not answer", f"{_PROXY}, or add the host to $NO_PROXY")
PROXY_ODD = Fault("the address of the proxy is not valid", _PROXY)
CUT_OFF = Fault("it closed the connection in the middle of its response")
SLOW = Fault("it did not respond in time", code="solr-unreachable")
_TUNNEL = "Tunnel connection failed"  # the proxy answers, but does not connect
# Signs in the innermost message of an exception, which may pass once a Solr has answered.
_OF_CONNECTION = {
    "Connection refused": Fault("nothing is listening at this address (connection refused)"),
    "Name or service not known": _HOST_UNKNOWN,
    "nodename nor servname": _HOST_UNKNOWN,
    "getaddrinfo failed": _HOST_UNKNOWN,
    "Temporary failure in name resolution": Fault("the host name cannot be resolved"),
    "(Hostname|IP address) mismatch": Fault("its TLS certificate is for a different host",
                                            "use the host name in the certificate"),
    "certificate has expired": Fault("its TLS certificate has expired", "renew it on that server"),
    "CERTIFICATE_VERIFY_FAILED": Fault("its TLS certificate is not trusted", _TRUST),
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    "CERTIFICATE_REQUIRED": WANTS_CERTIFICATE,
    "ALERT_HANDSHAKE_FAILURE": Fault(
        "it refuses the TLS handshake (does it require a client certificate?)",
        WANTS_CERTIFICATE.step),
    "ALERT_(CERTIFICATE_|UNKNOWN_CA|BAD_CERTIFICATE)": REFUSES_CERTIFICATE,
    "NO_CERTIFICATE_OR_CRL_FOUND": Fault("the CA file contains no certificates", _TRUST),
    f"{_TUNNEL}: 407": PROXY_REFUSES,
    # As tinyproxy says of a wrong password.
    f"{_TUNNEL}: 401": Fault(PROXY_REFUSES.reason.replace("407", "401"), _OF_PROXY, code="proxy"),
    _TUNNEL: Fault("the proxy does not connect to it",
                   "check that it is running, and that the proxy allows this host and port"),
    "EOF occurred in violation": _CLOSED,
    "Remote end closed": _CLOSED,
    "Connection reset": Fault("it reset the connection"),
    "IncompleteRead": CUT_OFF,
}  # fmt: skip


def find_connection_fault(error: Exception) -> Fault:
    """Look up an exception by its innermost message, which requests and urllib3 wrap."""
    if isinstance(error, requests.exceptions.Timeout):
        return SLOW
    inner: object = error
    while isinstance(inner, Exception):
        wrapped = [getattr(inner, "reason", None), *inner.args]
        deeper = next((each for each in wrapped if isinstance(each, Exception)), None)
        if deeper is None:
            break
        inner = deeper
    text = str(inner)
    if "Unable to connect to proxy" in str(error) and _TUNNEL not in text:
        return PROXY_AWAY
    faults = (fault for sign, fault in _OF_CONNECTION.items() if re.search(sign, text))
    return next(faults, Fault(text or "no response"))
