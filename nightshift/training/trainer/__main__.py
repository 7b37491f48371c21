"""`python -m nightshift.training.trainer`, or under torchrun with `-m`."""

from nightshift.training.trainer.main import main

if __name__ == "__main__":
    raise SystemExit(main())
