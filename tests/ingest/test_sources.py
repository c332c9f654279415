"""Files of other tools that cannot be read are refused in words that say what to do."""

import pytest

from outlast.errors import ConfigError
from outlast.ingest import sources

BAD_TEXT = {
    "missing": (None, "no such file"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe", "not UTF-8"),
}


@pytest.mark.parametrize("name", BAD_TEXT)
def test_a_file_that_is_no_text_is_refused(tmp_path, name):
    content, message = BAD_TEXT[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        sources.text_of(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="folder"):
        sources.text_of(tmp_path)


def test_a_file_far_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_LARGEST_MIB", 0)
    (tmp_path / "large").write_text("x")
    with pytest.raises(ConfigError, match="too large"):
        sources.text_of(tmp_path / "large")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "f").write_bytes("\ufefftext".encode())
    assert sources.text_of(tmp_path / "f") == "text"


@pytest.mark.parametrize("text", ["{", "[1,", "nothing", '{"a": }', "[" * 100_000])
def test_broken_json_is_refused(text):
    with pytest.raises(ConfigError):
        sources.json_of(text, "f")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_json_with_what_is_no_number_is_refused(constant):
    with pytest.raises(ConfigError, match=constant):
        sources.json_of(f'{{"a": {constant}}}', "f")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1;2\n", "two or more columns"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "stands twice"),
        ("a,b\n1\n", "number of cells"),
        ("a,b\n1,2,3\n", "number of cells"),
        ("a,b\n" + "x" * 200_000 + ",1\n", "no CSV table"),
        ("# only a comment\n", "two or more columns"),
    ],
)
def test_a_broken_table_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        sources.table_of(text, "f")


def test_many_problems_are_cut_and_counted():
    text = "a,b\n" + "1\n" * 30
    with pytest.raises(ConfigError) as caught:
        sources.table_of(text, "f")
    assert len(caught.value.problems) <= 11
