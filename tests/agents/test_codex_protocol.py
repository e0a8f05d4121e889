"""The protocol of the installed Codex, as it describes it itself, has all that the driver uses and knows."""

import json
import os
import subprocess
from typing import Any

import pytest

from midstream.server.providers.codex.known import IGNORED, USED
from midstream.server.providers.codex.policy import thread_policy, turn_policy
from midstream.server.providers.codex.protocol import parse_item
from midstream.server.providers.codex.requirements import NEEDED, TESTED_WITH
from midstream.server.providers.codex.requirements import USED as USED_METHODS
from support.codex import CODEX

Schema = dict[str, Any]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """All definitions of the protocol."""
    folder = tmp_path_factory.mktemp("schema")
    command = [str(CODEX), "app-server", "generate-json-schema", "--experimental", "--out", str(folder)]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "CODEX_HOME": str(folder)}
    subprocess.run(command, env=env, check=True, capture_output=True)
    found: Schema = json.loads((folder / "codex_app_server_protocol.schemas.json").read_text())
    return found["definitions"]


def methods(schema: Schema, name: str) -> set[str]:
    """Return the methods of a union of messages."""
    return {arm["properties"]["method"]["enum"][0] for arm in schema[name]["oneOf"]}


def fields(schema: Schema, name: str) -> set[str]:
    """Return the fields of a class."""
    return set(schema["v2"][name]["properties"])


def test_the_installed_version_is_the_one_that_the_driver_names() -> None:
    assert json.loads((CODEX.parents[1] / "@openai/codex/package.json").read_text())["version"] == TESTED_WITH


def test_every_method_and_notification_that_the_driver_knows_is_there(schema: Schema) -> None:
    others = {"initialize", "thread/start", "model/list", "account/read"}
    assert {*NEEDED, *USED_METHODS, *others} <= methods(schema, "ClientRequest")
    assert {*USED, *IGNORED, "account/rateLimits/updated"} <= methods(schema, "ServerNotification")
    asked = {name for name in methods(schema, "ServerRequest") if "request" in name.lower()}
    assert "item/commandExecution/requestApproval" in asked


def test_every_field_that_the_driver_sends_is_there(schema: Schema) -> None:
    opening = {"cwd", "model", "modelProvider", "config", *thread_policy("readOnly")}
    assert {*opening, "ephemeral"} <= fields(schema, "ThreadStartParams")
    assert {*opening, "threadId", "excludeTurns"} <= fields(schema, "ThreadResumeParams")
    assert {*opening, "threadId", "lastTurnId", "excludeTurns"} <= fields(schema, "ThreadForkParams")
    turn = {"threadId", "input", "additionalContext", "clientUserMessageId", "model", "effort"}
    assert {*turn, *turn_policy("readOnly", {})} <= fields(schema, "TurnStartParams")
    assert {"threadId", "expectedTurnId", "clientUserMessageId", "input"} <= fields(schema, "TurnSteerParams")
    assert {"threadId", "beforeTurnId"} <= fields(schema, "ThreadRevertParams")


def test_the_driver_knows_every_type_of_item(schema: Schema) -> None:
    types = {arm["properties"]["type"]["enum"][0] for arm in schema["v2"]["ThreadItem"]["oneOf"]}
    assert {"commandExecution", "fileChange", "agentMessage"} <= types
    assert {name for name in types if parse_item({"type": name, "id": "i1"}) is None} == set()
