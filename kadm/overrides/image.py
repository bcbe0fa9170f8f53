"""The image overrider (propagation spec 1.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from kadm.model.objects import JsonObject, JsonValue, Path
from kadm.model.override import ImageOperation, ImageOverrider
from kadm.overrides.error import OverrideError
from kadm.overrides.image_reference import ImageReference, is_digest, is_tag, parse_image
from kadm.overrides.pods import containers
from kadm.overrides.pointer import Patch, pointer

_INDEX = re.compile(r"[0-9]{1,9}", re.ASCII)


def image_patches(obj: JsonObject, overriders: Sequence[ImageOverrider]) -> tuple[Patch, ...]:
    """One replace per image that an overrider names, sorted by path as text, also where the image stays the same."""
    images: dict[str, str] = {}
    for overrider in overriders:
        for path, image in _targets(obj, overrider):
            images[path] = _changed(path, images.get(path, image), overrider.operations)
    return tuple(Patch("replace", path, images[path]) for path in sorted(images))


def _targets(obj: JsonObject, overrider: ImageOverrider) -> Iterable[tuple[str, str]]:
    """Pointer and image as the object has it."""
    if overrider.image_path:
        return [(overrider.image_path, _resolve(obj, overrider.image_path))]
    names = overrider.container_names
    return [
        (pointer((*path, "image")), str(container.get("image") or ""))
        for path, container in containers(obj)
        if not names or container.get("name") in names
    ]


def _resolve(obj: JsonObject, image_path: str) -> str:
    """The text at ``image_path``: segments are keys as they stand, without unescaping, and plain list indexes."""
    if not image_path.startswith("/"):
        raise OverrideError(f"imagePath {image_path!r} does not start with /")
    found: JsonValue = obj
    walked: Path = ()
    for segment in image_path[1:].split("/"):
        if isinstance(found, dict):
            found = found.get(segment)
        elif isinstance(found, list):
            index = int(segment) if _INDEX.fullmatch(segment) else len(found)
            if index >= len(found):
                raise OverrideError(f"imagePath {image_path}: {segment!r} is no index of the list at {pointer(walked)}")
            found = found[index]
        else:
            raise OverrideError(f"imagePath {image_path}: {pointer(walked)} holds no object or list")
        walked = (*walked, segment)
    if not isinstance(found, str):
        raise OverrideError(f"imagePath {image_path} does not point to text")
    return found


def _changed(path: str, image: str, operations: Iterable[ImageOperation]) -> str:
    try:
        reference = parse_image(image)
        for operation in operations:
            reference = _operated(reference, operation)
    except OverrideError as error:
        raise OverrideError(f"image at {path}: {error}") from error
    return str(reference)


def _operated(image: ImageReference, operation: ImageOperation) -> ImageReference:
    part, value = operation.image_component, operation.value
    match operation.operator:
        case "addIfAbsent":
            if not value:
                raise OverrideError(f"addIfAbsent of {part} needs a value")
            if _part(image, operation):
                raise OverrideError(f"addIfAbsent of {part}: there is one already")
        case "overwrite":
            pass
        case "delete":
            value = ""
        case _:
            assert_never(operation.operator)
    match part:
        case "Registry":
            return replace(image, registry=value)
        case "Repository":
            return replace(image, repository=value)
        case "Tag":
            if value and not is_tag(value):
                raise OverrideError(f"{value!r} is no valid tag")
            return replace(image, tag=value)
        case "Digest":
            if value and not is_digest(value):
                raise OverrideError(f"{value!r} is no valid digest")
            return replace(image, digest=value)
        case _:
            assert_never(part)


def _part(image: ImageReference, operation: ImageOperation) -> str:
    match operation.image_component:
        case "Registry":
            return image.registry
        case "Repository":
            return image.repository
        case "Tag":
            return image.tag
        case "Digest":
            return image.digest
        case _:
            assert_never(operation.image_component)
