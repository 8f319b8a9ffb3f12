"""Why no answer came, in words: what requests, urllib3 and ssl say, and what to do about it."""

from __future__ import annotations

PROXY_REFUSES = "the proxy on the way refuses these credentials (HTTP 407)"
PROXY_NEXT = "give them in the proxy's address as http://user:password@proxy:3128"
PROXY_AWAY = "the proxy on the way does not answer"
_PROXY = "Unable to connect to proxy"
_TUNNEL = "Tunnel connection failed"  # the proxy answers, but not as was hoped
_TRUST = "name the file of its own CA with ca=, --ca or REQUESTS_CA_BUNDLE"
_CAUSES = {
    "Connection refused": "nothing listens there (connection refused)",
    "Name or service not known": "the host name is not known",
    "nodename nor servname": "the host name is not known",
    "getaddrinfo failed": "the host name is not known",
    "Temporary failure in name resolution": "the host name cannot be looked up",
    "Hostname mismatch": "its TLS certificate is one of another host",
    "IP address mismatch": "its TLS certificate is one of another host",
    "certificate has expired": "its TLS certificate has expired",
    "CERTIFICATE_VERIFY_FAILED": "its TLS certificate is not trusted",
    "WRONG_VERSION_NUMBER": "it does not speak TLS (is it an http:// address?)",
    "RECORD_LAYER_FAILURE": "it does not speak TLS (is it an http:// address?)",
    "NO_CERTIFICATE_OR_CRL_FOUND": "the file of the CA holds no certificate",
    "connection failed: 407": PROXY_REFUSES,
    "Remote end closed": "it closed the connection without an answer",
    "Connection reset": "it reset the connection",
    "IncompleteRead": "it closed the connection in the middle of its answer",
}
_NEXT = {
    "its TLS certificate is not trusted": _TRUST,
    "the file of the CA holds no certificate": _TRUST,
    "its TLS certificate is one of another host": "give the host by the name it is made out to",
    "its TLS certificate has expired": "renew it there",
    PROXY_REFUSES: PROXY_NEXT,
    PROXY_AWAY: "check the proxy that is set (proxy=, HTTPS_PROXY or HTTP_PROXY), or name the host"
    " in NO_PROXY",
}


def cause(error: Exception) -> str:
    """A short cause: the innermost message of a chain that requests and urllib3 wrap thrice."""
    inner: object = error
    while isinstance(inner, Exception):
        wrapped = [getattr(inner, "reason", None), *inner.args]
        deeper = next((each for each in wrapped if isinstance(each, Exception)), None)
        if deeper is None:
            break
        inner = deeper
    text = str(inner)
    if _PROXY in str(error) and _TUNNEL not in text:
        return PROXY_AWAY
    return next((said for sign, said in _CAUSES.items() if sign in text), text or "no answer")


def next_step(cause: str) -> str | None:
    """What to do about a cause that is not simply a server that does not run; else None."""
    return _NEXT.get(cause)
