"""The typed model of a lesson."""

from course.lesson import load


def test_model(files):
    lesson = load(files.solution)
    assert (lesson.front.lesson, lesson.front.title) == ("04", "A small lesson")
    assert lesson.front.minutes == {"reading": 1, "exercises": 2}
    assert lesson.front.needs == ["01", "02"]
    found = [(e.id, e.title, e.functions) for e in lesson.exercises]
    assert found == [("4.1", "Add", ("add",)), ("4.2", "Count later", ("Counter.count",))]
    assert [r.function for r in lesson.regions] == ["add", "Counter.count"]


def test_cells_know_their_lines(files):
    lesson = load(files.solution)
    lines = lesson.text.split("\n")
    for cell in lesson.cells:
        assert lines[cell.line - 1].startswith("# %%")
        source = "\n".join(lines[cell.line : cell.end]).strip("\n")
        if cell.kind == "markdown":
            source = "\n".join(line.removeprefix("#").removeprefix(" ") for line in source.split("\n"))
        assert source == cell.source
    assert lesson.cells[-1].end == len(lines)
