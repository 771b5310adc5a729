"""The face of every result of the library: a line, a page in a notebook, each format, frames, a chart."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from loadgo.documents.formats import TextFormat
    from loadgo.documents.presentation import Presentation


MOST_LINE_CHARS = 199
"""The largest number of characters of a result's `repr`."""


class Result:
    """A result that can be shown in every format.

    A subclass names the function that presents it, as `MODULE:FUNCTION`. It is imported when the result is first
    shown. Results are made in lower packages than documents, and runs must not wait for libraries of charts.
    """

    _presented_by: ClassVar[str]

    def __init_subclass__(cls, presented_by: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if presented_by:
            cls._presented_by = presented_by

    @overload
    def report(
        self,
        format: TextFormat = "text",
        *,
        width: int | None = None,
        color: bool = False,
        chart: str | None = None,
        **choices: Any,
    ) -> str: ...

    @overload
    def report(self, format: Literal["png"], *, chart: str | None = None, **choices: Any) -> bytes: ...

    @overload
    def report(
        self,
        format: str,
        *,
        width: int | None = None,
        color: bool = False,
        chart: str | None = None,
        **choices: Any,
    ) -> str | bytes: ...

    def report(
        self,
        format: str = "text",
        *,
        width: int | None = None,
        color: bool = False,
        chart: str | None = None,
        **choices: Any,
    ) -> str | bytes:
        """The result as a document.

        Args:
            format: `text`, `html`, `json`, `csv` (the main table), `md`, or, for a result with charts, `svg` or `png`.
            width: Width of `text` in characters. By default the terminal's.
            color: Whether `text` has colours.
            chart: The chart of `svg` and `png`. By default the main chart.
            choices: Choices that this kind of result has, such as `top` of a profile.

        Returns:
            The document; bytes for `png`, else text.

        Raises:
            loadgo.errors.BadArgument: An unknown format or chart, or a result without charts; it is a `ValueError`.
        """
        return self._presentation(**choices).report(format, width=width, color=color, chart=chart)

    def to_dict(self, **choices: Any) -> dict[str, Any]:
        """The members that `--format json` prints, as a dict."""
        return self._presentation(**choices).to_dict()

    def frame(self, name: str | None = None, **choices: Any) -> pl.DataFrame:
        """The main table in full precision, or the table called `name`. An unknown name raises `BadArgument`."""
        return self._presentation(**choices).frame(name)

    def frames(self, **choices: Any) -> dict[str, pl.DataFrame]:
        """All tables in full precision by name, the main table first."""
        return {name: frame() for name, frame in self._presentation(**choices).frames.items()}

    def chart(self, name: str | None = None, **choices: Any) -> alt.Chart | alt.LayerChart | alt.FacetChart:
        """The main chart, or the chart called `name`, for Altair. Raises `BadArgument` if there is none."""
        return self._presentation(**choices).altair_chart(name)

    def __repr__(self) -> str:
        return one_line(type(self).__name__, self._line())

    def _line(self) -> str:
        """The answer for `repr`. A result that is not in memory as a whole has a line of its own."""
        return self._presentation().line()

    def _repr_html_(self) -> str:
        """The answer, the main table and the main chart for a notebook, without scripts and external requests."""
        return self._presentation().notebook_html()

    def _presentation(self, **choices: Any) -> Presentation:
        module, _, function = self._presented_by.partition(":")
        presentation: Presentation = getattr(import_module(module), function)(self, **choices)
        return presentation


def one_line(kind: str, answer: str) -> str:
    """The `repr` of a result whose type is `kind`: at most `MOST_LINE_CHARS` characters, no control characters."""
    # Late, since the command line reads this file before its help, which needs no arithmetic.
    from loadgo.notation.figures import cut, plain

    words = plain(" ".join(answer.split()))
    return f"<{kind}: {cut(words, MOST_LINE_CHARS - len(kind) - len('<: >'))}>"
