"""The objects of the serving layer, the same on every cloud."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as k8s

from components import names
from components.node_pool.contract import CACHE
from components.serving import disks
from components.serving.contract import NAMESPACE, STAGER, ServedPool, Serving, ServingArgs
from components.serving.devices import overlay
from components.serving.pod import GATEWAY, gateway_labels, pod, pool_labels

OPERATOR = "gpu-operator"
"""Namespace of the operator that divides cards."""
_SKIP_AWAIT = {"pulumi.com/skipAwait": "true"}
"""A replica loads for up to half an hour; the rollout, not the deployment, waits for it."""


class ServingLayer(Serving):
    """Pools, their budgets for disruption, and the gateway's way in."""

    token: ClassVar[str] = "outlast:serving:ServingLayer"

    def __init__(self, name: str, args: ServingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        self._labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        self._overlay = overlay(place.cloud)
        # Only a change of the identifier replaces the provider and all that is in the cluster, never a new endpoint.
        # https://github.com/pulumi/pulumi-kubernetes/issues/4019
        self._provider = k8s.Provider(
            name,
            kubeconfig=args.cluster.kubeconfig,
            cluster_identifier=names.cluster(place.fleet, place.region),
            enable_server_side_apply=True,
            opts=self.child(depends_on=[args.cluster]),
        )
        namespace = k8s.core.v1.Namespace(
            name,
            metadata={
                "name": NAMESPACE,
                "labels": self._labels | {"pod-security.kubernetes.io/enforce": "privileged"},
            },
            opts=self._inside(),
        )
        account = k8s.core.v1.ServiceAccount(
            name,
            metadata=self._metadata("replica"),
            automount_service_account_token=False,
            opts=self._inside(namespace),
        )
        k8s.core.v1.ServiceAccount(
            f"{name}-{STAGER}",
            metadata=self._metadata(STAGER, annotations=dict(args.stager)),
            automount_service_account_token=False,
            opts=self._inside(namespace),
        )
        k8s.core.v1.ConfigMap(
            f"{name}-stage",
            metadata=self._metadata("stage"),
            data={key: json.dumps(sorted(digests)) for key, digests in args.stage.items()},
            opts=self._inside(namespace),
        )
        self._operator()
        self._disks()
        deployments = [self._pool(pool, [namespace, account]) for pool in args.pools]
        self._gateway(namespace)
        self.workloads = pulumi.Output.all(*(deployment.id for deployment in deployments))
        self.namespace = namespace.metadata.apply(lambda metadata: metadata.name)
        self.register()

    def _inside(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of an object that goes with its cluster."""
        return self.child(
            provider=self._provider, deleted_with=self._args.cluster.resource, depends_on=list(after) or None
        )

    def _metadata(self, object_name: str, **more: Any) -> dict[str, Any]:
        labels = self._labels | more.pop("labels", {})
        return {"name": names.kubernetes_object(object_name), "namespace": NAMESPACE, "labels": labels} | more

    def _operator(self) -> None:
        """Declare the divisions of cards that nodes name in their labels, where an operator makes them."""
        configs = self._overlay.operator_configs(self._args.partitions)
        if not configs:
            return
        namespace = self._privileged(OPERATOR)
        for name, data in configs.items():
            k8s.core.v1.ConfigMap(
                f"{self._name}-{name}",
                metadata=self._metadata(name, namespace=OPERATOR),
                data=data,
                opts=self._inside(namespace),
            )

    def _disks(self) -> None:
        """Declare what joins the local disks of nodes that come up with raw ones."""
        image, pattern = self._args.disks_image, self._overlay.RAW_DISKS
        if image is None:
            return
        namespace, logical = self._privileged(disks.NAME), f"{self._name}-{disks.NAME}"
        script = k8s.core.v1.ConfigMap(
            logical,
            metadata=self._metadata(disks.NAME, namespace=disks.NAME),
            data=disks.script(),
            opts=self._inside(namespace),
        )
        for machine_type, count in self._args.raw_disks.items():
            k8s.apps.v1.DaemonSet(
                f"{logical}-{machine_type}",
                metadata=self._metadata(disks.object_name(machine_type), namespace=disks.NAME, annotations=_SKIP_AWAIT),
                spec={
                    "selector": {"matchLabels": disks.labels(machine_type)},
                    "template": disks.pod(image, pattern, machine_type, count),
                },
                opts=self._inside(script),
            )

    def _privileged(self, name: str) -> k8s.core.v1.Namespace:
        """Declare a namespace of what has to reach into nodes."""
        return k8s.core.v1.Namespace(
            f"{self._name}-{name}",
            metadata={"name": name, "labels": self._labels | {"pod-security.kubernetes.io/enforce": "privileged"}},
            opts=self._inside(),
        )

    def _pool(self, pool: ServedPool, after: list[pulumi.Resource]) -> k8s.apps.v1.Deployment:
        labels = pool_labels(pool)
        logical = f"{self._name}-{pool.key}"
        k8s.core.v1.Service(
            logical,
            metadata=self._metadata(pool.key, labels=labels),
            spec={"selector": labels, "ports": [{"name": "http", "port": 8000, "targetPort": "http"}]},
            opts=self._inside(*after),
        )
        k8s.policy.v1.PodDisruptionBudget(
            logical,
            metadata=self._metadata(pool.key, labels=labels),
            spec={"maxUnavailable": 1, "selector": {"matchLabels": labels}},
            opts=self._inside(*after),
        )
        return self._deployment(logical, pool, [*after, *self._args.nodes])

    def _deployment(self, logical: str, pool: ServedPool, after: list[pulumi.Resource]) -> k8s.apps.v1.Deployment:
        labels = pool_labels(pool)
        return k8s.apps.v1.Deployment(
            logical,
            metadata=self._metadata(pool.key, labels=labels, annotations=_SKIP_AWAIT),
            spec={
                "replicas": pool.replicas,
                "selector": {"matchLabels": labels},
                # All GPUs are taken: end a replica before starting the next.
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
                "progressDeadlineSeconds": 2700,
                "template": {
                    "metadata": {"labels": self._labels | labels},
                    "spec": pod(pool, CACHE),
                },
            },
            opts=self._inside(*after),
        )

    def _gateway(self, namespace: pulumi.Resource) -> None:
        address = self._args.gateway_address
        bound = self._overlay.gateway(address.bindings, address.addresses)
        spec: dict[str, Any] = {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "selector": gateway_labels(),
            "ports": [{"name": "https", "port": 443, "targetPort": "https"}],
        }
        if bound.load_balancer_ip is not None:
            spec["loadBalancerIP"] = bound.load_balancer_ip
        # Not deleted with the cluster: the load balancer it owns would stay and block the network's deletion.
        k8s.core.v1.Service(
            f"{self._name}-{GATEWAY}",
            metadata=self._metadata(GATEWAY, annotations={**_SKIP_AWAIT, **bound.annotations}),
            spec=spec,
            opts=self.child(provider=self._provider, depends_on=[namespace]),
        )


def declare(name: str, args: ServingArgs, opts: pulumi.ResourceOptions | None = None) -> Serving:
    """Declare the serving layer in the region's cluster."""
    return ServingLayer(name, args, opts)
