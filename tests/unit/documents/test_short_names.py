"""Names in little room: what distinguishes a name stays, what many names share goes first."""

import pytest
from loadgo.documents.short_names import name_forms, short_name

VECTOR = "std::vector<int, std::allocator<int> >::push_back(int const&)"
EXTEND = "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend_desugared"


@pytest.mark.parametrize(
    ("name", "chars", "shown"),
    [
        ("divide", 6, "divide"),
        (VECTOR, 61, VECTOR),
        (VECTOR, 60, "std::vector<int, std::allocator<int> >::push_back(…)"),
        (VECTOR, 40, "std::vector<…>::push_back(…)"),
        (VECTOR, 27, "…::vector<…>::push_back(…)"),
        (VECTOR, 20, "…::push_back(…)"),
        (VECTOR, 8, "…::push…"),
        (EXTEND, 40, "<…>::extend_desugared"),
        (EXTEND, 20, "…::extend_desugared"),
        ("core::ops::function::FnOnce::call_once", 25, "…::FnOnce::call_once"),
        ("bool operator< <int>(A const&, A const&)", 38, "bool operator< <int>(…)"),
        ("Stream::operator<<(char const*)", 25, "Stream::operator<<(…)"),
        ("Functor::operator()(int) const", 25, "Functor::operator()(…)"),
        ("github.com/acme/pool.(*Worker).Run", 30, "…/pool.(*Worker).Run"),
        ("py::total:/home/ann/lib/bill.py", 20, "total (bill.py)"),
        ("py::total:/home/ann/lib/bill.py", 10, "total"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", 34, "/usr/…/x86_64-linux-gnu/libc.so.6"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", 20, "/usr/…/libc.so.6"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", 12, "…/libc.so.6"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", 8, "…bc.so.6"),
        ("/vmlinuz-6.1.0-amd64", 10, "…1.0-amd64"),
        ("an ordinary command of a script", 12, "an ordinary…"),
        ("a < b and c", 6, "a < b…"),
        ("unbalanced<<<(", 8, "unbalan…"),
    ],
)
def test_a_name_is_cut_where_it_says_least(name: str, chars: int, shown: str) -> None:
    assert short_name(name, chars) == shown
    assert len(shown) <= chars


def test_each_form_of_a_name_is_another() -> None:
    for name in (VECTOR, EXTEND, "/usr/lib/x86_64-linux-gnu/libc.so.6", "main"):
        forms = list(name_forms(name))
        assert forms[0] == name
        assert len(set(forms)) == len(forms)
