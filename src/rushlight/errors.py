"""The one exception that users see."""


class RushlightError(Exception):
    """Bad input, said on one line: what, where, why, what next.

    The command line prints the message alone and exits with code 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UnsupportedError(RushlightError):
    """One or more steps of the user's model have no integer kernel; ``reasons`` holds one line for each."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        head = reasons[0] if reasons else "unsupported model"
        more = f" (and {len(reasons) - 1} more: {'; '.join(reasons[1:])})" if len(reasons) > 1 else ""
        super().__init__(head + more)
