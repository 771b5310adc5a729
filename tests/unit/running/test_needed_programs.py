"""Programs that scripts need: the message about missing ones says what installs them."""

import tomllib

import pytest
from loadgo.running import bundled
from loadgo.running.needed_programs import remedy_for

OWN = {"loadgo-calculator", "loadgo-rjs"}
"""Programs of loadgo's own, which lie beside it."""


@pytest.mark.parametrize("name", bundled.script_names())
def test_each_program_that_a_bundled_script_needs_has_a_remedy(name: str) -> None:
    needed = set(tomllib.loads(bundled.find_script(name).text)["needs"])
    for program in needed - OWN:
        assert "install it (" in remedy_for([program]), program


def test_a_remedy_names_each_package_once_and_says_where() -> None:
    assert remedy_for(["no-such-program"]) == "install it, or use another script"
    assert remedy_for(["cc", "tail", "df"], elsewhere=True) == (
        "install them there (apt install gcc libc6-dev coreutils), or use another script"
    )
    both = remedy_for(["gdb", "ipython"])
    assert both == "install them (apt install gdb; pip install ipython numpy), or use another script"
