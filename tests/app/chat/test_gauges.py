from __future__ import annotations

from app.chat.reply_trace import Gauges, smooth_speeds
from tests.support.inspector_scene import update


def test_speed_is_that_of_the_moment() -> None:
    gauges = Gauges()
    gauges.take(update(10, 1000.0), 0.0)
    gauges.take(update(40, 2000.0), 1.0)
    assert [sample.tokens_per_second for sample in gauges.samples] == [10.0, 30.0]
    gauges.take(update(40, 2000.0), 2.0)
    assert gauges.samples[-1].tokens_per_second is None


def test_the_disk_counts_over_the_time_that_was_worked() -> None:
    gauges = Gauges()
    gauges.take(update(1, 100.0, disk_read_bytes=1_000_000), 0.0)
    gauges.take(update(2, 600.0, disk_read_bytes=3_000_000), 1.0)
    # The first sample's time has the prompt in it: 900 ms.
    assert [sample.disk_bytes_per_second for sample in gauges.samples] == [1_000_000, 4_000_000]


def test_the_line_of_speed_is_smooth() -> None:
    gauges = Gauges()
    tokens = 0
    for step, more in enumerate((3, 5, 3, 5), 1):
        tokens += more
        gauges.take(update(tokens, 100.0 * step), float(step))
    gauges.take(update(tokens, 400.0), 5.0)

    assert smooth_speeds(gauges.samples, over=2) == [30.0, 40.0, 40.0, 40.0, None]
