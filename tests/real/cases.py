"""The table of cases: what needs nothing, what is seen, and what is removed. See ``tests.real.case`` for its terms."""

from __future__ import annotations

from tests.real.acts import five_managers, inject_authority, kubectl_apply, patch, scale, set_image, until_finished
from tests.real.case import Case
from tests.real.manifests import CONFIG, SERVICE, deployment, widget

CONTAINER = "spec.template.spec.containers[name=main]"
DEPLOYMENTS = "apps/v1/deployments"
ON_LINUX = {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}]
}

NOTHING_TO_DO = (
    Case(
        id="quantities in other words",
        manifest=deployment("resources: {limits: {cpu: 1000m, memory: 1Gi}, requests: {cpu: 0.5, memory: 1024Mi}}"),
    ),
    Case(
        id="quantities as the server says them",
        manifest=deployment("resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 500m, memory: 1Gi}}"),
    ),
    Case(
        id="ports without protocol",
        manifest=deployment("ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]") + "---\n" + SERVICE,
    ),
    Case(
        id="int or string as number",
        manifest=deployment(
            "ports: [{containerPort: 80, name: web}], readinessProbe: {httpGet: {port: 80}}",
            spec="strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 25%}}",
        )
        + "---\n"
        + SERVICE.replace("port: 80}", "port: 80, targetPort: 8080}"),
    ),
    Case(
        id="int or string as text",
        manifest=deployment(
            "ports: [{containerPort: 80, name: web}], readinessProbe: {httpGet: {port: web}}",
            spec="strategy: {rollingUpdate: {maxSurge: 50%, maxUnavailable: 0}}",
        )
        + "---\n"
        + SERVICE.replace("port: 80}", "port: 80, targetPort: web}"),
    ),
    Case(
        id="env in an order of its own",
        manifest=deployment("env: [{name: Z, value: '1'}, {name: A, value: '2'}, {name: M, value: $(Z)}]"),
    ),
    Case(
        id="null and empty",
        manifest=deployment(
            "env: [{name: A, value: ''}, {name: B}], args: [], resources: {}",
            pod=", nodeSelector: {}, hostNetwork: false, affinity: null, volumes: [{name: tmp, emptyDir: {}}]",
            spec="minReadySeconds: 0",
        ).replace("metadata: {name: $NAME}", "metadata: {name: $NAME, annotations: {}, creationTimestamp: null}")
        + "status: {}\n",
    ),
    Case(
        id="an empty ConfigMap",
        manifest="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: $NAME, labels: null}\ndata: {}\n",
    ),
    Case(
        id="a NetworkPolicy with nothing in it",
        manifest="""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: $NAME}
spec: {podSelector: {}, ingress: [], policyTypes: [Ingress]}
""",
    ),
    Case(
        id="defaulted probes",
        manifest=deployment("livenessProbe: {httpGet: {path: /, port: 80}}, startupProbe: {tcpSocket: {port: 80}}"),
    ),
    Case(
        id="stringData",
        manifest="apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {user: me, password: secret}\n",
    ),
    Case(
        id="base64 in lines",
        manifest="""\
apiVersion: v1
kind: Secret
metadata: {name: $NAME}
data:
  blob: |
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
""",
    ),
    Case(id="whole numbers with a point", manifest=deployment("ports: [{containerPort: 80.0}]", spec="replicas: 1.0")),
    Case(id="numbers of a custom resource", manifest=widget('size: "1000m", share: 1.0, port: 80')),
    Case(id="labels on pod templates", manifest=deployment(template=", version: v1, empty: ''")),
    Case(
        id="clusterIP and nodePort",
        manifest=SERVICE.replace("spec:\n", "spec:\n  type: NodePort\n"),
    ),
    Case(
        id="a headless Service",
        manifest=SERVICE.replace("spec:\n", "spec:\n  clusterIP: None\n"),
    ),
    Case(
        id="volumeClaimTemplates",
        manifest="""\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: $NAME}
spec:
  serviceName: $NAME
  selector: {matchLabels: {app: $NAME}}
  template:
    metadata: {labels: {app: $NAME}}
    spec: {containers: [{name: main, image: app:1, volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
""",
    ),
    Case(
        id="autoscaling v1",
        manifest="""\
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: $NAME}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: nobody}
  maxReplicas: 3
  targetCPUUtilizationPercentage: 50
""",
    ),
    *(
        Case(
            id=f"autoscaling {version}",
            since=since,
            until=until,
            manifest=f"""\
apiVersion: autoscaling/{version}
kind: HorizontalPodAutoscaler
metadata: {{name: $NAME}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: nobody}}
  minReplicas: 1
  maxReplicas: 3
  metrics:
  - {{type: Resource, resource: {{name: memory, target: {{type: Utilization, averageUtilization: 70}}}}}}
  - {{type: Resource, resource: {{name: cpu, target: {{type: AverageValue, averageValue: 1000m}}}}}}
""",
        )
        for version, since, until in (("v2beta2", (1, 12), (1, 25)), ("v2", (1, 23), (9, 99)))
    ),
    Case(
        id="a caBundle that another manager injected",
        manifest="""\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: $NS-$NAME}
webhooks:
- name: nobody.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/", caBundle: Cg==}
  namespaceSelector: {matchLabels: {nobody.example.com/no: such}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [events]}]
""",
        others=inject_authority,
    ),
    Case(
        id="aggregated rules",
        manifest="""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS-$NAME}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {"$NS.example.com/to": all}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS-$NAME-part, labels: {"$NS.example.com/to": all}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
""",
    ),
    Case(id="applied by kubectl before", manifest=CONFIG, first=kubectl_apply(CONFIG)),
    Case(id="applied by kubectl after", manifest=deployment(), others=kubectl_apply(deployment())),
    Case(id="five managers", manifest=deployment("env: [{name: A, value: '1'}]"), others=five_managers),
    Case(
        id="replicas that an autoscaler owns",
        manifest=deployment(spec="replicas: 1")
        + """\
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: $NAME}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: $NAME}
  maxReplicas: 3
""",
        others=scale(2),
    ),
    Case(
        id="a pod template that kubectl applied longer",
        manifest=deployment("env: [{name: A, value: '1'}]"),
        first=kubectl_apply(deployment("env: [{name: A, value: '1'}, {name: B, value: '2'}]")),
    ),
    Case(
        id="a finished Job",
        manifest="""\
apiVersion: batch/v1
kind: Job
metadata: {name: $NAME}
spec:
  ttlSecondsAfterFinished: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app:1}]}}
""",
        others=until_finished,
    ),
)

SEEN = (
    Case(
        id="env 1 to 1000m",
        manifest=deployment("env: [{name: A, value: '1'}]"),
        edited=deployment("env: [{name: A, value: 1000m}]"),
        fields=((f"{CONTAINER}.env[name=A].value", "1", "1000m"),),
    ),
    Case(
        id="data 1 to 1.0",
        manifest=CONFIG,
        edited=CONFIG.replace('"1"', '"1.0"'),
        fields=(("data.a", "1", "1.0"),),
    ),
    Case(
        id="text of a custom resource 1 to 1000m",
        manifest=widget('size: "1", port: 80'),
        edited=widget('size: "1000m", port: 80'),
        fields=(("spec.size", "1", "1000m"),),
    ),
    Case(
        id="number of a custom resource to text",
        manifest=widget('size: "1", port: 80'),
        edited=widget('size: "1", port: "80"'),
        fields=(("spec.port", 80, "80"),),
    ),
    Case(
        id="two env entries swapped in git",
        since=(1, 21),
        manifest=deployment("env: [{name: A, value: '1'}, {name: B, value: '2'}]"),
        edited=deployment("env: [{name: B, value: '2'}, {name: A, value: '1'}]"),
        fields=((f"{CONTAINER}.env[order]", ["A", "B"], ["B", "A"]),),
    ),
    Case(
        id="two env entries swapped by somebody",
        since=(1, 21),
        manifest=deployment("env: [{name: A, value: '1'}, {name: B, value: '2'}]"),
        act=patch(
            DEPLOYMENTS,
            {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [
                                {
                                    "name": "main",
                                    "image": "app:1",
                                    "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}],
                                }
                            ]
                        }
                    }
                }
            },
        ),
        fields=((f"{CONTAINER}.env[order]", ["B", "A"], ["A", "B"]),),
    ),
    Case(
        id="an edit inside an atomic list",
        manifest=widget("rules: [{host: a, weight: 1}, {host: b, weight: 2}]"),
        act=patch(
            "$NS.example.com/v1/widgets", {"spec": {"rules": [{"host": "a", "weight": 1}, {"host": "b", "weight": 3}]}}
        ),
        fields=(("spec.rules[1].weight", 3, 2),),
    ),
    Case(
        id="kubectl scale",
        manifest=deployment(spec="replicas: 1"),
        act=scale(2),
        fields=(("spec.replicas", 2, 1),),
    ),
    Case(
        id="a key renamed in stringData",
        manifest="apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {old: one, kept: two}\n",
        edited="apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {new: one, kept: two}\n",
        fields=(("data.new", None, "(secret)"), ("data.old", "(secret)", None)),
    ),
    Case(
        id="strategy to Recreate",
        manifest=deployment(spec="replicas: 1"),
        edited=deployment(spec="replicas: 1, strategy: {type: Recreate}".replace(", ", "\n  ")),
        fields=(
            ("spec.strategy.rollingUpdate", {"maxSurge": "25%", "maxUnavailable": "25%"}, None),
            ("spec.strategy.type", "RollingUpdate", "Recreate"),
        ),
    ),
    Case(
        id="a probe from httpGet to exec",
        manifest=deployment("livenessProbe: {httpGet: {path: /, port: 80}}"),
        edited=deployment("livenessProbe: {exec: {command: [ok]}}"),
        fields=(
            (f"{CONTAINER}.livenessProbe.exec", None, {"command": ["ok"]}),
            (f"{CONTAINER}.livenessProbe.httpGet", {"path": "/", "port": 80, "scheme": "HTTP"}, None),
        ),
    ),
    Case(
        id="serviceAccountName removed",
        manifest=deployment(pod=", serviceAccountName: runner"),
        edited=deployment(),
        fields=(
            ("spec.template.spec.serviceAccount", "runner", None),
            ("spec.template.spec.serviceAccountName", "runner", None),
        ),
    ),
    Case(
        id="shortened after kubectl apply",
        manifest=CONFIG,
        first=kubectl_apply(CONFIG),
        edited=CONFIG.replace(", b: two", ""),
        fields=(("data.b", "two", None),),
    ),
)

SWITCHED = (
    Case(
        id="an image set by somebody",
        manifest=deployment(),
        act=set_image("app:2"),
        fields=((f"{CONTAINER}.image", "app:2", "app:1"),),
    ),
    Case(
        id="a label changed by somebody",
        manifest=CONFIG.replace("name: $NAME", "name: $NAME, labels: {tier: web}"),
        act=patch("v1/configmaps", {"metadata": {"labels": {"tier": "db"}}}),
        fields=(("metadata.labels.tier", "db", "web"),),
    ),
    Case(
        id="serviceAccountName changed",
        manifest=deployment(pod=", serviceAccountName: runner"),
        edited=deployment(pod=", serviceAccountName: default"),
        fields=(
            ("spec.template.spec.serviceAccount", "runner", "default"),
            ("spec.template.spec.serviceAccountName", "runner", "default"),
        ),
    ),
    Case(
        id="rolling update of git to Recreate",
        manifest=deployment(spec="strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2}}"),
        edited=deployment(spec="strategy: {type: Recreate}"),
        fields=(
            ("spec.strategy.rollingUpdate", {"maxSurge": 2, "maxUnavailable": "25%"}, None),
            ("spec.strategy.type", "RollingUpdate", "Recreate"),
        ),
    ),
    Case(
        id="env from a reference to a value",
        manifest=deployment("env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}]"),
        edited=deployment("env: [{name: A, value: '1'}]"),
        fields=(
            (f"{CONTAINER}.env[name=A].value", None, "1"),
            (f"{CONTAINER}.env[name=A].valueFrom", {"configMapKeyRef": {"name": "settings", "key": "a"}}, None),
        ),
    ),
    Case(
        id="a volume from configMap to secret",
        manifest=deployment(pod=", volumes: [{name: v, configMap: {name: settings}}]"),
        edited=deployment(pod=", volumes: [{name: v, secret: {secretName: settings}}]"),
        fields=(
            ("spec.template.spec.volumes[name=v].configMap", {"name": "settings", "defaultMode": 420}, None),
            ("spec.template.spec.volumes[name=v].secret", None, {"secretName": "settings", "defaultMode": 420}),
        ),
    ),
    Case(
        id="a Service from NodePort to ClusterIP",
        manifest=SERVICE.replace("spec:\n", "spec:\n  type: NodePort\n")
        .replace("port: 80", "port: 80, nodePort: 30788")
        .replace("port: 81", "port: 81, nodePort: 30789"),
        edited=SERVICE,
        fields=(
            ("spec.externalTrafficPolicy", "Cluster", None),
            ("spec.ports[name=admin].nodePort", 30789, None),
            ("spec.ports[name=web].nodePort", 30788, None),
            ("spec.type", "NodePort", "ClusterIP"),
        ),
    ),
)

REMOVED = (
    Case(
        id="a probe removed",
        manifest=deployment("livenessProbe: {httpGet: {path: /, port: 80}}"),
        edited=deployment(),
        fields=(
            (
                f"{CONTAINER}.livenessProbe",
                {
                    "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                },
                None,
            ),
        ),
    ),
    *(
        Case(
            id=f"affinity removed, {left}",
            since=since,
            until=until,
            manifest=deployment(
                pod=", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                "[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}}"
            ),
            edited=deployment(),
            fields=((f"spec.template.spec.affinity{path}", before, None),),
        )
        for left, since, until, path, before in (
            (
                "an empty one stays",  # no pod is placed otherwise by it
                (1, 16),
                (1, 20),
                ".nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                ON_LINUX,
            ),
            (
                "wholly",
                (1, 21),
                (9, 99),
                "",
                {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ON_LINUX}},
            ),
        )
    ),
    *(
        Case(
            id=f"hostNetwork removed, {where}",
            since=since,
            until=until,
            manifest=deployment("ports: [{containerPort: 8099}]", pod=", hostNetwork: true"),
            edited=deployment("ports: [{containerPort: 8099}]"),
            fields=(*ports, ("spec.template.spec.hostNetwork", True, None)),
        )
        for where, since, until, ports in (
            ("with its ports", (1, 16), (1, 27), ((f"{CONTAINER}.ports[containerPort=8099].hostPort", 8099, None),)),
            ("which made none", (1, 28), (9, 99), ()),
        )
    ),
    Case(
        id="a limit removed",
        manifest=deployment("resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}"),
        edited=deployment("resources: {limits: {memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}"),
        fields=((f"{CONTAINER}.resources.limits.cpu", "100m", None),),
    ),
    Case(
        id="a word of a command removed",
        manifest=deployment("command: [run, fast, now]"),
        edited=deployment("command: [run, now]"),
        fields=((f"{CONTAINER}.command", ["run", "fast", "now"], ["run", "now"]),),
    ),
    Case(
        id="all data removed",
        manifest=CONFIG,
        edited=CONFIG.replace('data: {a: "1", b: two}\n', ""),
        fields=(("data", {"a": "1", "b": "two"}, None),),
    ),
    Case(
        id="a key of a selector removed",
        manifest=SERVICE.replace("selector: {app: $NAME}", "selector: {app: $NAME, tier: web}"),
        edited=SERVICE,
        fields=(("spec.selector.tier", "web", None),),
    ),
    Case(
        id="a key of a Secret that kubectl applied",
        manifest="apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {kept: one, gone: two}\n",
        first=kubectl_apply(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {kept: one, gone: two}\n"
        ),
        edited="apiVersion: v1\nkind: Secret\nmetadata: {name: $NAME}\nstringData: {kept: one}\n",
        fields=(("data.gone", "(secret)", None),),
    ),
    Case(
        id="a rule of a Role removed",
        manifest="""\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: $NAME}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [get]}]
""",
        edited="""\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: $NAME}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
""",
        fields=(("rules[1]", {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}, None),),
    ),
    Case(
        id="a field of a custom resource removed",
        manifest=widget('size: "1", port: 80'),
        edited=widget("port: 80"),
        fields=(("spec.size", "1", None),),
    ),
    Case(
        id="a field removed",
        manifest=deployment("command: [run]", spec="minReadySeconds: 1"),
        edited=deployment("command: [run]"),
        fields=(("spec.minReadySeconds", 1, None),),
    ),
    Case(
        id="a key removed beside somebody's",
        manifest=CONFIG,
        edited=CONFIG.replace(", b: two", ""),
        others=patch("v1/configmaps", {"data": {"theirs": "x"}}),
        fields=(("data.b", "two", None),),
    ),
    Case(
        id="an env entry removed",
        manifest=deployment("env: [{name: A, value: '1'}, {name: B, value: '2'}]"),
        edited=deployment("env: [{name: B, value: '2'}]"),
        fields=((f"{CONTAINER}.env[name=A]", {"name": "A", "value": "1"}, None),),
    ),
    Case(
        id="a label removed",
        manifest=deployment(template=", version: v1"),
        edited=deployment(),
        fields=(("spec.template.metadata.labels.version", "v1", None),),
    ),
    Case(
        id="a port removed",
        manifest=SERVICE,
        edited=SERVICE.replace(", {name: admin, port: 81}", ""),
        fields=(("spec.ports[name=admin]", {"name": "admin", "port": 81, "protocol": "TCP", "targetPort": 81}, None),),
    ),
    Case(
        id="a container removed",
        manifest=deployment().replace("containers: [{", "containers: [{name: sidecar, image: side:1}, {"),
        edited=deployment(),
        fields=(
            (
                "spec.template.spec.containers[name=sidecar]",
                {
                    "name": "sidecar",
                    "image": "side:1",
                    "imagePullPolicy": "IfNotPresent",
                    "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                },
                None,
            ),
        ),
    ),
    Case(
        id="an object removed",
        manifest=CONFIG,
        edited="",
        action="delete",
    ),
)

CASES = NOTHING_TO_DO + SEEN + SWITCHED + REMOVED
