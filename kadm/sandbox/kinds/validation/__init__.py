"""Validation of objects: the faults of a new one, and of a replacement.

A function named after a kind gives the faults of a new object of it; one that ends in ``_update`` those of a
replacement (first) for an object (second). Both get objects with their defaults filled in, in the storage version.

Source: the validation packages of Kubernetes 1.36 for their rules and texts; far from all of their rules are here, but
those that a manifest written by hand tends to break.
"""

from kadm.sandbox.kinds.validation.table import validate_create, validate_update

__all__ = ["validate_create", "validate_update"]
