"""A fresh thread for every test."""

import pytest

from support.graph import Story


@pytest.fixture
def story() -> Story:
    return Story()
