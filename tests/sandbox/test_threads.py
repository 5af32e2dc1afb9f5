"""Jobs on threads that can be left alone, and jobs that no interrupt reaches."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from coilclaw.sandbox import Deadline, ExpendableThreads


@pytest.fixture
def threads() -> ExpendableThreads:
    return ExpendableThreads()


def test_an_interrupt_of_the_main_thread_does_not_reach_a_job_and_cancels_the_run(threads: ExpendableThreads) -> None:
    deadline, finished = Deadline(60), []

    def job() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        while not deadline.cancelled:
            threading.Event().wait(0.01)
        finished.append(True)
        return 5

    assert threading.current_thread() is threading.main_thread()
    assert threads.run_uninterrupted(job, deadline) == 5
    assert finished
    threads.close()


def test_a_thread_without_interrupts_does_such_a_job_itself(threads: ExpendableThreads) -> None:
    found: list[int] = []
    thread = threading.Thread(
        target=lambda: found.append(
            threads.run_uninterrupted(threading.get_ident, Deadline(60)) - threading.get_ident()
        )
    )
    thread.start()
    thread.join()
    assert found == [0]
