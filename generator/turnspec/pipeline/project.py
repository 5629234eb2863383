"""Where things are in a checkout: templates, specs, generated files, results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.spec.naming import module_name
from turnspec.spec.recipe import Recipe

#: The folder of the overlays, in a checkout.
OVERLAYS = "templates/overlays"
#: The results of the verification and of live runs, and the index table of all specs.
RESULTS, LIVE, TABLE = "specs/verification.json", "specs/live.json", "specs/README.md"
#: The figures of grammar engines, what other programs made of exports, what servers' parsers read.
ENGINES, INTEGRATIONS = "specs/engines.json", "specs/integrations.json"
SERVERS = "specs/servers.json"
#: The schema of specs as editors find it, in a repository that isn't turnspec's.
SCHEMA = "specs/schema.json"
#: What the last regeneration was made from; never committed, safe to delete.
STATE = ".turnspec-state.json"
_SCHEMA = "generator/turnspec/spec/schema.json"


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with templates/index.yaml in it. All paths below are relative to ``root``."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Project | None:
        """Return the project that ``start`` lies in, or None."""
        for folder in (start, *start.parents):
            if (folder / INDEX_FILE).is_file():
                return cls(folder)
        return None

    @property
    def specs(self) -> Path:
        """The folder of the specs."""
        return self.root / "specs"

    @property
    def overlays(self) -> Path:
        """The folder of the overlays."""
        return self.root / OVERLAYS

    @property
    def recipe(self) -> Recipe:
        """What its files say of how they are made: the index names the command."""
        index, _ = read_index(self.root)
        schema = Path(SCHEMA).name if self.has_schema else ""
        schema = f"../{_SCHEMA}" if (self.root / _SCHEMA).is_file() else schema
        return Recipe(index.regenerate, schema)

    @property
    def has_schema(self) -> bool:
        """Whether the schema of specs lies beside them."""
        return (self.root / SCHEMA).is_file()

    @property
    def families(self) -> dict[str, str]:
        """The families that its index names, by the names of their templates."""
        index, _ = read_index(self.root)
        return {entry.name: entry.family for entry in index.entries if entry.family}


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """The files made from one template, relative to where they are written."""

    spec: str
    module: str
    grammar: str

    @classmethod
    def in_project(cls, name: str) -> OutputPaths:
        """Return the paths in a checkout."""
        module = f"generated/{module_name(name)}.py"
        return cls(f"specs/{name}.yaml", module, f"generated/{name}.gbnf")

    def module_in(self, root: Path) -> str:
        """Return the parser's file; a wheel holds it under a name that pip doesn't compile."""
        packed = f"{self.module}.txt"
        return packed if (root / packed).exists() else self.module

    @classmethod
    def in_folder(cls, name: str) -> OutputPaths:
        """Return the paths in a folder of the user's."""
        return cls(f"{name}.yaml", f"{module_name(name)}.py", f"{name}.gbnf")
