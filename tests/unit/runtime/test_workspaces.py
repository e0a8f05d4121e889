"""Workspaces: which URIs name a folder that is there."""

from pathlib import Path

import pytest

from midstream.protocol.errors import MidstreamError
from midstream.server.runtime.workspaces import workspace_path


def test_a_folder_is_known_by_its_real_path(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert workspace_path(folder.as_uri()) == workspace_path(link.as_uri()) == folder.resolve()


@pytest.mark.parametrize(
    "uri",
    ["", "folder", "https://example.org/w", "file://elsewhere/w", "file://[x", "file:///%00", "file:///not/there"],
)
def test_what_names_no_folder_here_is_refused(uri: str) -> None:
    with pytest.raises(MidstreamError) as refused:
        workspace_path(uri)
    assert (refused.value.kind, refused.value.data["workspace"]) == ("workspaceInvalid", uri)


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(MidstreamError, match="not a folder"):
        workspace_path(file.as_uri())
