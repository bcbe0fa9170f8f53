"""Faults of CustomResourceDefinitions and webhook configurations."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.field_errors import FieldError, duplicate, forbidden, invalid_value, not_supported, required
from kadm.sandbox.kinds.validation import names, values

_PROTECTED = ("k8s.io", "kubernetes.io")
_APPROVAL = "api-approved.kubernetes.io"
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")


def crd(obj: JsonObject) -> list[FieldError]:
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    group, wanted = spec.get("group") or "", spec["names"]
    errors: list[FieldError] = []
    if name != f"{wanted.get('plural')}.{group}":
        errors.append(invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    if not group:
        errors.append(required("spec.group"))
    else:
        errors += [invalid_value("spec.group", group, each) for each in names.dns_subdomain(group)]
        if "." not in group:
            errors.append(invalid_value("spec.group", group, "should be a domain with at least one dot"))
    errors += _approval(obj, group)
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        if spec.get("scope"):
            errors.append(not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
        else:
            errors.append(required("spec.scope"))
    errors += _versions(spec.get("versions") or ())
    errors += _crd_names(wanted)
    return errors


def crd_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = crd(new)
    established = any(
        each["type"] == "Established" and each["status"] == "True" for each in old["status"].get("conditions") or ()
    )
    if established:
        spec, was = new["spec"], old["spec"]
        errors += values.unchanged(spec.get("scope"), was.get("scope"), "spec.scope")
        errors += values.unchanged(spec["names"].get("kind"), was["names"].get("kind"), "spec.names.kind")
    errors += values.unchanged(new["spec"].get("group"), old["spec"].get("group"), "spec.group")
    plural, held = new["spec"]["names"].get("plural"), old["spec"]["names"].get("plural")
    errors += values.unchanged(plural, held, "spec.names.plural")
    listed = {version["name"] for version in new["spec"].get("versions") or ()}
    for index, version in enumerate(old["status"].get("storedVersions") or ()):
        if version not in listed:
            field = f"status.storedVersions[{index}]"
            why = "missing from spec.versions; "
            why += f"{version} was previously a storage version, and must remain in spec.versions until a storage "
            why += "migration ensures no data remains persisted in "
            why += f"{version} and removes {version} from status.storedVersions"
            errors.append(invalid_value(field, version, why))
    return errors


def _approval(obj: JsonObject, group: str) -> list[FieldError]:
    if not any(group == domain or group.endswith(f".{domain}") for domain in _PROTECTED):
        return []
    if (obj["metadata"].get("annotations") or {}).get(_APPROVAL):
        return []
    why = "protected groups must have approval annotation "
    why += f'"{_APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111'
    return [required(f"metadata.annotations[{_APPROVAL}]", why)]


def _crd_names(wanted: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    for key in ("plural", "singular"):
        name = wanted.get(key)
        if not name:
            if key == "plural":
                errors.append(required(f"spec.names.{key}"))
            continue
        errors += [invalid_value(f"spec.names.{key}", name, each) for each in names.dns_label(name)]
    for key in ("kind", "listKind"):
        name = wanted.get(key)
        if not name:
            errors.append(required(f"spec.names.{key}"))
            continue
        for each in names.dns_label(name.lower()):
            errors.append(
                invalid_value(f"spec.names.{key}", name, f"may have mixed case, but should otherwise match: {each}")
            )
    if wanted.get("kind") and wanted.get("kind") == wanted.get("listKind"):
        errors.append(invalid_value("spec.names.listKind", wanted["listKind"], "kind and listKind may not be the same"))
    for index, name in enumerate(wanted.get("shortNames") or ()):
        errors += [invalid_value(f"spec.names.shortNames[{index}]", name, each) for each in names.dns_label(name)]
    return errors


def _versions(versions: Iterable[JsonObject]) -> list[FieldError]:
    listed = list(versions)
    errors: list[FieldError] = []
    if not listed:
        return [required("spec.versions", "must have exactly one version marked as storage version")]
    storing = [version for version in listed if version["storage"]]
    seen: set[str] = set()
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in listed]
    shared = all(schema == schemas[0] for schema in schemas)
    for index, (version, schema) in enumerate(zip(listed, schemas, strict=True)):
        at = f"spec.versions[{index}]"
        name = version.get("name") or ""
        errors += [invalid_value(f"{at}.name", name, each) for each in names.dns_label(name)]
        if name in seen:
            errors.append(duplicate(f"{at}.name", name))
        seen.add(name)
        if schema is None:
            errors.append(required(f"{at}.schema.openAPIV3Schema", "schemas are required"))
        elif not shared or index == 0:  # a schema that all versions have is told of once
            field = "spec.validation.openAPIV3Schema" if shared else f"{at}.schema.openAPIV3Schema"
            errors += _root_schema(schema, field)
        errors += _columns(version.get("additionalPrinterColumns") or (), f"{at}.additionalPrinterColumns")
    if len(storing) != 1:
        why = "must have exactly one version marked as storage version"
        errors.append(invalid_value("spec.versions", listed, why))
    return errors


def _columns(columns: Iterable[JsonObject], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, column in enumerate(columns):
        at = f"{field}[{index}]"
        if not column.get("name"):
            errors.append(required(f"{at}.name"))
        if not column.get("type"):
            errors.append(required(f"{at}.type", "must be one of boolean,date,integer,number,string"))
        elif column["type"] not in _COLUMN_TYPES:
            errors.append(
                invalid_value(f"{at}.type", column["type"], "must be one of boolean,date,integer,number,string")
            )
        if not column.get("jsonPath"):
            errors.append(required(f"{at}.jsonPath"))
    return errors


def _root_schema(schema: JsonValue, field: str) -> list[FieldError]:
    errors = _structural(schema, field, root=True)
    kind = schema.get("type")
    if not kind:
        errors.append(required(f"{field}.type", "must not be empty at the root"))
    elif kind != "object":
        errors.append(invalid_value(f"{field}.type", kind, "must be object at the root"))
    return errors


def _structural(schema: JsonValue, field: str, *, root: bool = False, what: str = "") -> list[FieldError]:
    """What keeps a schema from being structural; ``what`` names the kind of place it stands in."""
    if not isinstance(schema, dict):
        return []
    errors: list[FieldError] = []
    free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not root and not schema.get("type") and not free:
        errors.append(required(f"{field}.type", f"must not be empty for specified {what}"))
    if schema.get("type") == "array" and "items" not in schema:
        errors.append(required(f"{field}.items", "must be specified"))
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(f"{field}.uniqueItems", why))
    if schema.get("$ref"):
        errors.append(forbidden(f"{field}.$ref", "$ref is not supported"))
    if schema.get("properties") and schema.get("additionalProperties") not in (None, False):
        errors.append(
            forbidden(f"{field}.additionalProperties", "additionalProperties and properties are mutual exclusive")
        )
    for name, sub in (schema.get("properties") or {}).items():
        errors += _structural(sub, f"{field}.properties[{name}]", what="object fields")
    errors += _structural(schema.get("items"), f"{field}.items", what="array items")
    return errors + _structural(
        schema.get("additionalProperties"), f"{field}.additionalProperties", what="object fields"
    )


def webhooks(obj: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        errors += _webhook(webhook, f"webhooks[{index}]")
    return errors


def _webhook(webhook: JsonObject, field: str) -> list[FieldError]:
    name = webhook.get("name") or ""
    errors = [invalid_value(f"{field}.name", name, each) for each in names.dns_subdomain(name)]
    if not errors and name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        errors.append(invalid_value(f"{field}.name", name, why))
    if not webhook.get("admissionReviewVersions"):
        why = "must specify one of v1, v1beta1"
        errors.append(required(f"{field}.admissionReviewVersions", why))
    errors += values.one_of(webhook.get("failurePolicy"), f"{field}.failurePolicy", ("Fail", "Ignore"))
    errors += values.one_of(webhook.get("matchPolicy"), f"{field}.matchPolicy", ("Equivalent", "Exact"))
    effects = webhook.get("sideEffects")
    if effects is None:
        errors.append(required(f"{field}.sideEffects", "must specify one of None, NoneOnDryRun"))
    else:
        errors += values.one_of(effects, f"{field}.sideEffects", ("None", "NoneOnDryRun"))
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid_value(f"{field}.timeoutSeconds", timeout, why))
    client = webhook.get("clientConfig") or {}
    if (client.get("url") is None) == (client.get("service") is None):
        errors.append(required(f"{field}.clientConfig", "exactly one of url or service is required"))
    for key in ("namespaceSelector", "objectSelector"):
        errors += values.selector(webhook.get(key), f"{field}.{key}")
    return errors
