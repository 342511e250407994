"""The one exception that users see, and the one warning."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class RushlightError(Exception):
    """Bad input, said on one line: what, where, why, what next.

    The command line prints the message alone and exits with code 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class RushlightWarning(UserWarning):
    """Something that is probably not meant, though the work goes on: one line, as the command line prints it too."""


class UnsupportedError(RushlightError):
    """Steps of the user's model that have no integer kernel: one line for each, in ``reasons`` and in the message.

    Steps of which the same is to be said (a module that is called often) share a line, which ends with their number.
    """

    def __init__(self, reasons: list[str]) -> None:
        counts = Counter(" ".join(reason.split()) for reason in reasons)
        self.reasons = [reason if n == 1 else f"{reason} ({n} times)" for reason, n in counts.items()]
        super().__init__("")
        self.args = ("\n".join(self.reasons),)


@contextmanager
def torch_needed() -> Iterator[None]:
    """Around imports that need torch or torchao: where one is missing, RushlightError says what installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("torch", "torchao"):
            raise
        what = f"{(error.name or '').partition('.')[0]} is not installed, which compiling needs: pip install 'rushlight[torch]'"
        raise RushlightError(what) from None
