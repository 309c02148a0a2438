from __future__ import annotations

import copy
import math

import pytest

from hookrouter import Execution, HookResult, InvalidReply, OtherData, Registration, Run, _json, _names
from hookrouter._identity import context_name
from hookrouter.display import visible

RUN = Run("e", "c", 0, "", (), "")


def test_defaults_are_the_specifications():
    result = HookResult()
    assert (result.action, result.approval_timeout, result.approval_default) == ("continue", 300.0, "deny")
    assert result.to_dict() == {"action": "continue"}


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "Deny"}, {"action": None}, {"data": []}, {"reason": 5}, {"ephemeral": 1}, {"approval_timeout": "5"},
        {"approval_timeout": True}, {"approval_timeout": math.inf}, {"approval_options": ["a", 1]},
        {"approval_options": "ab"}, {"context_injection_role": "tool"}, {"user_message_level": "debug"},
        {"user_message_source": 5}, {"context_injections": [{"content": "x"}]},
    ],
)  # fmt: skip
def test_nothing_is_converted(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        HookResult(**fields)


def test_a_result_that_was_changed_is_checked_again():
    result = HookResult()
    result.action = "allow"
    with pytest.raises(ValueError, match="action"):
        HookResult.of(result)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"action":"deny"', b'{"action":"deny","action":"continue"}', b"{}x", b"\xff"]
)
def test_what_is_no_result_is_no_answer(body):
    with pytest.raises(InvalidReply):
        HookResult.parse(body)


@pytest.mark.parametrize(
    "body",
    [
        b"{}", b"null", b'{"action":"allow"}', b'{"action":"continue","data":[]}', b'{"action":"pending"}',
        b'{"action":"deny","action":"continue"}', b'{"action":"continue","messages":[1]}',
        b'{"action":"continue","context_injections":[{"content":"x","role":"tool"}]}',
        b'{"action":"continue","context_injections":[{"content":5}]}',
        b'{"action":"continue","injected_tokens":-1}', b'{"action":"continue","approval":[]}',
        b'{"action":"continue"' + b',"a":' + b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_verdict_permits_nothing(body):
    with pytest.raises(InvalidReply):
        Execution.parse(body, RUN)


@pytest.mark.parametrize(
    "members",
    [
        b'"data":{"tool_input":{"command":"ls","command":"rm"}}',
        b'"data":{"list":[{"a":1,"a":1}]}',
        b'"data":{"a":1},"approval":{"id":"x","data_sha256":"00","data_sha256":"11"}',
    ],
)
def test_a_name_twice_is_refused_at_any_depth(members):
    with pytest.raises(InvalidReply, match="twice"):
        Execution.parse(b'{"action":"continue",' + members + b"}", RUN)
    with pytest.raises(ValueError, match="twice"):
        _json.decode(b"{" + members + b"}")


def test_a_granted_verdict_is_compared_byte_for_byte():
    digest = "5c7cdcd22f0a1e3d8f1ac1d9b8a4e5e0"
    body = b'{"action":"continue","data":{"a": 1.0},"approval":{"id":"x","data_sha256":"%s"}}'
    with pytest.raises(OtherData):
        Execution.parse(body % digest.encode(), RUN)
    import hashlib

    good = Execution.parse(body % hashlib.sha256(b'{"a": 1.0}').hexdigest().encode(), RUN)
    assert good.permitted
    assert good.data_json == b'{"a": 1.0}'


def test_an_execution_is_true_only_where_it_permits():
    assert Execution("continue", RUN)
    assert not Execution("deny", RUN)
    assert not Execution("pending", RUN)


def test_json_is_exact_or_refused():
    assert _json.decode(b"[9007199254740993, 1e-7]") == [9007199254740993, 1e-7]
    for text in (b"NaN", b'{"a":1e400,"a":1}', b"[Infinity]", b"[" * 100_000, b"\xff", b"{} {}"):
        with pytest.raises(ValueError):
            _json.decode(text)
    for value in ({"a": math.nan}, {"a": object()}, {"a": {1, 2}}, "\ud800"):
        with pytest.raises(ValueError):
            _json.encode(value)


def test_numbers_beyond_a_float_keep_their_digits():
    long = "-" + "1" * 5000
    text = f'{{"a":[1e400,{long},{{"b":-2e999}}],"é":1.5,"c":null}}'
    read = copy.deepcopy(_json.decode(text))
    assert _json.encode(read).decode() == text
    assert read["a"][0] > 10**300 > read["a"][1]
    assert str(read["a"][:2]) == f"[1e400, {long}]"
    for text in (b'{"data":{"a":1e400}}', b'{"data":%s}' % long.encode()):  # a tool would run with another number
        with pytest.raises(ValueError):
            _json.members(text)
    read["a"].append(read)
    with pytest.raises(ValueError):
        _json.encode(read)


def test_names():
    for name in ("", "a:", "a b", "a.b", "a" * 65, ":".join("abcdefghi"), "a\n"):
        with pytest.raises(ValueError):
            _names.check_event(name)
    assert _names.check_pattern("tool:*") == "tool:*"
    assert _names.escape('a "%é\n') == "a%20%22%25%C3%A9%0A"
    assert _names.unescape(_names.escape("ü/?#[]@!$&'()*+,;=")) == "ü/?#[]@!$&'()*+,;="
    assert _names.check_hook_id(_names.slug("<Lambda> ÄÖ")).startswith("lambda")
    assert len(_names.challenge()) == 32
    assert _names.token() != _names.token()


def test_contexts_are_named_as_the_router_names_them():
    for server, want in {
        "nats://127.0.0.1:4222": "hookrouter-127.0.0.1-4222-agent", "nats://localhost": "hookrouter-127.0.0.1-4222-agent",
        "tls://[::1]:4333": "hookrouter-127.0.0.1-4333-agent", "127.0.0.1:4222": "hookrouter-127.0.0.1-4222-agent",
        "nats://NATS.example.com:4222": "hookrouter-nats.example.com-4222-agent",
        "nats://[2001:db8::1]:4222": "hookrouter-2001_db8__1-4222-agent", "": "", "nats://": "",
    }.items():  # fmt: skip
        assert context_name(server, "agent") == want


def test_foreign_text_can_not_act_on_a_terminal():
    assert visible("a\x1b[2J\u202eb\n[info] hook:x: forged") == "a\\x1b[2J\\u{202e}b\n    [info] hook:x: forged"


def test_registrations_say_what_is_wrong():
    for fields in (
        {"id": "A", "events": ["x"]}, {"id": "a"}, {"id": "a", "events": "x"}, {"id": "a", "events": ["x"], "channels": ["y"]},
        {"id": "a", "events": ["x"], "on_failure": "open"}, {"id": "a", "events": ["x"], "timeout_ms": 30_001},
        {"id": "a", "events": ["x"], "priority": 1.5}, {"id": "a", "events": ["x y"]}, {"id": "a", "channels": ["x:y"]},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Registration(**fields)
