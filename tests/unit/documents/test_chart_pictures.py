"""A chart that cannot be drawn as a picture: an error of loadgo that names the chart."""

import pytest
from loadgo.documents.as_notebook import notebook_html
from loadgo.documents.chart import Chart, png, svg
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.errors import LoadgoError

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
