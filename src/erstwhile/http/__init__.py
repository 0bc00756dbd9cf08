"""The HTTP door: the library as JSON on this machine. Only `erst serve` loads it.

`parameters` reads a query string into typed values, `problem` turns whatever goes wrong into problem+json, `guard`
decides who may ask, `worker` runs the library's calls in a thread, `routes` ties them together, `serve` is the process
around them.
"""

from __future__ import annotations

from erstwhile.http.routes import app
from erstwhile.http.serve import main

__all__ = ["app", "main"]
