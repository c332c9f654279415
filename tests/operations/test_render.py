"""Objects as files: all of them, always the same bytes, nothing of others lost, nothing unknown or secret written."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from outlast.errors import ConfigError, EnvironmentProblem
from outlast.operations import change_of, rendered
from outlast.operations.render import marker
from outlast.view import UNKNOWN, Resource

STACK = "demo.us-east"


def resource(type_: str, name: str, **inputs: Any) -> Resource:
    return Resource(urn=f"urn:pulumi:{STACK}::outlast::{type_}::{name}", type=type_, name=name, inputs=inputs)


def object_(kind: str, name: str, version: str = "v1", namespace: str | None = "serving", **more: Any) -> Resource:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    group = version if "/" in version else f"core/{version}"
    return resource(f"kubernetes:{group}:{kind}", name, apiVersion=version, kind=kind, metadata=metadata, **more)


OBJECTS = (
    object_("Namespace", "serving", namespace=None),
    object_("Deployment", "chat", "apps/v1", spec={"replicas": 2, "args": ("a", "b")}),
    object_("ConfigMap", "stage", data={"gh100-1-a": "[]"}),
)
OTHERS = (
    resource("pulumi:providers:kubernetes", "serving", kubeconfig=UNKNOWN),
    resource("aws:ec2/eip:Eip", "address", publicIp=UNKNOWN),
)


def files(*resources: Resource) -> Any:
    return rendered(STACK, resources or OBJECTS, STACK)


def write(folder: Path, *resources: Resource) -> Any:
    change = change_of(folder, files(*resources))
    for path, text in change.write.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return change


def refused(*resources: Resource) -> str:
    with pytest.raises(EnvironmentProblem) as error:
        rendered(STACK, resources, "demo.global")
    return str(error.value)


def test_every_object_has_a_file_named_after_namespace_kind_and_name():
    assert list(files().texts) == [
        PurePosixPath("_cluster/namespace/serving.yaml"),
        PurePosixPath("serving/configmap/stage.yaml"),
        PurePosixPath("serving/deployment.apps/chat.yaml"),
    ]


def test_a_file_holds_the_object_and_nothing_else():
    text = files().texts[PurePosixPath("serving/deployment.apps/chat.yaml")]
    assert yaml.safe_load(text) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "serving"},
        "spec": {"replicas": 2, "args": ["a", "b"]},
    }


def test_words_that_yaml_would_read_as_something_else_stay_words():
    text = next(iter(files(object_("ConfigMap", "stage", data={"a": "on", "b": "1e3", "c": "0755"})).texts.values()))
    assert yaml.safe_load(text)["data"] == {"a": "on", "b": "1e3", "c": "0755"}


def test_the_order_of_records_changes_no_byte():
    assert list(files(*reversed(OBJECTS)).texts.items()) == list(files().texts.items())


def test_what_is_no_object_of_the_cluster_is_not_written():
    assert files(*OBJECTS, *OTHERS).texts == files().texts


def test_secrets_are_left_out_and_named():
    found = files(*OBJECTS, object_("Secret", "token", stringData={"token": "s3cr3t"}))
    assert found.left_out == ("serving/token",)
    assert "s3cr3t" not in "".join(found.texts.values())


def test_unknown_values_are_refused_with_their_paths_and_the_stack_to_deploy():
    said = refused(object_("Service", "gateway", spec={"loadBalancerIP": UNKNOWN}), object_("Pod", "p", spec=UNKNOWN))
    assert [word for word in ("gateway", "spec.loadBalancerIP", "demo.global", ", p:") if word not in said] == []


@pytest.mark.parametrize("name", ["", "..", "a/b"])
def test_names_that_would_leave_the_folder_are_refused(name):
    assert "metadata.name" in refused(object_("ConfigMap", name))


def test_what_is_no_single_object_is_refused():
    assert "kubernetes:helm.sh/v3:Release" in refused(resource("kubernetes:helm.sh/v3:Release", "chart", chart="c"))


def test_the_same_object_twice_is_refused():
    assert "twice" in refused(object_("ConfigMap", "stage"), object_("ConfigMap", "stage"))


def test_two_groups_with_a_kind_of_the_same_name_do_not_meet():
    assert len(files(object_("Gateway", "a", "x.io/v1"), object_("Gateway", "a", "y.io/v1")).texts) == 2


def test_a_second_render_changes_nothing(tmp_path):
    write(tmp_path)
    again = change_of(tmp_path, files())
    assert (again.write, again.remove) == ({}, ())


def test_a_change_by_hand_is_put_right(tmp_path):
    write(tmp_path)
    path = tmp_path / "serving/configmap/stage.yaml"
    path.write_text(path.read_text() + "more: 1\n")
    assert list(change_of(tmp_path, files()).write) == [path]


def test_files_of_an_earlier_render_go_with_their_object(tmp_path):
    write(tmp_path)
    assert change_of(tmp_path, files(*OBJECTS[:2])).remove == (tmp_path / "serving/configmap/stage.yaml",)


def test_files_of_others_and_of_other_stacks_stay(tmp_path):
    for name, line in (("kustomization.yaml", "resources: []"), ("b.yaml", marker("demo.eu-west")), ("c.txt", "x")):
        (tmp_path / name).write_text(f"{line}\n")
    assert write(tmp_path).remove == ()


@pytest.mark.parametrize("text", ["kind: ConfigMap\n", f"{marker('demo.eu-west')}\nkind: ConfigMap\n", ""])
def test_a_foreign_file_in_the_way_is_refused_and_kept(tmp_path, text):
    path = tmp_path / "serving/configmap/stage.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"serving/configmap/stage\.yaml"):
        change_of(tmp_path, files())


def test_a_file_in_the_way_of_a_folder_is_refused(tmp_path):
    (tmp_path / "serving").write_text("")
    with pytest.raises(ConfigError, match="serving/configmap"):
        change_of(tmp_path, files())
