"""Why an override rule cannot be applied to an object."""

from __future__ import annotations


class OverrideError(Exception):
    """A rule that cannot be applied. Its text names paths and containers, but no value of the object, which may be a
    Secret."""
