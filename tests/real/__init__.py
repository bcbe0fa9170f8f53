"""Tests on real API servers, and on embedded ones beside them: what holds for one must hold for the other.

Real members are taken from the environment; without any, their tests are skipped and say why:

- ``KUBEBUILDER_ASSETS``: a directory with etcd, kube-apiserver, kube-controller-manager and kube-scheduler, of any
  version from 1.20 on. Three members are started from it on free ports, shared by all tests and processes of a run, and
  gone with the last of them. Nodes and kubelets are played.
- ``KADM_TEST_KUBECONFIG`` and ``KADM_TEST_CONTEXTS`` (names, by comma or space): members that run already, such as
  those of kind or k3d. The tests are their administrator, and use namespaces and fleets of their own; but the
  manifests of some have names that are fixed (shop, platform, ingress-nginx, StorageClass fast).

``test_cases`` plays one table of stories, ``test_acceptance`` the whole way of published manifests, ``test_talks`` the
same requests on both sorts of server, ``test_safety`` what must not happen: a mix of commits, a deletion too many.
"""
