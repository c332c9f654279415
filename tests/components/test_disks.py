"""The script that joins local disks, run on a folder that looks like a node, with programs that write down their calls.

A disk is a file: its first word is what `blkid` says of it, its second the name of the array it is a part of.
"""

import os
import subprocess

import pytest

from components.serving.disks import SCRIPT, labels, pod
from components.serving.overlays import gcp

MOUNT = "/mnt/disks/0"
PROGRAMS = {
    "blkid": """for device; do :; done; held=$(cut -d' ' -f1 "$device"); [ -n "$held" ] || exit 2; echo "$held" """,
    "mdadm": """
members() { for part; do case $part in "$ROOT"/dev/nvme*) echo "$part" ;; esac; done; }
if [ "$1" = --examine ]; then echo "MD_NAME=node:$(cut -d' ' -f2 "$3")"; exit; fi
echo "mdadm $1" >> "$ROOT/calls"
[ -e "$ROOT/dev/md127" ] || : > "$ROOT/dev/md127"
for disk in $(members "$@"); do
    [ "$1" = --assemble ] || echo "linux_raid_member models" > "$disk"
    mkdir -p "$ROOT/sys/class/block/$(basename "$disk")/holders/md127"
done""",
    "mkfs.xfs": """echo mkfs >> "$ROOT/calls"; for device; do :; done; echo xfs > "$device" """,
    "mount": """echo mount >> "$ROOT/calls"; : > "$ROOT/mounted" """,
    "mountpoint": """[ -e "$ROOT/mounted" ]""",
}


class Node:
    """A folder with disks, and the script run on it."""

    def __init__(self, root, disks):
        self.root = root
        links = root / "dev/disk/by-id"
        links.mkdir(parents=True)
        (root / "bin").mkdir()
        for name, body in PROGRAMS.items():
            (root / "bin" / name).write_text(f"#!/bin/sh\nset -eu\n{body}\n")
            (root / "bin" / name).chmod(0o755)
        for number, held in enumerate(disks):
            (root / f"dev/nvme{number}n1").write_text(held)
            for link in (f"google-local-nvme-ssd-{number}", f"google-local-nvme-ssd-{number}-part1"):
                (links / link).symlink_to(f"../../nvme{number}n1")
        (root / "dev/sda").write_text("ext4")
        (links / "google-persistent-disk-0").symlink_to("../../sda")

    def run(self, step, count=None):
        count = len(list(self.root.glob("dev/nvme*n1"))) if count is None else count
        environment = {"ROOT": str(self.root), "DISKS": gcp.RAW_DISKS, "COUNT": str(count), "MOUNT": MOUNT}
        path = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.run(
            ["sh", str(SCRIPT), step],
            env={**environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )

    def calls(self):
        file = self.root / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def reboot(self, *, assembled):
        (self.root / "mounted").unlink()
        (self.root / "calls").unlink()
        if not assembled:
            for holder in self.root.glob("sys/class/block/*/holders/md127"):
                holder.rmdir()


OURS, BLANK = "linux_raid_member models", ""
DECISIONS = {
    "blank disks": ([BLANK, BLANK], "make"),
    "one blank disk": ([BLANK], "make"),
    "our array": ([OURS, OURS], "assemble"),
    "a file system": ([BLANK, "ext4"], "refuse"),
    "a table of partitions": (["gpt"], "refuse"),
    "another array": (["linux_raid_member data"], "refuse"),
    "an array whose name ends like ours": (["linux_raid_member old-models"], "refuse"),
    "a disk that was replaced": ([OURS, BLANK], "refuse"),
}


@pytest.mark.parametrize(("disks", "decision"), DECISIONS.values(), ids=DECISIONS)
def test_what_to_do_follows_from_what_disks_hold(tmp_path, disks, decision):
    ran = Node(tmp_path, disks).run("decide")
    assert (ran.returncode, ran.stdout.split()[0]) == (0, decision), ran.stderr


@pytest.mark.parametrize("disks", [disks for disks, decision in DECISIONS.values() if decision == "refuse"])
def test_a_disk_that_holds_something_else_is_not_touched(tmp_path, disks):
    node = Node(tmp_path, disks)
    assert node.run("join").returncode == 1
    assert node.calls() == []
    assert [(tmp_path / f"dev/nvme{number}n1").read_text() for number in range(len(disks))] == disks


def test_a_refusal_names_the_disk_and_what_it_holds(tmp_path):
    assert f"{tmp_path}/dev/nvme1n1: it holds ext4" in Node(tmp_path, [BLANK, "ext4"]).run("join").stderr


def test_blank_disks_are_joined_formatted_and_mounted_once(tmp_path):
    node = Node(tmp_path, [BLANK] * 3)
    assert [node.run("join").returncode for _ in range(2)] == [0, 0]
    assert node.calls() == ["mdadm --create", "mkfs", "mount"]
    assert (tmp_path / "mnt/disks/0/models").is_dir()


@pytest.mark.parametrize(
    ("assembled", "calls"), [(False, ["mdadm --assemble", "mount"]), (True, ["mount"])], ids=["stopped", "running"]
)
def test_what_was_staged_survives_a_reboot(tmp_path, assembled, calls):
    node = Node(tmp_path, [BLANK] * 2)
    node.run("join")
    node.reboot(assembled=assembled)
    assert node.run("join").returncode == 0
    assert node.calls() == calls


def test_a_join_that_was_cut_off_before_the_file_system_goes_on(tmp_path):
    node = Node(tmp_path, [OURS, OURS])
    assert node.run("join").returncode == 0
    assert node.calls() == ["mdadm --assemble", "mkfs", "mount"]


def test_an_array_with_another_file_system_is_not_formatted(tmp_path):
    node = Node(tmp_path, [OURS])
    (tmp_path / "dev/md127").write_text("ext4")
    assert node.run("join").returncode == 1
    assert node.calls() == ["mdadm --assemble"]


@pytest.mark.parametrize("disks", [[], [BLANK] * 7, [OURS] * 7, [BLANK] * 9], ids=["none", "fewer", "lost", "more"])
def test_a_node_with_another_number_of_disks_than_its_machine_type_has_is_refused(tmp_path, disks):
    node = Node(tmp_path, disks)
    ran = node.run("join", count=8)
    assert (ran.returncode, node.calls()) == (1, [])
    assert f"{len(disks)} of the 8 disks" in ran.stderr


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_shells_accept_the_script(shell):
    ran = subprocess.run([shell, "-n", str(SCRIPT)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_unknown_step_is_refused(tmp_path):
    assert Node(tmp_path, []).run("mend").returncode == 2


def test_waiting_ends_when_asked():
    with subprocess.Popen(["sh", str(SCRIPT), "wait"], stdout=subprocess.PIPE) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.3)
        waiting.terminate()
        assert waiting.wait(5) == 0


def test_pods_are_those_that_the_selector_finds():
    assert pod("image", gcp.RAW_DISKS, "a3-highgpu-8g", 16)["metadata"]["labels"] == labels("a3-highgpu-8g")
