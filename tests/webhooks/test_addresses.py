"""Where a webhook may lead: nowhere inside, however it is spelled, and whenever the name is looked up."""

import ipaddress
import socket

import pytest
from django.utils import timezone

from tests.webhooks.receiver import deliver, deliveries
from tests.webhooks.test_deliver import remember
from webhooks import announcing
from webhooks.addresses import Refused, is_public, parse, resolve
from webhooks.sending import send
from webhooks.webhooks import create_webhook

INSIDE = [
    "127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1", "198.18.0.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:1::1",
    "2001:db8::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1",
]  # fmt: skip
OUTSIDE = [
    "93.184.215.14",
    "8.8.8.8",
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]
SPELLINGS = [
    "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1", "1.2.3.256", "1.2.3.4.5",
    "010.8.8.8", "134744072", "8.8.8.8.", "0x8.8.8.8", "8.8.8.0x8", "8.8.8.08",
]  # fmt: skip
ODD = {
    "ftp://example.com/": "Must begin with",
    "file:///etc/passwd": "Must begin with",
    "gopher://127.0.0.1:6379/_x": "Must begin with",
    "//example.com/": "Must begin with",
    "https://user:pw@example.com/": "user name",
    "https://example.com@127.0.0.1/": "user name",
    "https://@127.0.0.1/": "user name",
    "https://exa mple.com/": "spaces",
    "https://example.com\\@127.0.0.1/": "backslashes",
    "https://example.com/\r\nHost: x": "control characters",
    "https://127。0。0。1/": "beyond ASCII",
    "https://①②⑦.0.0.1/": "beyond ASCII",
    "https://example.com:0/": "Port 0",
    "https://example.com:99999/": "not a URL",
    "https://example.com:x/": "not a URL",
    "https://[::1/": "not a URL",
    "https://[fe80::1%25eth0]/": "not an address",
    "https://example.com/#x": "fragment",
    "https:///path": "not a name",
    "https://a..b/": "not a name",
    "https://-a.com/": "not a name",
    "https://%31%32%37.0.0.1/": "not a name",
    "https://" + "a" * 2_000 + ".com/": "longer",
}


def refusal(url: str, allowed=()) -> str:
    with pytest.raises(Refused) as refused:
        resolve(parse(url), allowed=allowed)
    assert refused.value.field == "url"
    return str(refused.value)


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_refused(address):
    assert "private or reserved" in refusal(f"https://{bracketed(address)}/")


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_outside_is_taken_by_https_alone(address):
    assert is_public(ipaddress.ip_address(address))
    assert resolve(parse(f"https://{bracketed(address)}:8443/x?y"), allowed=())
    assert "https" in refusal(f"http://{bracketed(address)}/")


@pytest.mark.parametrize("host", SPELLINGS)
def test_a_number_in_another_spelling_is_refused(host):
    assert "four numbers" in refusal(f"https://{host}/")


@pytest.mark.parametrize(("url", "why"), ODD.items())
def test_what_could_be_read_in_two_ways_is_refused(url, why):
    assert why in refusal(url)


@pytest.mark.parametrize("url", ["http://10.1.2.3/", "http://[::ffff:10.1.2.3]/", "https://10.1.2.3:8443/"])
def test_an_allowed_network_may_be_private_and_without_tls(url):
    assert resolve(parse(url), allowed=["192.168.0.0/16", "10.1.0.0/16"])
    assert "private" in refusal(url.replace("10.1.", "10.2."), ["10.1.0.0/16"])


def test_of_several_addresses_none_may_be_inside(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", answering(["8.8.8.8", "10.0.0.1"]))
    assert "private" in refusal("https://example.com/")


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST.", "localhost.localdomain"])
def test_a_name_of_this_machine_is_refused(monkeypatch, name):
    monkeypatch.setattr(socket, "getaddrinfo", answering(["127.0.0.1"]))
    assert "private" in refusal(f"https://{name}/")


def answering(*answers):
    """A resolver that gives each of the answers in turn, the last one from then on."""
    left = list(answers)

    def getaddrinfo(host, port, *_args, **_options):
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    return getaddrinfo


def test_a_name_that_leads_inside_later_is_refused_when_it_is_sent_to(acme, receiver, monkeypatch, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    asked = []
    resolver = answering(["93.184.215.14"], ["127.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *args, **kw: asked.append(args[0]) or resolver(*args, **kw)
    )
    port = receiver.url.split(":")[2].split("/")[0]
    given = {"url": f"https://rebind.example:{port}/"}
    webhook = create_webhook(caller=acme.with_key(scopes=("admin",)).caller, new=given, now=timezone.now())
    announcing.forget(acme.tenant.id)
    remember(acme)
    deliver(webhook)
    (row,) = deliveries(acme)
    assert row.last_error.startswith("refused: The host is in a private")
    assert (receiver.received, asked.count("rebind.example")) == ([], 2)


def test_what_is_connected_to_is_what_was_checked(receiver, monkeypatch):
    """The name is looked up once: the second answer, which would lead elsewhere, is never asked for."""
    port = int(receiver.url.split(":")[2].split("/")[0])
    resolver, real, asked = answering(["127.0.0.1"], ["127.0.0.2"]), socket.getaddrinfo, []

    def getaddrinfo(host, *args, **options):
        if host != "once.example":
            return real(host, *args, **options)
        asked.append(host)
        return resolver(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    outcome = send(f"http://once.example:{port}/", body=b"{}", headers={})
    assert (outcome.status, asked) == (204, ["once.example"])
    assert receiver.received[0].headers["host"] == f"once.example:{port}"


def test_no_proxy_of_the_environment_is_asked(receiver, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert send(receiver.url, body=b"{}", headers={}).status == 204


def test_a_host_whose_certificate_is_another_s_is_not_told(monkeypatch, tls_server):
    port, seen = tls_server
    monkeypatch.setattr(socket, "getaddrinfo", answering(["127.0.0.1"]))
    outcome = send(f"https://secure.example:{port}/", body=b"secret", headers={})
    assert (outcome.status, outcome.error) == (None, "TLS could not be verified")
    assert seen == ["secure.example"]  # the name that was asked for, not the address


@pytest.mark.parametrize(
    ("url", "why"), [("https://169.254.169.254/latest", "private"), ("https://2130706433/", "four numbers")]
)
def test_the_route_says_why(acme, url, why):
    answer = acme.with_key(scopes=("admin",)).http.post("/api/v1/webhooks", json={"url": url})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == "url"
    assert why in error["message"]


def test_a_webhook_is_not_changed_to_lead_inside(acme):
    http = acme.with_key(scopes=("admin",)).http
    made = http.post("/api/v1/webhooks", json={"url": "https://93.184.215.14/"}).json()
    answer = http.patch(f"/api/v1/webhooks/{made['id']}", json={"url": "https://10.0.0.1/"})
    assert answer.status_code == 422
    assert http.get(f"/api/v1/webhooks/{made['id']}").json()["url"] == "https://93.184.215.14/"
