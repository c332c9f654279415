"""Generated pages are what their command writes."""

import pytest

from tools.pages.__main__ import DOCS, PAGES
from tools.pages.table import table


@pytest.mark.parametrize("name", PAGES)
def test_a_committed_page_is_what_make_resources_writes(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


def test_a_table_keeps_its_columns_whatever_a_cell_holds():
    lines = list(table(["a", "b"], [["x|y", 1]], right=[1]))
    assert lines == ["| a | b |", "|---|--:|", r"| x\|y | 1 |"]
