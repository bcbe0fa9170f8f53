"""The repository: YAML, loading, validation, git."""

from kadm.repo.load import NoFleet, load

__all__ = ["NoFleet", "load"]
