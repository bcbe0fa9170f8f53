"""YAML request bodies, read as the API server reads them: YAML 1.1 scalars, text keys, JSON values."""

from __future__ import annotations

import json
from typing import Any

import yaml

from kadm.repo.scalars import json_scalar, key_scalar, plain_scalar, tagged_scalar

MERGE = "<<"


def read_yaml(raw: bytes) -> Any:
    """The value of the first document; None for an empty one. Raises yaml.YAMLError or ValueError."""
    if raw.lstrip()[:1] == b"{":  # most clients send JSON, which reads much faster as such
        try:
            return json.loads(raw)
        except json.JSONDecodeError:
            pass  # a flow mapping that is no JSON
    loader = yaml.SafeLoader(raw)
    try:
        node = loader.get_node() if loader.check_node() else None
    finally:
        loader.dispose()
    return None if node is None else _value(node)


def _value(node: yaml.Node) -> Any:
    match node:
        case yaml.ScalarNode():
            return json_scalar(_scalar(node))
        case yaml.SequenceNode():
            return [_value(item) for item in node.value]
        case yaml.MappingNode():
            return _mapping(node)
        case _:
            raise yaml.YAMLError(f"unexpected node {node.tag}")


def _scalar(node: yaml.ScalarNode) -> Any:
    if node.style is not None:
        return node.value
    if not node.tag.startswith("tag:yaml.org,2002:"):
        return tagged_scalar(node.tag, node.value)
    return plain_scalar(node.value)


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.YAMLError("a key must be a scalar")
        if key.style is None and key.value == MERGE:
            parts = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for part in reversed(parts):
                if not isinstance(part, yaml.MappingNode):
                    raise yaml.YAMLError("map merge requires map or sequence of maps as the value")
                merged.update(_mapping(part))
        else:
            own[key_scalar(_scalar(key))] = _value(value)
    return {**merged, **own}
