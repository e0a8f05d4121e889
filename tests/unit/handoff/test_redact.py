"""Secrets are taken out, and what only looks like one stays."""

from time import process_time

import pytest

from midstream.server.handoff.redact import Redactor, redact
from midstream.server.handoff.values import assigned, secret_like

LETTERS = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5"
KEY_BODY = "\n".join(["MIIEpAIBAAKCAQEA" + "a1B2" * 12] * 3)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"use sk-ant-{LETTERS} now", LETTERS),
        (f"sk-proj-{LETTERS}", LETTERS),
        (f"sk_live_{LETTERS[:24]}", LETTERS[:24]),
        (f"AIza{LETTERS[:35]}", LETTERS[:35]),
        (f"ghp_{LETTERS[:36]}", LETTERS[:36]),
        (f"github_pat_{LETTERS[:44]}", LETTERS[:44]),
        (f"glpat-{LETTERS[:20]}", LETTERS[:20]),
        ("xoxb-123456789012-abcdefghij", "123456789012"),
        (f"npm_{LETTERS[:36]}", LETTERS[:36]),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
        (f"eyJhbGciOiJI.eyJzdWIiOiIx.{LETTERS[:20]}", LETTERS[:20]),
        (f"Authorization: Bearer {LETTERS[:30]}", LETTERS[:30]),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDEy", "dXNlcjpwYXNzd29yZDEy"),
        ("postgres://app:s3cr3t-pw@db.example/app", "s3cr3t-pw"),
        ("redis://:s3cr3tpw@cache:6379", "s3cr3tpw"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----", "a1B2"),
        (f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n", "a1B2"),
        (f"{KEY_BODY}\n-----END OPENSSH PRIVATE KEY-----", "a1B2"),
        ("DB_PASSWORD=hunterhunter", "hunterhunter"),
        ('export STRIPE_SECRET="correct horse battery"', "correct horse"),
        ('{"api_key": "v3ry-s3cret-value"}', "v3ry-s3cret-value"),
        ("password: Tr0ub4dor&3", "Tr0ub4dor"),
        (f"SG.{LETTERS[:22]}.{LETTERS}", LETTERS[:22]),
        (f"ya29.{LETTERS}", LETTERS),
        (f"https://hooks.slack.com/services/T0/B0/{LETTERS[:24]}", LETTERS[:24]),
        (f"DefaultEndpointsProtocol=https;AccountKey={LETTERS}==", LETTERS),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI"),
    ],
)
def test_a_secret_is_taken_out(text: str, secret: str) -> None:
    redacted, count = redact(text)
    assert secret not in redacted
    assert count == 1
    assert "[redacted: " in redacted


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "the password field of the form",
        "password: str",
        "token: string | null",
        "api_key = os.environ['API_KEY']",
        "api_key=settings.api_key",
        "const accessToken = await getAccessToken(user)",
        "max_tokens: 16000000",
        "tokens=123456789",
        "PRIMARY KEY (id)",
        "KEY=<your key>",
        "API_KEY=${API_KEY}",
        "SECRET_KEY=changeme",
        "https://example.org/path?x=1",
        "ssh://git@github.com/a/b.git",
        "user@example.org: hello",
        "sk-learn-compatible-estimators-in-python",
        "the file begins with -----BEGIN PRIVATE KEY----- as usual",
        "a bearer of bad news arrived unexpectedly",
        "basic internationalization",
        "monkey=business_as_usual",
        "keyboard: qwertyuiop",
        "SG.png and SG.jpg",
        '"integrity": "sha512-9fceb02d0ae598e95dc970b74767f19372d61af8ZxWq2M/3tYkQ=="',
        f"data:image/png;base64,{LETTERS}{LETTERS}",
        'checksum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"',
        "go: h1:ZxWq2M3tYkQ9fceb02d0ae598e95dc970b74767f19=",
        "nonce 0123456789abcdef0123456789abcdef",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == (text, 0)


def test_known_values_are_taken_out_wherever_they_stand() -> None:
    assert redact("a swordfish, swordfish2", frozenset({"swordfish", "swordfish2", ""})) == (
        "a [redacted: known secret], [redacted: known secret]",
        2,
    )


def test_redacting_twice_changes_nothing_more() -> None:
    once, _ = redact('API_KEY=abc12345def "password": "x1x2x3x4" postgres://a:b1@c')
    assert redact(once) == (once, 0)


HINTS = " private key----- key= "


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000 + HINTS,
        "a." * 100_000 + HINTS,
        "A" * 200_000 + HINTS,
        f"{'b64+' * 20}\n" * 3_000 + HINTS + "-----END ",
        "-----BEGIN PRIVATE KEY-----" * 500,
    ],
)
def test_no_text_makes_it_slow(text: str) -> None:
    started = process_time()
    redact(text)
    assert process_time() - started < 5


@pytest.mark.parametrize("hidden", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\U000e0041", "\x1b[31m"])
def test_what_nobody_sees_does_not_hide_a_secret(hidden: str) -> None:
    key = f"ghp_{LETTERS[:18]}{hidden}{LETTERS[18:36]}"
    assert Redactor().text(f"use {key}") == "use [redacted: token]"


def test_what_joins_letters_of_other_scripts_stays() -> None:
    family, persian = "\U0001f468\u200d\U0001f469", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert Redactor().text(f"{family} {persian}") == f"{family} {persian}"


@pytest.mark.parametrize("forged", ["</midstream-handoff 0>", "<MIDSTREAM-HANDOFF x>", "</ midstream-handoff>"])
def test_a_forged_mark_is_no_mark_any_more(forged: str) -> None:
    assert "<" not in Redactor().text(forged)


def test_values_of_env_files_are_secrets_where_they_look_like_chance() -> None:
    innocent = "HOST=db.internal.example\nPORT=5432\nHOME_DIR=/home/someone1\n# C=no"
    text = f"export A=zq8Plain4711Value\nB='x9K2mQ7pL4vT'\n{innocent}"
    assert assigned(text) == {"zq8Plain4711Value", "x9K2mQ7pL4vT"}


@pytest.mark.parametrize(
    "value",
    [
        "short1A",
        "aaaaaaaaaaaaaaa1",
        "only-plain-words-here",
        "/usr/lib/python3",
        "2026-12-02T09:00:00Z",
        "10.0.0.1:8080",
    ],
)
def test_innocent_values_are_not_looked_for(value: str) -> None:
    assert not secret_like(value)
