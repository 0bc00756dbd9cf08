"""Every error that the package raises on purpose, so that doors can turn each family into words once.

ErstError
 +- UsageError        the question cannot be asked so (exit 2, HTTP 422, MCP tool error)
 |   +- StaleCursor   the page's snapshot is gone (HTTP 409)
 +- ConfigError       config.toml or an option is wrong
 +- NotBuilt          a documented option whose part is not built yet
 +- NotFound          no such session, message or agent (HTTP 404)
 +- Refused           a path outside the known roots (HTTP 403)
 +- StoreError        ERST_HOME cannot be used: unwritable, full, locked, foreign
 +- SourceError       one source cannot be read; it costs only itself
"""

__all__ = [
    "ConfigError",
    "ErstError",
    "NotBuilt",
    "NotFound",
    "Refused",
    "SourceError",
    "StaleCursor",
    "StoreError",
    "UsageError",
]


class ErstError(Exception):
    """Base of all: its text is one sentence a person can act on."""


class UsageError(ErstError):
    pass


class StaleCursor(UsageError):
    pass


class ConfigError(ErstError):
    pass


class NotBuilt(ErstError):
    pass


class NotFound(ErstError):
    pass


class Refused(ErstError):
    pass


class StoreError(ErstError):
    pass


class SourceError(ErstError):
    pass
