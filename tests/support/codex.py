"""The real Codex for tests: a private home whose only model is the tests' own, and no way to any other."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.models.responses import HARNESS
from support.models.server import ModelServer

ROOT = Path(__file__).parents[2]
CODEX = ROOT / ".agents" / "node_modules" / ".bin" / "codex"
MODEL = "rehearsal-model"
CONFIG = """
model = "{model}"
model_provider = "loopback"
model_catalog_json = "{catalog}"
check_for_update_on_startup = false
suppress_unstable_features_warning = true

[model_providers.loopback]
name = "Loopback"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
default_mode_request_user_input = true

[tools.update_plan]
enabled = true
"""


def model_entry(slug: str = MODEL) -> dict[str, Any]:
    """Return a model of the catalogue: one that has every tool as a function of its own."""
    return {
        "slug": slug,
        "display_name": slug.replace("-", " ").title(),
        "description": "Obeys directives.",
        "default_reasoning_level": "low",
        "supported_reasoning_levels": [{"effort": effort, "description": effort} for effort in ("low", "high")],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
        "base_instructions": "Obey.",
        "default_reasoning_summary": "none",
        "support_verbosity": False,
        "apply_patch_tool_type": "freeform",
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "supports_parallel_tool_calls": False,
        "context_window": 200_000,
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"],
    }


def codex_home(folder: Path, model: ModelServer, slugs: Iterable[str] = (MODEL, "other-model")) -> dict[str, str]:
    """Make a private home for Codex and return the environment that leads there."""
    home = folder / "codex-home"
    home.mkdir(parents=True)
    catalog = home / "catalog.json"
    catalog.write_text(json.dumps({"models": [model_entry(slug) for slug in slugs]}))
    (home / "config.toml").write_text(CONFIG.format(model=MODEL, catalog=catalog, url=model.url))
    return {"HOME": str(folder), "CODEX_HOME": str(home), "OPENAI_API_KEY": ""}


def codex_provider(env: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return the configuration of the real Codex in that home."""
    assert CODEX.exists(), "The real Codex is not installed: run .ci/install-agents."
    return {"driver": "codex", "command": [str(CODEX), "app-server"], "env": env, **more}


def handed_over(body: dict[str, Any]) -> str:
    """Return all context without authority that a request brought, in order, as one text."""
    return "".join(
        item["output"] for item in body["input"] if item["type"] == "function_call_output" and "call_id" not in item
    )


def user_texts(body: dict[str, Any]) -> list[str]:
    """Return what a request says in the user's role, without what Codex itself put there."""
    texts = [
        part["text"]
        for item in body["input"]
        if item["type"] == "message" and item["role"] == "user"
        for part in item["content"]
    ]
    return [text for text in texts if not HARNESS.match(text)]


def is_compaction(body: dict[str, Any]) -> bool:
    """Return whether a request asks the model to compact the conversation."""
    return bool(user_texts(body)) and "CONTEXT CHECKPOINT COMPACTION" in user_texts(body)[-1]
