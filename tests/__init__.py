"""Tests run beside each other, and torch with one thread in each process, as on the server."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read as torch is imported, here and in what a test starts
