"""The one exception that users see, and the one warning."""


class RushlightError(Exception):
    """Bad input, said on one line: what, where, why, what next.

    The command line prints the message alone and exits with code 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class RushlightWarning(UserWarning):
    """Something that is probably not meant, though the work goes on: one line, as the command line prints it too."""


class UnsupportedError(RushlightError):
    """Steps of the user's model that have no integer kernel: one line for each, in ``reasons`` and in the message."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = [" ".join(reason.split()) for reason in reasons]
        super().__init__("")
        self.args = ("\n".join(self.reasons),)
