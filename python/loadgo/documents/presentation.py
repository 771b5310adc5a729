"""A result in every format: from its document, its JSON, its frames and its charts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from loadgo.documents.document import Charts, Document
from loadgo.documents.formats import PICTURE_FORMATS, REPORT_FORMATS, TABLE_FORMATS
from loadgo.errors import BadArgument

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from loadgo.documents.chart import Chart


@dataclass(frozen=True)
class Presentation:
    """The parts from which a result is shown. Each is a function, since a format needs few of them."""

    document: Callable[[], Document]
    json: Callable[[], str]
    frames: Mapping[str, Callable[[], pl.DataFrame]]
    """Tables in full precision by name. The first is the main table, and the CSV unless `csv` gives another."""
    answer: Callable[[], str] | None = None
    """The answer alone, for a result whose document takes long."""
    main_tables: tuple[str, ...] = ()
    """Beginnings of the main table's title, of which the first that a table has counts; by default the first table."""
    main_charts: tuple[str, ...] = ()
    """Names of the main chart, of which the first that there is counts; by default the first chart."""
    named_chart: Callable[[str | None], Chart] | None = None
    """Function from a name, or None for the main chart, to a chart, for a result whose document leaves charts out."""
    csv: Callable[[], str] | None = None
    """The CSV, where the main table is written in another way than other frames."""
    text: Callable[[int | None, bool], str] | None = None
    """Function from width and colour to the text, for a text that differs from the document."""
    page: Callable[[], str] | None = None
    """The HTML page, for a page that differs from the document."""

    def report(
        self, format: str = "text", *, width: int | None = None, color: bool = False, chart: str | None = None
    ) -> str | bytes:
        """The result as `format`: bytes for `png`, else text. The arguments are those of `Result.report`."""
        if format not in REPORT_FORMATS:
            raise BadArgument(f"format {format!r} is none of {', '.join(REPORT_FORMATS)}")
        if format in PICTURE_FORMATS:
            from loadgo.documents.chart import png, svg

            drawn, document = self.drawn(chart), self._document
            warnings, trust = document.warnings, document.trust
            return svg(drawn, warnings, trust) if format == "svg" else png(drawn, warnings, trust)
        if format == "csv":
            from loadgo.documents.as_csv import frame_csv

            return frame_csv(self.frame()) if self.csv is None else self.csv()
        if format == "text" and self.text is not None:
            return self.text(width, color)
        if format == "html" and self.page is not None:
            return self.page()
        from loadgo.documents.render import render

        return render(format, lambda: self._document, self.json, width=width, color=color)

    @cached_property
    def _document(self) -> Document:
        """The document, which is made once."""
        return self.document()

    def to_dict(self) -> dict[str, Any]:
        """The JSON as a dict."""
        members: dict[str, Any] = json.loads(self.json())
        return members

    def frame(self, name: str | None = None) -> pl.DataFrame:
        """The main table, or the table called `name`. Raises `BadArgument` for an unknown name."""
        if name is None:
            name = next(iter(self.frames))
        if name not in self.frames:
            raise BadArgument(f"there is no frame {name!r}; there are {', '.join(self.frames)}")
        return self.frames[name]()

    def drawn(self, name: str | None = None) -> Chart:
        """The main chart, or the chart called `name`. Raises `BadArgument` if there is none."""
        if self.named_chart is not None:
            return self.named_chart(name)
        charts = self.all_charts()
        if not charts:
            raise BadArgument(f"there is no chart of this result: its formats are {', '.join(TABLE_FORMATS)}")
        if name is None:
            return self._main_of(charts)
        by_name = {chart.name: chart for chart in charts}
        if name not in by_name:
            raise BadArgument(f"there is no chart {name!r}; there are {', '.join(by_name)}")
        return by_name[name]

    def _main_of(self, charts: list[Chart]) -> Chart:
        by_name = {chart.name: chart for chart in charts}
        return next((by_name[name] for name in self.main_charts if name in by_name), charts[0])

    def altair_chart(self, name: str | None = None) -> alt.Chart | alt.LayerChart | alt.FacetChart:
        """The main chart, or the chart called `name`, for Altair, below the result's warnings."""
        from loadgo.documents.chart import altair_chart

        return altair_chart(self.drawn(name), self._document.warnings)

    def all_charts(self) -> list[Chart]:
        """All charts that have data, in the order of the page."""
        return [chart for section in self._document.sections if isinstance(section, Charts) for chart in section.draw()]

    def notebook_html(self) -> str:
        """The answer, the main table and the main chart for a notebook."""
        from loadgo.documents.as_notebook import notebook_html

        charts = self.all_charts()
        return notebook_html(self._document.full(), self.main_tables, self._main_of(charts) if charts else None)

    def line(self) -> str:
        """The answer."""
        return self.answer() if self.answer is not None else self._document.answer
