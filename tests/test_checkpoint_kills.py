"""kill -9 at random moments: the same call goes on, loses no more than an interval and a look, and ends the same."""

import sys

import pytest

pytest.importorskip("pandas")

from benchmarks import checkpoint

INTERVAL = 0.2

needs_kill = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def killed(name, kills, place, seed):
    size = checkpoint.QUICK[name] | {"file": str(place / "rows.svm")}
    reference, seconds = checkpoint.undisturbed(name, size)
    found = checkpoint.kill_and_resume(name, size, place, kills, INTERVAL, seconds, seed)
    assert len(found.lost) == kills
    for answer in found.answers:
        assert checkpoint.differences(reference, answer) <= checkpoint.TOL
        assert answer.get("scores") == pytest.approx(reference.get("scores"), abs=0.02)
    return found


@needs_kill
@pytest.mark.parametrize("name", ["fit", "stream", "search"])
def test_two_kills(name, tmp_path):
    killed(name, 2, tmp_path, seed=0)


@needs_kill
@pytest.mark.slow
@pytest.mark.parametrize("name", ["fit", "stream", "search"])
def test_ten_kills(name, tmp_path):
    found = killed(name, 10, tmp_path, seed=1)
    assert sorted(found.lost)[len(found.lost) // 2] <= INTERVAL + checkpoint.LOOK  # half of them: other work may delay
