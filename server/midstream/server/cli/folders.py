"""Where Midstream keeps its data, and where its configuration file is."""

from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """Return the platform's folder for the data of this user."""
    return Path(platformdirs.user_data_dir("midstream", appauthor=False))


def config_file() -> Path:
    """Return the configuration file of this user."""
    return Path(platformdirs.user_config_dir("midstream", appauthor=False)) / "config.toml"
