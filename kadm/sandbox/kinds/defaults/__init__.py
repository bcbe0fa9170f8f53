"""Defaults of the built-in kinds: what the server fills in where a manifest says nothing.

Each function fills one kind's object in place; the caller owns it. Source: the ``SetDefaults_*`` functions and
``+default`` markers of Kubernetes 1.36, as far as their fields are not behind a feature gate that is off.
"""

from kadm.sandbox.kinds.defaults.table import set_defaults

__all__ = ["set_defaults"]
