"""C and C++ whose `#ifdef`s split brackets: no declaration that the lines show is lost."""

from __future__ import annotations

import pytest

from rag_ls.chunking.chunker import cut
from rag_ls.chunking.document import Budget, approximate_token_offsets
from rag_ls.chunking.uses import read_uses
from rag_ls.languages.families.c import choose_branches

_FORMS = {
    "else head": (
        "c",
        """\
#include <a.h>

static int before(void)
{
    return 1;
}

#ifdef WIDE
int width(int a, int b)
{
#else
int width(int a)
{
#endif
    int c = a;
    return c;
}

int after(void)
{
    return 2;
}
""",
        {"width", "after", "before"},
    ),
    "if inside": (
        "c",
        """\
int before(void) { return 1; }

int parse(struct s *p)
{
#ifdef A
    if (p->a) {
#else
    if (p->b) {
#endif
        go(p);
    }
    return 0;
}

int after(void)
{
    return 2;
}
""",
        {"parse", "after", "before"},
    ),
    "open and close apart": (
        "c",
        """\
int work(int x)
{
#ifdef LOCKED
    if (lock()) {
#endif
        x++;
#ifdef LOCKED
    } else {
        return -1;
    }
#endif
    return x;
}

int after(void)
{
    return 2;
}
""",
        {"after", "work"},
    ),
    "class head": (
        "cpp",
        """\
namespace shop {
#ifdef QT
class Cart : public QObject {
    Q_OBJECT
#else
class Cart {
#endif
public:
    Cart();
    int total() const { return total_; }
    void add(int x);
private:
    int total_;
};

int Cart_count()
{
    return 0;
}
}
""",
        {"total", "Cart", "Cart_count"},
    ),
    "namespace head": (
        "cpp",
        """\
#if CPP17
namespace a::b {
#else
namespace a { namespace b {
#endif

class Dog {
public:
  void bark() { woof(); }
};

int legs(const Dog& d) {
  return 4;
}

#if CPP17
}
#else
}}
#endif
""",
        {"legs", "bark", "Dog"},
    ),
    "extern C": (
        "c",
        """\
#ifdef __cplusplus
extern "C" {
#endif

struct point { int x; };
int area(struct point *p);
static inline int dist(int a)
{
    return a;
}

#ifdef __cplusplus
}
#endif
""",
        {"area", "dist", "point"},
    ),
    "two names": (
        "c",
        """\
#ifdef A
static int open_a(int fd)
{
#else
static int open_b(int fd)
{
#endif
    return fd;
}

int after(void)
{
    return 1;
}
""",
        {"after", "open_a", "open_b"},
    ),
    "method": (
        "cpp",
        """\
class Widget : public Base {
public:
    void paint(int x)
    {
#if defined(FAST)
        if (x > 1) {
#elif defined(SLOW)
        if (x > 2) {
#else
        while (x) {
#endif
            draw(x);
        }
    }

    int size() const { return 1; }
    struct Inner { int a; };
};

void run()
{
}
""",
        {"Inner", "size", "paint", "Widget", "run"},
    ),
    "switch": (
        "c",
        """\
int handle(int k)
{
    switch (k) {
#ifdef X
    case 1: {
#else
    case 2: {
#endif
        go();
        break;
    }
    }
    return 0;
}
int after(void)
{
    return 1;
}
""",
        {"after", "handle"},
    ),
    "ifndef pair": (
        "c",
        """\
int once(void)
{
#ifndef NO_LOOP
    for (;;) {
#endif
        step();
#ifdef NO_LOOP
    return 0;
#else
    }
#endif
}

int after(void)
{
    return 1;
}
""",
        {"after", "once"},
    ),
    "ctor": (
        "cpp",
        """\
struct Foo {
  Foo()
#ifdef A
    : a_(1) {
#else
  {
#endif
    init();
  }
  ~Foo() { done(); }
  int a_;
};

template <typename T>
T twice(T x) {
  return x * 2;
}
""",
        {"Foo", "twice"},
    ),
    "macros": (
        "cpp",
        """\
SHOP_NAMESPACE_BEGIN

namespace shop {
struct Cart {
    int size;
};
template <typename T>
SHOP_API std::pair<T, T> twice(T one)
{
    return {one, one};
}
}
SHOP_NAMESPACE_END
""",
        {"Cart", "twice"},
    ),
}


@pytest.mark.parametrize(("language", "text", "wanted"), _FORMS.values(), ids=_FORMS)
def test_a_bracket_that_an_ifdef_splits_hides_no_declaration(language: str, text: str, wanted: set[str]) -> None:
    found = cut(text, "a.cc", language=language, budget=Budget(60, 10, 0), token_offsets=approximate_token_offsets)
    assert "".join(chunk.text for chunk in found.chunks) == text
    names = [symbol.name.rpartition(".")[2] for symbol in found.outline.symbols if symbol.kind in ("function", "type")]
    assert wanted <= set(names)
    assert all(names.count(name) == 1 for name in wanted - {"Foo"})


def test_a_function_goes_from_its_head_to_its_end() -> None:
    _, text, _ = _FORMS["if inside"]
    found = cut(text, "a.c", language="c", budget=Budget(60, 10, 0), token_offsets=approximate_token_offsets)
    assert [(each.start_line, each.end_line) for each in found.outline.symbols if each.name == "parse"] == [(3, 13)]


def test_calls_in_both_branches_are_uses() -> None:
    text = "int run(int x)\n{\n#ifdef A\n    if (first(x)) {\n#else\n    if (second(x)) {\n#endif\n        go(x);\n    }\n}\n"
    found = cut(text, "a.c", language="c", budget=Budget(60, 10, 0), token_offsets=approximate_token_offsets)
    names = [use.name for use in read_uses(found.uses)]
    assert {name: names.count(name) for name in ("first", "second", "go")} == {"first": 1, "second": 1, "go": 1}


def test_conditions_that_split_no_bracket_stay_as_they_are() -> None:
    text = b'#ifndef A_H\n#define OPEN {\n#if X /* { */\nint a(void) { return f("{"); }\n#else\nint a(void);\n#endif\n#endif\n'
    assert choose_branches(text).text == text


def test_offsets_stay_right() -> None:
    for _, text, _ in _FORMS.values():
        variant = choose_branches(text.replace("\n", "\r\n").encode())
        assert len(variant.text) == len(text.replace("\n", "\r\n").encode())
        assert variant.text.count(b"\r\n") == text.count("\n")
