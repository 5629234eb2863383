"""``python -m turnspec``: the command line."""

from turnspec.cli.main import main

if __name__ == "__main__":
    main()
