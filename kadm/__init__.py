"""kadm runs a fleet of Kubernetes clusters from a git repository, with no control plane of its own."""

__version__ = "0.1.0"
