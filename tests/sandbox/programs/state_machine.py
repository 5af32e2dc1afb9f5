from enum import Enum, auto


class State(Enum):
    IDLE = auto()
    RUNNING = auto()
    PAUSED = auto()
    DONE = auto()


class InvalidTransition(Exception):
    pass


class Job:
    TRANSITIONS = {
        (State.IDLE, "start"): State.RUNNING,
        (State.RUNNING, "pause"): State.PAUSED,
        (State.PAUSED, "resume"): State.RUNNING,
        (State.RUNNING, "finish"): State.DONE,
    }

    def __init__(self) -> None:
        self.state = State.IDLE
        self.seen = [self.state]

    def __getattr__(self, event: str):
        if event not in {name for _, name in self.TRANSITIONS}:
            raise AttributeError(event)

        def fire() -> "Job":
            try:
                self.state = self.TRANSITIONS[self.state, event]
            except KeyError:
                raise InvalidTransition(f"{event} while {self.state.name}") from None
            self.seen.append(self.state)
            return self

        return fire


job = Job().start().pause().resume().finish()
assert job.state is State.DONE
assert len(job.seen) == 5
try:
    job.start()
except InvalidTransition as error:
    assert str(error) == "start while DONE"
assert not hasattr(job, "explode")

"ok"
