"""The version of the package; the build reads it here, so that it is known without installed metadata, too."""

from __future__ import annotations

VERSION = "0.1.0"
