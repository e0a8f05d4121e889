"""What a Codex says of its models and its login."""

from collections.abc import Iterator

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import ProviderModel
from midstream.server.providers.reading import member, members, text_of
from midstream.server.providers.requests import Requests


async def list_models(requests: Requests) -> tuple[ProviderModel, ...]:
    """Return the models that Codex offers, with the efforts that each can be asked for."""
    return tuple(_models(await requests.call("model/list", {})))


def _models(listed: JsonObject) -> Iterator[ProviderModel]:
    for model in members(listed, "data"):
        model_id = text_of(model, "model", "id")
        if model_id is not None and model.get("hidden") is not True:
            efforts = (text_of(one, "reasoningEffort") for one in members(model, "supportedReasoningEfforts"))
            yield ProviderModel(
                id=model_id,
                label=text_of(model, "displayName") or model_id,
                efforts=tuple(effort for effort in efforts if effort is not None) or None,
            )


async def logged_in(requests: Requests) -> bool:
    """Return whether Codex has what it needs to reach its model."""
    account = await requests.call("account/read", {})
    return account.get("requiresOpenaiAuth") is not True or bool(member(account, "account"))
