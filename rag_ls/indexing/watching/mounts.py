"""Recognises file systems that give no change events, because another machine makes the changes."""

from __future__ import annotations

from pathlib import Path

_REMOTE = frozenset(
    "nfs nfs4 cifs smb2 smb3 smbfs afs afpfs ncpfs webdav 9p vboxsf drvfs prl_fs vmhgfs virtiofs ceph lustre gpfs "
    "beegfs glusterfs ocfs2 gfs2 orangefs osxfs".split()
)
# FUSE may reach another machine; these types only present local folders.
_LOCAL_FUSE = frozenset(
    "fuse.fuse-overlayfs fuse.bindfs fuse.mergerfs fuse.unionfs fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ext2 "
    "fuse.ntfs-3g fuse.lxcfs".split()
)


def remote_file_system(place: Path) -> str:
    """The type of the file system of `place` if changes there may go unnoticed; else empty."""
    # Imported here because it takes a while: shell commands never need it.
    import psutil

    kind, longest = "", -1
    for mount in psutil.disk_partitions(all=True):
        # The last of several mounts on one point hides the others.
        if place.is_relative_to(mount.mountpoint) and len(mount.mountpoint) >= longest:
            remote_drive = "remote" in mount.opts.split(",")
            kind, longest = ("network drive" if remote_drive else mount.fstype), len(mount.mountpoint)
    return kind if is_remote(kind) else ""


def is_remote(kind: str) -> bool:
    """Whether another machine may change a file system of this type."""
    kind = kind.lower()
    return kind in _REMOTE or kind == "network drive" or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)
