"""A chart that cannot be drawn as a picture: an error of loadgo that names the chart."""

import sys

import pytest
from loadgo.cli.app import app
from loadgo.documents.as_notebook import notebook_html
from loadgo.documents.chart import Chart, png, svg
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.errors import LoadgoError, Refused
from typer.testing import CliRunner

EMPTY = {"data": {"values": []}, "mark": "point", "encoding": {"x": {"field": "a", "type": "quantitative"}}}
ENDLESS = EMPTY | {"height": 1e300, "config": {}}
"""A specification whose picture has a height that no picture can have."""
WRONG = {"mark": "no such mark", "data": {"values": []}, "config": {}}


@pytest.mark.parametrize("draw", [svg, png])
@pytest.mark.parametrize("spec", [ENDLESS, WRONG])
def test_a_chart_that_cannot_be_drawn_is_refused_with_its_name(draw: object, spec: dict[str, object]) -> None:
    assert callable(draw)
    with pytest.raises(LoadgoError, match=r"chart 'endless' cannot be drawn as a picture: \w"):
        draw(Chart("endless", "Endless", "", spec))


def test_a_notebook_has_the_answer_and_the_table_of_a_result_whose_chart_cannot_be_drawn() -> None:
    table = Table("Rows", (Column("row", ("the row",)),))
    document = Document("made up", "The answer.", (table,))
    html = notebook_html(document, (), Chart("endless", "Endless", "", ENDLESS))
    assert "The answer." in html
    assert "the row" in html
    assert "chart &#39;endless&#39; cannot be drawn as a picture" in html
    assert "<img" not in html


def test_without_the_extra_charts_a_picture_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    chart = Chart("empty", "Empty", "", EMPTY | {"config": {}})
    with pytest.raises(Refused, match=r"svg pictures, is not installed: pip install 'loadgo\[charts\]'"):
        svg(chart)
    html = notebook_html(Document("made up", "The answer.", ()), (), chart)
    assert "The answer." in html
    assert "loadgo[charts]" in html


@pytest.mark.parametrize(
    "command", ["run no-script", "report no-run", "meter", "capacity no-script --target p90<1s", "compare no-a no-b"]
)
def test_a_command_refuses_a_picture_before_its_work(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    typed = CliRunner().invoke(app, [*command.split(), "--format", "png"])
    assert typed.exit_code == 2
    assert "pip install 'loadgo[charts]'" in typed.stderr
