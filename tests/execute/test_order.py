"""Each kind after what it needs."""

from __future__ import annotations

import random

from kadm.execute.order import rank
from kadm.model.objects import ObjectKey

IN_ORDER = [
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("", "Namespace"),
    ("", "Secret"),
    ("apps", "Deployment"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
]


def test_kinds_are_ordered_from_any_disorder() -> None:
    keys = [ObjectKey(group, kind, "", "a") for group, kind in IN_ORDER]
    shuffled = random.Random(7).sample(keys, len(keys))
    assert sorted(shuffled, key=rank) == keys


def test_custom_objects_come_after_workloads() -> None:
    assert rank(ObjectKey("example.com", "Thing", "", "a")) > rank(ObjectKey("apps", "StatefulSet", "", "a"))
