"""Record what a few commands show on a terminal, as the picture of the README: docs/images/terminal.svg.

python3 scripts/record_terminal.py FOLDER    FOLDER: an indexed repository; a memory is stored in it
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "terminal.svg"
COLUMNS, ROWS = 100, 200

COMMANDS = (
    ("turn what a view returns into a response", "-k", "1"),
    ("add", "Old keys only verify; keep them for a month", "--at", "src/flask/sessions.py:309"),
    ("which key signs", "-k", "1"),
)


def shown(command: tuple[str, ...], folder: Path) -> str:
    """What a command prints on a terminal, colours included."""
    child, ours = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.chdir(folder)
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    output = b""
    try:
        while block := os.read(ours, 65536):
            output += block
    except OSError:
        # The command ended, and its terminal with it.
        pass
    os.waitpid(child, 0)
    return output.decode().replace("\r\n", "\n").rstrip()


def main() -> None:
    """Run the commands, and draw what they show."""
    folder = Path(sys.argv[1]).resolve()
    rag_ls = str(Path(sys.executable).with_name("rag-ls"))
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=COLUMNS, force_terminal=True, color_system="truecolor", file=nowhere)
        for command in COMMANDS:
            typed = " ".join(f"'{word}'" if " " in word else word for word in command)
            console.print(f"[bold green]$[/] rag-ls {typed}", highlight=False)
            console.print(Text.from_ansi(shown((rag_ls, *command), folder)), soft_wrap=True)
            console.print()
        PICTURE.parent.mkdir(exist_ok=True)
        picture = console.export_svg(title=folder.name)
        # Whoever looks at the picture fetches no font for it: any fixed one will do.
        PICTURE.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL))


if __name__ == "__main__":
    main()
