"""What a person and an agent do with a document that both work on, told once for all editors.

A scene is given the desk, an editor and an agent. It ends with the bytes on the disk.
"""

LINES = ["one();", "two();", "three();", "four();", "five();"]
NAME = "numbers.js"


def text(*lines, ending="\n"):
    return "".join(line + ending for line in lines)


def opened(desk, editor, agent, content=text(*LINES), name=NAME):
    desk.write(name, content)
    editor.open(name)
    agent.finds_open(name)


def accepts(desk, editor, agent):
    """reads unsaved work, has its edit shown there, and accepted from the editor's menu"""
    opened(desk, editor, agent)
    editor.type_below(2, "mine();")
    agent.sees(NAME, "one();", "two();", "mine();", "three();", "four();", "five();")
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"))
    desk.holds(NAME, text(*LINES))
    editor.offers(5, "FOUR();")
    editor.choose(5, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.hides("four();", "proposes")
    editor.save()
    desk.holds(NAME, text("one();", "two();", "mine();", "three();", "FOUR();", "five();"))


def rejects(desk, editor, agent):
    """has its edit rejected from the editor's menu: the person's text stays as it is"""
    opened(desk, editor, agent)
    editor.type_below(2, "mine();")
    agent.sees(NAME, "one();", "two();", "mine();", "three();", "four();", "five();")
    edit = agent.edit(NAME, ("delete", "four", None), ("insert_after", "mine", "theirs();"))
    editor.choose(5, "Reject (claude-code 2 of 2): remove four();")
    editor.choose(3, "Reject (claude-code 1 of 2): insert theirs();")
    agent.hears(edit, "hunk 1 · rejected", "hunk 2 · rejected")
    editor.save()
    desk.holds(NAME, text("one();", "two();", "mine();", "three();", "four();", "five();"))


def accepts_all(desk, editor, agent):
    """has all that it did to the file accepted at once, from any line"""
    opened(desk, editor, agent)
    edit = agent.edit(NAME, ("replace", "one", "ONE();"), ("delete", "three", None), ("insert_after", "five", "six();"))
    editor.choose(2, "Accept all 3 hunks in this file")
    agent.hears(edit, "hunk 1 · accepted", "hunk 2 · accepted", "hunk 3 · accepted")
    editor.save()
    desk.holds(NAME, text("ONE();", "two();", "four();", "five();", "six();"))


def rejects_all(desk, editor, agent):
    """has all that it did to the file rejected at once"""
    opened(desk, editor, agent)
    edit = agent.edit(NAME, ("replace", "one", "ONE();"), ("delete", "three", None), ("insert_after", "five", "six();"))
    editor.choose(2, "Reject all 3 hunks in this file")
    agent.hears(edit, "hunk 1 · rejected", "hunk 2 · rejected", "hunk 3 · rejected")
    editor.type_behind(5, " // mine")
    editor.save()
    desk.holds(NAME, text(*LINES[:4], "five(); // mine"))


def carried(desk, editor, agent):
    """has its edits carried over what is typed after it has read, and again after it has edited"""
    opened(desk, editor, agent)
    read = agent.read(NAME)
    editor.type_below(1, "before();")
    agent.sees(NAME, "one();", "before();", *LINES[1:])
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"), read=read)
    editor.offers(5, "FOUR();")
    editor.type_below(2, "after();")
    editor.type_behind(3, " // mine")
    agent.sees(NAME, "one();", "before();", "after(); // mine", *LINES[1:])
    editor.choose(6, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text("one();", "before();", "after(); // mine", "two();", "three();", "FOUR();", "five();"))


def _conflict(desk, editor, agent):
    opened(desk, editor, agent)
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"))
    editor.offers(4, "FOUR();")
    editor.type_behind(4, " // mine")
    agent.lists("conflicted")
    return edit


def keeps_mine(desk, editor, agent):
    """is told of a conflict with what is typed, which the person settles for their own line"""
    edit = _conflict(desk, editor, agent)
    editor.choose(4, "Keep mine (claude-code): FOUR();")
    agent.hears(edit, "rejected")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "four(); // mine", "five();"))


def takes_theirs(desk, editor, agent):
    """is told of a conflict with what is typed, which the person settles for the agent's line"""
    edit = _conflict(desk, editor, agent)
    editor.choose(4, "Take the agent's (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "FOUR();", "five();"))


def keeps_both(desk, editor, agent):
    """is told of a conflict with what is typed, which the person settles for both lines"""
    edit = _conflict(desk, editor, agent)
    editor.choose(4, "Keep both (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "four(); // mine", "FOUR();", "five();"))


def undoes_conflict(desk, editor, agent):
    """has a conflict end when the person undoes their typing"""
    edit = _conflict(desk, editor, agent)
    editor.undo()
    agent.lists("held")
    editor.choose(4, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "FOUR();", "five();"))


def undoes_acceptance(desk, editor, agent):
    """has its edit held again when the person undoes the acceptance, and accepted by a redo"""
    opened(desk, editor, agent)
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"))
    editor.choose(4, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.undo()
    agent.lists("held")
    editor.offers(4, "FOUR();")
    editor.redo()
    agent.hears(edit, "accepted")
    editor.undo()
    agent.lists("held")
    editor.choose(4, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "FOUR();", "five();"))


def windows_endings(desk, editor, agent):
    """edits a file with the line endings of Windows, which stay"""
    opened(desk, editor, agent, text(*LINES, ending="\r\n"))
    editor.type_below(1, "mine();")
    agent.sees(NAME, "one();", "mine();", *LINES[1:])
    edit = agent.edit(NAME, ("replace", "four", "FOUR();\nfour and a half();"), ("insert_after", "five", "six();"))
    editor.choose(1, "Accept all 2 hunks in this file")
    agent.hears(edit, "hunk 1 · accepted", "hunk 2 · accepted")
    editor.save()
    after = ["one();", "mine();", "two();", "three();", "FOUR();", "four and a half();", "five();", "six();"]
    desk.holds(NAME, text(*after, ending="\r\n"))


def no_final_newline(desk, editor, agent):
    """edits the last line of a file that has no final newline: only the editor adds one"""
    opened(desk, editor, agent, "\n".join(LINES))
    edit = agent.edit(NAME, ("replace", "five", "FIVE();\nsix();"))
    editor.choose(5, "Accept (claude-code): FIVE(); …")
    agent.hears(edit, "accepted")
    agent.sees(NAME, *LINES[:4], "FIVE();", "six();")
    editor.save()
    added = "\n" if editor.adds_final_newline else ""
    desk.holds(NAME, "\n".join([*LINES[:4], "FIVE();", "six();"]) + added)


def closes_and_reopens(desk, editor, agent):
    """has its edit offered again when the document is closed and opened"""
    opened(desk, editor, agent)
    editor.type_below(1, "mine();")
    agent.sees(NAME, "one();", "mine();", *LINES[1:])
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"))
    editor.save()
    desk.holds(NAME, text("one();", "mine();", *LINES[1:]))
    editor.close_document()
    editor.hides("four();")
    editor.reopen(NAME)
    editor.offers(5, "FOUR();")
    editor.choose(5, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text("one();", "mine();", "two();", "three();", "FOUR();", "five();"))


def conversation(desk, editor, agent):
    """has one turn accepted in all files that it is about"""
    desk.write("other.js", text("other();"))
    desk.write(NAME, text(*LINES))
    editor.open(NAME, "other.js")
    agent.finds_open(NAME)
    agent.finds_open("other.js")
    first = agent.edit(NAME, ("replace", "four", "FOUR();"))
    turn = first.conversation
    second = agent.edit("other.js", ("replace", "other", "OTHER();"), mcp_conversation_id=turn)
    editor.choose(4, "Accept all of this conversation (claude-code) in 2 files")
    agent.hears(first, "accepted")
    agent.hears(second, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], "FOUR();", "five();"))
    desk.holds("other.js", text("OTHER();"))


def tells(desk, editor, agent):
    """has its edit shown as a diff where the person asks what is there"""
    opened(desk, editor, agent)
    agent.edit(NAME, ("replace", "four", "FOUR();"))
    editor.offers(4, "FOUR();")
    editor.hover(4)
    editor.shows("claude-code's edit is proposed", "-four();", "+FOUR();", "Code actions: Accept · Reject.")


def applies(desk, editor, agent):
    """edits without asking where the settings say so, while lines are typed above; the menu has each kept or undone"""
    desk.let_agents_apply()
    opened(desk, editor, agent)
    editor.begin_typing_below(1)
    editor.type_line("begin;")
    agent.sees(NAME, "one();", "begin;", "", *LINES[1:])
    typed, edits = ["begin;"], {}
    for number, line in enumerate(LINES[1:]):
        typed.append(f"typed {number};")
        editor.type("typed ")
        if number % 2 == 1:
            edits[line] = agent.edit(NAME, ("replace", line, line.upper()))
        editor.type_line(f"{number};")
        if number % 2 == 0:  # the editor may not have told of the new line yet
            edits[line] = agent.edit(NAME, ("replace", line, line.upper()))
    editor.type("end;")
    editor.end_typing()
    before = ["one();", *typed, "end;"]
    agent.sees(NAME, *before, "TWO();", "THREE();", "FOUR();", "FIVE();")
    editor.choose(len(before) + 1, "Undo (claude-code): TWO();")
    agent.hears(edits["two();"], "rejected")
    editor.choose(len(before) + 2, "Keep (claude-code): THREE();")
    agent.hears(edits["three();"], "accepted")
    editor.save()
    desk.holds(NAME, text(*before, "two();", "THREE();", "FOUR();", "FIVE();"))


def typed_fast(desk, editor, agent):
    """reads to the letter what is typed at full speed"""
    opened(desk, editor, agent)
    typed = "".join(f"w{number} " for number in range(200)) + "end"
    editor.type_below(3, typed)
    agent.sees(NAME, *LINES[:3], typed, *LINES[3:])
    edit = agent.edit(NAME, ("replace", "four", "FOUR();"))
    editor.choose(5, "Accept (claude-code): FOUR();")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds(NAME, text(*LINES[:3], typed, "FOUR();", "five();"))


def beside(desk, editor, agent):
    """is reviewed beside another language server, which goes on to tell and to offer what it has"""
    lines = ["import os", "", "missing", "two = 2", "three = 3"]
    opened(desk, editor, agent, text(*lines), "numbers.py")
    edit = agent.edit("numbers.py", ("replace", "three", "three = 33"))
    editor.tells(3, "Undefined name `missing`")
    editor.offers(5, "three = 33")
    editor.choose(1, "Ruff: Fix all auto-fixable problems")
    agent.sees("numbers.py", *lines[1:])
    editor.choose(4, "Accept (claude-code): three = 33")
    agent.hears(edit, "accepted")
    editor.save()
    desk.holds("numbers.py", text("", "missing", "two = 2", "three = 33"))


def removes_file(desk, editor, agent):
    """has an open file removed from the editor's menu, if the editor does such things, else once it is closed"""
    opened(desk, editor, agent)
    edit = agent.call("delete_file", path=NAME)
    editor.choose(1, "Accept (claude-code): remove the file")
    if not editor.does_file_operations:
        editor.shows("Close it first")
        editor.close_document()
        agent.finds_open(NAME, is_open=False)
        desk.decide("accept", edit.edit)
    agent.hears(edit, "accepted")
    desk.lacks(NAME)


SCENES = [
    accepts,
    rejects,
    accepts_all,
    rejects_all,
    conversation,
    tells,
    carried,
    keeps_mine,
    takes_theirs,
    keeps_both,
    undoes_conflict,
    undoes_acceptance,
    windows_endings,
    no_final_newline,
    closes_and_reopens,
    applies,
    typed_fast,
    beside,
    removes_file,
]
