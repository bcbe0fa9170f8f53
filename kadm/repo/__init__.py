"""The repository: YAML, loading, validation, git."""

from kadm.repo.load import load

__all__ = ["load"]
