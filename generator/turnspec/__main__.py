"""The command, ``turnspec`` or ``python -m turnspec``: Ctrl-C ends it while it is loaded, too."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(130))  # nothing has begun
    from turnspec.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
