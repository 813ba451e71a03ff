"""Graders report in the course's short form."""

import pytest

from ddp_grader.report import install


@pytest.hookimpl(trylast=True)  # pytest's own reporter, which ours replaces, must be there
def pytest_configure(config):
    install(config)
