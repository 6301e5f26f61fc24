"""Files are written whole or not at all, through links, and never in place of a device or a pipe."""

import errno
import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ordsvm.atomic_files import replacing, require_writable


def test_a_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_nothing_is_left_of_an_error(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_and_fail():
        with replacing(path) as temporary:
            temporary.write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_written_through(exists, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    target, link = folder / "target", tmp_path / "link"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    require_writable(link)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(folder) == ["target"]


def test_a_pipe_stays_a_pipe_and_gets_the_contents(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    require_writable(pipe)
    with replacing(pipe) as temporary:
        temporary.write_text("contents")
    reader.join(10)
    assert received == ["contents"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a device")
def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "null"
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    with replacing(device) as temporary:
        temporary.write_text("contents")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file"):
        require_writable(tmp_path)


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_gets_a_sentence_with_the_name(reason, tmp_path):
    def write_and_fail():
        with replacing(tmp_path / "file") as temporary:
            temporary.write_text("some of it")
            raise OSError(reason, os.strerror(reason))

    with pytest.raises(
        OSError, match=r"file' can't be written \(.*\): free some space, or give a name on another disk"
    ):
        write_and_fail()
    assert os.listdir(tmp_path) == []


def test_threads_that_write_at_once_leave_the_umask_alone(tmp_path, monkeypatch):
    """It is read by setting it: two threads in between each other would have left 0."""
    before, masks = os.umask(0o27), []
    real = os.umask

    def slow(mask):
        old = real(mask)
        masks.append(old)
        time.sleep(0.002)
        return old

    monkeypatch.setattr(os, "umask", slow)

    def write(name):
        for _ in range(5):
            with replacing(tmp_path / name) as path:
                path.write_text("whole")

    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, "abcd"))
        assert set(masks) == {0o27, 0}
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o640}
    finally:
        assert real(before) == 0o27
