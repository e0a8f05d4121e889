"""What `provider/list` says of the real Codex."""

from pathlib import Path

from support.codex import codex_provider
from support.editor import Editor, editor_on


async def test_a_codex_that_works_is_listed_with_its_models_and_efforts(editor: Editor) -> None:
    listed = await editor.call("provider/list")
    (codex,) = [provider for provider in listed.providers if provider.kind == "codex"]
    assert (codex.installed, codex.authenticated, codex.problem) == (True, True, None)
    assert codex.version is not None
    assert [(model.id, model.efforts) for model in codex.models] == [
        ("rehearsal-model", ("low", "high")),
        ("other-model", ("low", "high")),
    ]
    assert codex.capabilities.handoff.channel == "nativeData"
    assert codex.capabilities.rollback


async def test_a_codex_without_a_login_is_listed_with_what_to_do(
    tmp_path: Path, codex_env: dict[str, str], workspace: Path
) -> None:
    config = Path(codex_env["CODEX_HOME"]) / "config.toml"
    config.write_text(config.read_text().replace("requires_openai_auth = false", "requires_openai_auth = true"))
    providers = {"codex": codex_provider(codex_env)}
    async with editor_on(tmp_path / "data", config={"providers": providers}) as editor:
        listed = await editor.call("provider/list")
        (codex,) = [provider for provider in listed.providers if provider.kind == "codex"]
        assert (codex.installed, codex.authenticated) == (True, False)
        assert codex.problem is not None
        assert (codex.problem.message, codex.problem.action) == ("Codex is not logged in.", "Run: codex login")
