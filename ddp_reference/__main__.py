"""`python -m ddp_reference` and `torchrun ... -m ddp_reference` start here."""

from ddp_reference.main import main

if __name__ == "__main__":
    main()
