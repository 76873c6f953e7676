import dataclasses
import io
import os
import signal
import threading
from pathlib import Path

import pytest
from rich.console import Console

from zoo.training.interrupt import Interrupt, end_once, how_to_resume, terminable
from zoo.training.loop import Step
from zoo.training.progress import Display


def record(step):
    values = {
        "auxiliary": {},
        "scored": 90,
        "positions": 100,
        "flops": 0,
        "lr": 1e-3,
        "grad_norm": 1.0,
        "seconds": 0.01,
    }
    return Step(step=step, loss=1 / step, tokens=100 * step, **values)


def shown(terminal, steps=25, every=10):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None, legacy_windows=False)
    with Display(steps=steps, start=0, every=every, console=console) as display:
        for step in range(1, steps + 1):
            display.update(record(step))
    return console.file.getvalue()


def test_without_a_terminal_there_is_a_plain_line_now_and_then_and_at_the_end():
    lines = shown(False).splitlines()
    assert [line.split()[1] for line in lines] == ["10/25", "20/25", "25/25"]
    assert "loss 0.0400" in lines[-1]
    assert all("tokens/s" in line and line.isprintable() for line in lines)


def test_the_speed_shown_is_positions_by_seconds_of_training():
    assert all("  10,000 tokens/s" in line for line in shown(False).splitlines())


def test_a_resumed_run_counts_what_is_left_from_where_it_goes_on():
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with Display(steps=1000, start=800, every=1, console=console) as display:
        assert display._bar.tasks[0].completed == 800
        display.update(record(801))
    assert "0:01 left" in console.file.getvalue()


def test_an_update_that_scored_nothing_has_no_loss_to_show():
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with Display(steps=1, start=0, every=1, console=console) as display:
        display.update(dataclasses.replace(record(1), loss=None))
    assert "loss —" in console.file.getvalue()


def test_on_a_terminal_there_is_a_bar_with_the_loss():
    text = shown(True)
    assert "loss 0.0400" in text
    assert "25/25" in text
    assert "step 10/25" not in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_acts(number):
    before = signal.signal(number, signal.default_int_handler)
    try:
        with Interrupt() as interrupt:
            assert not interrupt.asked
            os.kill(os.getpid(), number)
            assert interrupt.asked
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def terminate_again():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        pytest.fail("the second one acted")


@pytest.mark.parametrize("softly", [True, False])
def test_where_another_process_hands_signals_on_a_second_one_changes_nothing(softly):
    """It comes to the whole group at once, or while the checkpoint is written, and would cost it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        for _ in range(2):  # jobs
            end_once()
            with terminable():
                if softly:
                    with Interrupt() as interrupt:
                        os.kill(os.getpid(), signal.SIGTERM)
                        assert interrupt.asked
                        terminate_again()
                else:
                    with pytest.raises(KeyboardInterrupt):
                        os.kill(os.getpid(), signal.SIGTERM)
                terminate_again()
            terminate_again()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_signal_while_the_first_is_taken_in_changes_nothing(monkeypatch):
    before, set_handler, sent = signal.getsignal(signal.SIGTERM), signal.signal, []

    def interrupted(number, handler):
        found = set_handler(number, handler)
        if interrupt.asked and not sent:  # between the handlers that are put back
            sent.append(number)
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    try:
        end_once()
        with Interrupt() as interrupt:
            monkeypatch.setattr(signal, "signal", interrupted)
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupt.asked
        assert sent
    finally:
        set_handler(signal.SIGTERM, before)


def test_in_another_thread_signals_stay_as_they_are():
    handler, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with Interrupt() as interrupt:
            seen.append((signal.getsignal(signal.SIGINT), interrupt.asked))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(handler, False)]


def test_an_interruption_says_what_to_type():
    assert "python train.py resume=runs/llama-0a1b2c3d" in how_to_resume(Path("runs/llama-0a1b2c3d"), 7)
