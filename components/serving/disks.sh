#!/bin/sh
# Joins a node's raw local disks into one file system for the cache of models, and mounts it again after a reboot.
#
#   disks.sh decide  say what is to be done, and do nothing
#   disks.sh join    do it; may be run any number of times
#   disks.sh wait    stay until asked to end
#
# DISKS  pattern of links to the disks
# COUNT  how many disks a machine of the node's type has
# MOUNT  folder of the node that the file system is mounted at
# ROOT   put before every path; empty on a node
set -eu

ROOT=${ROOT:-}
OURS=models # name of our array, and label of its file system
export MDADM_NO_UDEV=1 # no udev answers inside a container

say() {
    echo "disks: $*" >&2
}

# Every disk once, by its device. Partitions have links of their own, which are no disks.
disks() {
    for link in $ROOT$DISKS; do
        case $link in
            *-part[0-9]*) ;;
            *) if [ -e "$link" ]; then readlink -f "$link"; fi ;;
        esac
    done | sort -u
}

# What a device holds: nothing, ours, or a word for what somebody else has put there.
content() {
    status=0
    held=$(blkid -p -o value -s TYPE -s PTTYPE "$1") || status=$?
    case $status,$held in
        2,*) echo nothing ;;
        0,linux_raid_member)
            if mdadm --examine --export "$1" | grep -Eq "^MD_NAME=([^:]*:)?$OURS\$"; then
                echo ours
            else
                echo "a disk of another array"
            fi
            ;;
        0,?*) echo "$held" | tr '\n' ' ' ;;
        *) echo "what blkid cannot tell" ;;
    esac
}

# One line: mounted, make, assemble, or refuse and why.
decide() {
    if mountpoint -q "$ROOT$MOUNT"; then
        echo mounted
        return
    fi
    empty=0
    members=0
    for disk in $(disks); do
        found=$(content "$disk")
        case $found in
            nothing) empty=$((empty + 1)) ;;
            ours) members=$((members + 1)) ;;
            *)
                echo "refuse $disk: it holds $found"
                return
                ;;
        esac
    done
    if [ $((members + empty)) -ne "$COUNT" ]; then
        echo "refuse the node: it has $((members + empty)) of the $COUNT disks of its machine type; replace it"
        return
    fi
    case $members,$empty in
        0,*) echo make ;;
        *,0) echo assemble ;;
        *) echo "refuse the array: $empty of its disks are new, so what it held is lost; replace the node" ;;
    esac
}

# The device of the array that a disk is a part of, if the array runs.
running() {
    for holder in "$ROOT/sys/class/block/$(basename "$1")/holders"/md*; do
        if [ -e "$holder" ]; then echo "$ROOT/dev/$(basename "$holder")"; fi
    done
}

# Runs the array and prints its device.
array() {
    members=$(disks)
    first=$(echo "$members" | head -n 1)
    # shellcheck disable=SC2086 # one argument a disk
    if [ "$1" = make ]; then
        mdadm --create "$ROOT/dev/md/$OURS" --run --force --metadata=1.2 --homehost=any --name="$OURS" \
            --level=0 --raid-devices="$(echo "$members" | wc -l)" $members >&2
    elif [ -z "$(running "$first")" ]; then
        mdadm --assemble "$ROOT/dev/md/$OURS" --run $members >&2
    fi
    running "$first"
}

join() {
    plan=$(decide)
    say "$plan"
    case $plan in
        mounted) return ;;
        refuse*) exit 1 ;;
    esac
    device=$(array "$plan")
    if [ -z "$device" ]; then
        say "the array does not run"
        exit 1
    fi
    found=$(content "$device")
    case $found in
        nothing) mkfs.xfs -L "$OURS" "$device" >&2 ;;
        xfs*) ;;
        *)
            say "refuse $device: it holds $found"
            exit 1
            ;;
    esac
    mkdir -p "$ROOT$MOUNT"
    mount -t xfs -o noatime "$device" "$ROOT$MOUNT"
    mkdir -p "$ROOT$MOUNT/models"
    say "$device is mounted at $MOUNT"
}

case ${1:-} in
    decide) decide ;;
    join) join ;;
    wait)
        trap 'kill ${!:-} 2>/dev/null || :; exit 0' INT TERM
        while :; do
            sleep 3600 &
            wait $!
        done
        ;;
    *)
        say "say decide, join or wait"
        exit 2
        ;;
esac
