"""The verbs that ask an operation. Generated from rag_ls/operations/ by scripts/dev.py docs."""

from typing import Any

VERBS: dict[str, dict[str, Any]] = {
    "refs": {
        "operation": "find_references",
        "summary": "list where a symbol is used",
        "example": "rag-ls refs Session.refresh --callers --depth 2",
        "in_project": True,
        "options": [
            {"names": ["symbol"], "help": "a name, or a qualified one: Session.refresh", "nargs": "?", "default": ""},
            {"names": ["--depth"], "dest": "depth", "help": "callers of callers, to 5 steps", "type": "int"},
            {"names": ["-k", "--k"], "dest": "k", "help": "references at most", "type": "int"},
            {"names": ["--offset"], "dest": "offset", "help": "how many to pass over", "type": "int"},
        ],
    },
    "project list": {
        "operation": "list_repos",
        "summary": "list the projects of the settings, and those that were opened",
        "example": "rag-ls project list",
        "in_project": False,
        "options": [],
    },
    "add": {
        "operation": "store_memory",
        "summary": "store a memory",
        "example": 'rag-ls add "Prices are net of tax" --at src/cart.py:12 --tag money',
        "in_project": True,
        "options": [
            {"names": ["--scope"], "dest": "scope", "help": "where it lives", "choices": ["project", "global"]},
            {
                "names": ["--force"],
                "dest": "force",
                "help": "even if it looks trivial, or like a secret",
                "action": "store_true",
            },
        ],
    },
    "update": {
        "operation": "update_memory",
        "summary": "change a memory; the former version is kept",
        "example": "rag-ls update 7b34c1d2 --content 'Prices are gross'",
        "in_project": True,
        "options": [
            {
                "names": ["--expected-version"],
                "dest": "expected_version",
                "help": "refuse where it is at another version",
                "type": "int",
            },
            {
                "names": ["--force"],
                "dest": "force",
                "help": "even if it looks trivial, or like a secret",
                "action": "store_true",
            },
        ],
    },
    "delete": {
        "operation": "delete_memory",
        "summary": "delete memories",
        "example": "rag-ls delete 7b34c1d2",
        "in_project": True,
        "options": [],
    },
    "list": {
        "operation": "list_memories",
        "summary": "list memories",
        "example": "rag-ls list --tag money -k 10",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            },
            {"names": ["-k", "--limit"], "dest": "k", "help": "how many at most", "type": "int"},
            {"names": ["--offset"], "dest": "offset", "help": "how many to pass over", "type": "int"},
            {
                "names": ["--order"],
                "dest": "order",
                "help": "which come first",
                "choices": ["updated", "created", "importance", "uses", "least_used"],
            },
            {
                "names": ["--deleted"],
                "dest": "deleted",
                "help": "those that were deleted, the latest first; `restore ID` brings one back",
                "action": "store_true",
            },
        ],
    },
    "consolidate": {
        "operation": "consolidate_memories",
        "summary": "merge memories that say the same, and show which contradict each other",
        "example": "rag-ls consolidate --dry-run",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--threshold"],
                "dest": "threshold",
                "help": "how close they must be, 0 to 1 (default: 0.85)",
                "type": "float",
            },
            {
                "names": ["--dry-run"],
                "dest": "dry_run",
                "help": "show what would be done, and do nothing",
                "action": "store_true",
            },
        ],
    },
    "summarize": {
        "operation": "summarize_memories",
        "summary": "summarise the memories of a time, and keep the summary",
        "example": "rag-ls summarize --start 2026-01-01 --end 2026-01-31 --dry-run",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: project)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--dry-run"],
                "dest": "dry_run",
                "help": "show what would be done, and do nothing",
                "action": "store_true",
            },
            {"names": ["--max-words"], "dest": "max_words", "help": "how long it may be", "type": "int"},
            {
                "names": ["--summary-key"],
                "dest": "summary_key",
                "help": "the name under which the next one replaces this one",
            },
        ],
    },
    "stats": {
        "operation": "stats",
        "summary": "show how many memories there are of what kind, and what is never recalled",
        "example": "rag-ls stats --scope project",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            }
        ],
    },
    "status": {
        "operation": "status",
        "summary": "show how much is indexed, queued and skipped, and how the engine stands",
        "example": "rag-ls status --watch",
        "in_project": True,
        "options": [
            {
                "names": ["--skipped"],
                "dest": "skipped",
                "help": "name the files that are skipped, with the reasons",
                "action": "store_true",
            }
        ],
    },
    "search": {
        "operation": "search",
        "summary": "search code and memories",
        "example": 'rag-ls "where is the token refreshed"',
        "in_project": True,
        "options": [
            {
                "names": ["query"],
                "help": "a question, words, an identifier, a path, an error message or a piece of code",
            },
            {
                "names": ["--in"],
                "dest": "kinds",
                "help": "what to search: code, memory, rules (default: code,memory; memory with --scope)",
                "metavar": "KINDS",
            },
            {
                "names": ["-k", "--k"],
                "dest": "k",
                "help": "files, memories and rules at most, to 100 of each",
                "type": "int",
            },
            {"names": ["--language"], "dest": "language", "help": "only code in this language"},
            {
                "names": ["--path"],
                "dest": "path_glob",
                "help": "only files that match, e.g. 'src/**'",
                "metavar": "GLOB",
                "action": "append",
            },
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--min-similarity"],
                "dest": "min_similarity",
                "help": "only hits that score at least this, 0 to 1 (default: memories of 0.7 in meaning, all code)",
                "type": "float",
            },
            {"names": ["--offset"], "dest": "offset", "help": "with -e or -F: lines to pass over", "type": "int"},
        ],
    },
    "show": {
        "operation": "show",
        "summary": "show a memory or a chunk by its id",
        "example": "rag-ls show 7b34c1d2",
        "in_project": True,
        "options": [
            {"names": ["id"], "help": "a memory's id (or its first 4 or more characters), or a chunk's"},
            {
                "names": ["--history"],
                "dest": "history",
                "help": "with a memory's former versions",
                "action": "store_true",
            },
        ],
    },
    "index": {
        "operation": "index",
        "summary": "index a project, with a progress bar; done again, it only does what changed",
        "example": "rag-ls index",
        "in_project": True,
        "options": [
            {
                "names": ["--words-only"],
                "dest": "words_only",
                "help": "leave the embeddings to the editor or agent",
                "action": "store_true",
            },
            {
                "names": ["--force"],
                "dest": "force",
                "help": "also a folder of all kinds of things (home, /), or of more than 100,000 files",
                "action": "store_true",
            },
        ],
    },
    "scan": {
        "operation": "scan",
        "summary": "index projects by name, with a progress bar",
        "example": "rag-ls scan shop",
        "in_project": False,
        "options": [
            {"names": ["project"], "help": "names or roots, or all", "nargs": "+"},
            {
                "names": ["--words-only"],
                "dest": "words_only",
                "help": "leave the embeddings to the editor or agent",
                "action": "store_true",
            },
        ],
    },
    "project add": {
        "operation": "add_project",
        "summary": "make a project known by name",
        "example": "rag-ls project add ~/work/shop --name shop",
        "in_project": False,
        "options": [
            {"names": ["path"], "help": "a folder of the project"},
            {"names": ["--name"], "dest": "name", "help": "what to call it (default: the folder's name)"},
        ],
    },
    "project remove": {
        "operation": "plan_removal",
        "summary": "forget a project and delete its index, never its files; memories are kept",
        "example": "rag-ls project remove shop",
        "in_project": False,
        "options": [
            {"names": ["project"], "help": "a name, or the path of a root"},
            {
                "names": ["--memories"],
                "dest": "memories",
                "help": "delete its memories too, with their backups",
                "action": "store_true",
            },
        ],
    },
    "project prune": {
        "operation": "plan_pruning",
        "summary": "the same for projects that are gone, or that the settings list no longer",
        "example": "rag-ls project prune",
        "in_project": False,
        "options": [],
    },
    "optimize": {
        "operation": "optimize",
        "summary": "bring the indexes into their best shape",
        "example": "rag-ls optimize",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            }
        ],
    },
    "vacuum": {
        "operation": "vacuum",
        "summary": "give free space of the files back to the disk",
        "example": "rag-ls vacuum",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: all)",
                "choices": ["project", "global"],
            }
        ],
    },
    "export": {
        "operation": "export_memories",
        "summary": "write memories to a file",
        "example": "rag-ls export --output memories.json",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: project)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--format"],
                "dest": "format",
                "help": "(default: by the file's name, else json)",
                "choices": ["json", "jsonl", "markdown"],
            },
            {"names": ["--embeddings"], "dest": "embeddings", "help": "with their vectors", "action": "store_true"},
        ],
    },
    "import": {
        "operation": "import_memories",
        "summary": "take memories in from a file, all of it or nothing",
        "example": "rag-ls import --input memories.json --dry-run",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: project)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--format"],
                "dest": "format",
                "help": "(default: by the file's name and beginning)",
                "choices": ["json", "jsonl", "markdown"],
            },
            {
                "names": ["--from"],
                "dest": "source",
                "help": "it comes from another tool",
                "choices": ["claude", "agents", "mcp-memory-service", "basic-memory"],
            },
            {
                "names": ["--force"],
                "dest": "force",
                "help": "take in what looks like a secret too",
                "action": "store_true",
            },
            {
                "names": ["--dry-run"],
                "dest": "dry_run",
                "help": "show what would be done, and do nothing",
                "action": "store_true",
            },
        ],
    },
    "restore": {
        "operation": "restore_backup",
        "summary": "bring back a memory's former version, or all memories of a backup",
        "example": "rag-ls restore 7b34c1d2 --version 1",
        "in_project": True,
        "options": [
            {
                "names": ["--scope"],
                "dest": "scope",
                "help": "memories of this scope (default: project)",
                "choices": ["project", "global"],
            },
            {
                "names": ["--backup"],
                "dest": "backup",
                "help": "latest, a date like 2026-01-31, a time of it, or a file",
                "metavar": "NAME",
            },
            {
                "names": ["--dry-run"],
                "dest": "dry_run",
                "help": "show what would be done, and do nothing",
                "action": "store_true",
            },
        ],
    },
    "undo": {
        "operation": "undo",
        "summary": "take back the latest deletion, import, consolidation or restore of memories",
        "example": "rag-ls undo --dry-run",
        "in_project": True,
        "options": [
            {
                "names": ["id"],
                "help": "which one, by the id that it named (default: the latest)",
                "nargs": "?",
                "default": "",
            },
            {
                "names": ["--dry-run"],
                "dest": "dry_run",
                "help": "show what would be done, and do nothing",
                "action": "store_true",
            },
        ],
    },
    "rules setup": {
        "operation": "rag_setup",
        "summary": "survey the code, and propose ARCHITECTURE.yml and docs/patterns from what it shows",
        "example": "rag-ls rules setup",
        "in_project": True,
        "options": [
            {
                "names": ["--project-root"],
                "dest": "project_root",
                "help": "the project's folder, absolute (default at the shell: this one)",
            },
            {
                "names": ["--frontend-path"],
                "dest": "frontend_path",
                "help": "the folder of the frontend, if it is not found",
            },
            {
                "names": ["--backend-path"],
                "dest": "backend_path",
                "help": "the folder of the backend, if it is not found",
            },
            {
                "names": ["--force"],
                "dest": "force",
                "help": "write over existing files; their former text is kept beside",
                "action": "store_true",
            },
            {
                "names": ["--publish"],
                "dest": "publish",
                "help": "write also where a site generator publishes the files",
                "action": "store_true",
            },
        ],
    },
    "rules index": {
        "operation": "rag_index",
        "summary": "index the project anew, its rules among the rest",
        "example": "rag-ls rules index",
        "in_project": True,
        "options": [],
    },
    "rules check": {
        "operation": "rag_check_constraints",
        "summary": "show the rules for a planned change, a diff, or a file",
        "example": 'rag-ls rules check "let the cart call the bank"',
        "in_project": True,
        "options": [
            {"names": ["change_description"], "help": "what is to be changed, in words", "nargs": "?", "default": ""},
            {
                "names": ["--num-results"],
                "dest": "num_results",
                "help": "results of each kind, 1 to 20 (default: 5)",
                "type": "int",
            },
            {"names": ["--diff"], "dest": "diff", "help": "a unified diff; `-` reads it from the standard input"},
            {"names": ["--file"], "dest": "file_path", "help": "the file about to be edited"},
        ],
    },
    "rules impact": {
        "operation": "rag_query_impact",
        "summary": "show what a change of a file would touch, or what a branch touches",
        "example": "rag-ls impact --changed main",
        "in_project": True,
        "options": [
            {"names": ["file_path"], "help": "a file, relative to the project's root", "nargs": "?", "default": ""},
            {
                "names": ["--num-similar"],
                "dest": "num_similar",
                "help": "similar files, 1 to 20 (default: 5)",
                "type": "int",
            },
            {
                "names": ["--symbol"],
                "dest": "symbol",
                "help": "only this exported name; without file_path where one file declares it",
            },
        ],
    },
    "rules health": {
        "operation": "rag_health_check",
        "summary": "show whether rules and impact can be asked for, and what is missing",
        "example": "rag-ls rules health",
        "in_project": True,
        "options": [],
    },
    "rules status": {
        "operation": "rag_status",
        "summary": "show how the rules of the project stand",
        "example": "rag-ls rules status",
        "in_project": True,
        "options": [],
    },
}
