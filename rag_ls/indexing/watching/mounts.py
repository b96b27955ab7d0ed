"""File systems whose changes the system does not tell of, because another machine makes them."""

from __future__ import annotations

from pathlib import Path

_REMOTE = frozenset(
    "nfs nfs4 cifs smb2 smb3 smbfs afs afpfs ncpfs webdav 9p vboxsf drvfs prl_fs vmhgfs virtiofs ceph lustre gpfs "
    "beegfs glusterfs ocfs2 gfs2 orangefs osxfs".split()
)
# Anything may be behind FUSE; these only show folders of this machine in another way.
_LOCAL_FUSE = frozenset(
    "fuse.fuse-overlayfs fuse.bindfs fuse.mergerfs fuse.unionfs fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ext2 "
    "fuse.ntfs-3g fuse.lxcfs".split()
)


def remote_file_system(place: Path) -> str:
    """The type of the file system that `place` is on where it may be changed unnoticed; else empty."""
    # Takes a while to import; the commands of a shell never come here.
    import psutil

    kind, longest = "", -1
    for mount in psutil.disk_partitions(all=True):
        # Of mounts over each other the last one is seen.
        if place.is_relative_to(mount.mountpoint) and len(mount.mountpoint) >= longest:
            remote_drive = "remote" in mount.opts.split(",")
            kind, longest = ("network drive" if remote_drive else mount.fstype), len(mount.mountpoint)
    return kind if is_remote(kind) else ""


def is_remote(kind: str) -> bool:
    """Whether changes of a file system of this type may come from another machine."""
    kind = kind.lower()
    return kind in _REMOTE or kind == "network drive" or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)
