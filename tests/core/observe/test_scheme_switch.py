from weboid.core.observe.observation import Observation
from weboid.core.observe.scheme_switch import as_switched, calls_for_switch, switched
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.url.urls import parse

WEB = (80, 443)
FINE = Observation(Status.FINE, Reason.OK)


def failing(reason: Reason) -> Observation:
    return Observation(Status.NETWORK, reason)


def test_only_the_standard_ports_belong_together() -> None:
    for url, ports, other in [
        ("http://a.demo/x?y", WEB, "https://a.demo/x?y"), ("https://a.demo/x?y", WEB, "http://a.demo/x?y"),
        ("http://a.demo:8080/", WEB, None), ("https://a.demo:8443/", WEB, None), ("http://a.demo:443/", WEB, None),
        ("ftp://a.demo/", WEB, None), ("http://a.demo:8080/", (8080, 8443), "https://a.demo:8443/"),
        ("https://a.demo:8443/", (8080, 8443), "http://a.demo:8080/"), ("http://a.demo/", (8080, 8443), None),
    ]:  # fmt: skip
        found = switched(parse(url), ports)
        assert (str(found) if found else None) == other, url


def test_a_port_that_is_shut_calls_for_the_other_at_once_and_a_missing_page_only_if_it_matters() -> None:
    assert calls_for_switch(failing(Reason.CONNECTION_REFUSED), thorough=False)
    assert calls_for_switch(failing(Reason.CERTIFICATE_EXPIRED), thorough=False)
    assert calls_for_switch(failing(Reason.BOT_WALL), thorough=False), "no HTTP/1.1 at this port"
    assert not calls_for_switch(failing(Reason.NOT_FOUND), thorough=False)
    assert calls_for_switch(failing(Reason.NOT_FOUND), thorough=True)


def test_what_works_is_refused_or_is_gone_by_name_needs_no_other_scheme() -> None:
    assert not calls_for_switch(failing(Reason.DNS_GONE), thorough=True)
    hearsay = Observation(Status.NETWORK, Reason.CONNECTION_REFUSED, inferred=True)
    for seen in (FINE, Observation(Status.NO_ACCESS, Reason.FORBIDDEN), hearsay):
        assert not calls_for_switch(seen, thorough=True)


def test_under_the_other_scheme_what_works_works_but_for_a_certificate_and_what_was_believed() -> None:
    seen = as_switched(failing(Reason.TIMEOUT), FINE, Special.NEEDS_HTTPS)
    assert (seen.status, seen.reason) == (Status.SCHEME_SWITCHED, Reason.NEEDS_HTTPS)
    assert seen.outcome is Outcome.WORKING
    assert seen.needs == {Special.NEEDS_HTTPS}
    seen = as_switched(failing(Reason.CERTIFICATE_EXPIRED), FINE, Special.NEEDS_HTTP)
    assert (seen.status, seen.reason) == (Status.SCHEME_SWITCHED, Reason.CERTIFICATE_EXPIRED)
    assert seen.outcome is Outcome.DOUBTFUL
    assert not as_switched(None, FINE, Special.NEEDS_HTTPS).needs
