"""Validation of objects: the faults of a new one, and of a replacement.

Source: the validation packages of Kubernetes 1.36 for their rules and texts; far from all of their rules are here, but
those that a manifest written by hand tends to break.
"""

from kadm.sandbox.kinds.validation.table import validate_create, validate_update

__all__ = ["validate_create", "validate_update"]
