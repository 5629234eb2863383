"""Models on the hub, and where what was fetched of one lies: as the hub's client has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from turnspec.spec.problems import Problem

#: The origin of templates that are fetched from it, in an index.
HUB = "hub"
#: What is meant where nobody names a revision.
MAIN = "main"
COMMIT = re.compile(r"[0-9a-f]{40}")
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9_])?"
_ASKED = re.compile(rf"({_PART}/{_PART})(?:@([\w+.-]+(?:/[\w+.-]+)*))?", re.ASCII)
#: The hub's page of a model, as a browser shows its address; where it was a path, a slash is gone.
_PAGE = re.compile(
    r"(?:https?:/{1,2})?(?:huggingface\.co|hf\.co)/(?!datasets/|spaces/)([^/?#]+/[^/?#]+)"
    r"(?:/(?:tree|blob|resolve)/([^/?#]+))?(?:[/?#].*)?"
)
_FOLDER, _COMMITS = "models", "snapshots"


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model's repository, and a branch, a tag or a commit of it; ``revision`` may be ""."""

    repository: str
    revision: str = ""

    @classmethod
    def read(cls, asked: str) -> Self | None:
        """Return the model that ORG/MODEL or ORG/MODEL@REVISION names, None of anything else."""
        found = _ASKED.fullmatch(without_page(asked))
        return cls(found[1], found[2] or "") if found else None

    @property
    def is_fixed(self) -> bool:
        """Whether the revision is a commit, so that it stays what it is."""
        return COMMIT.fullmatch(self.revision) is not None

    def snapshot(self, cache: Path, commit: str) -> Path:
        """Return where the files of a commit lie in a folder of models."""
        folder = "--".join([_FOLDER, *self.repository.split("/")])
        return cache / folder / _COMMITS / commit

    def reference(self, cache: Path) -> Path:
        """Return the file that says which commit the revision is."""
        return self.snapshot(cache, "").parent / "refs" / (self.revision or MAIN)

    def __str__(self) -> str:
        """Return it as it was asked for."""
        return f"{self.repository}@{self.revision}" if self.revision else self.repository


def without_page(asked: str) -> str:
    """Return ORG/MODEL or ORG/MODEL@REVISION for the address of a model's page, else the same."""
    page = _PAGE.fullmatch(asked)
    return "@".join(filter(None, page.groups())) if page else asked


#: Gives where the templates of a model lie, once they are fetched.
Fetch = Callable[[HubModel], Path | Problem]


@dataclass(frozen=True, slots=True)
class HubPlace:
    """What a path in a folder of models is: a commit of a repository, and a file in it or ""."""

    model: HubModel
    path: str = ""

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.repository.rpartition("/")[2]

    def source(self, file: str) -> str:
        """Return what is called by a file's path within a folder, that folder's name before it."""
        return f"{self.model}/{self._within(file)}"

    def pin(self, file: str) -> dict[str, str]:
        """Return what an index has of the same."""
        model = {"repository": self.model.repository, "commit": self.model.revision}
        return {"origin": HUB, **model, "path": self._within(file)}

    def _within(self, file: str) -> str:
        return self.path or file.partition("/")[2]

    def __str__(self) -> str:
        """Return it as it may be asked for, a file of it behind that."""
        return f"{self.model}/{self.path}" if self.path else str(self.model)

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Return what of the hub lies at a path, None if that is anything else."""
        parts = path.absolute().parts
        for number in range(len(parts) - 2):
            folder, commits, commit = parts[number : number + 3]
            kind, *names = folder.split("--")
            if (kind, commits) == (_FOLDER, _COMMITS) and COMMIT.fullmatch(commit):
                model = HubModel.read(f"{'/'.join(names)}@{commit}")
                return cls(model, "/".join(parts[number + 3 :])) if model else None
        return None
