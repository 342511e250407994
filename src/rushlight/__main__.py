"""``python -m rushlight`` is the ``rushlight`` command."""

from rushlight.cli import main

if __name__ == "__main__":
    main()
