"""Manifests that several cases use."""

from __future__ import annotations


def deployment(container: str = "", *, pod: str = "", spec: str = "", template: str = "") -> str:
    """A Deployment of one container; the arguments are members of flow mappings, without braces."""
    parts = [part for part in ("name: main, image: app:1", container) if part]
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: $NAME}}
spec:
  {spec}
  selector: {{matchLabels: {{app: $NAME}}}}
  template:
    metadata: {{labels: {{app: $NAME{template}}}}}
    spec: {{containers: [{{{", ".join(parts)}}}]{pod}}}
"""


CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: $NAME}
data: {a: "1", b: two}
"""

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: $NAME}
spec:
  selector: {app: $NAME}
  ports: [{name: web, port: 80}, {name: admin, port: 81}]
"""

SHARED = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string}
              share: {type: number}
              port: {x-kubernetes-int-or-string: true}
              rules:
                type: array
                items:
                  type: object
                  properties: {host: {type: string}, weight: {type: integer}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: settings}
data: {a: MQ==}
"""
"""What all cases need: a namespace, what they refer to, and the kind of their custom resources (rules are atomic)."""


def widget(spec: str) -> str:
    return f"""\
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {{name: $NAME}}
spec: {{{spec}}}
"""
