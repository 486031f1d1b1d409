"""The sets of each table, from a folder of published files or downloaded."""

from __future__ import annotations

from typing import Any

from skembed import datasets
from skembed._validation.values import user_path
from skembed.datasets._archives import read_paraphrase_groups
from skembed.datasets._pairs import read_msrp, read_sick
from skembed.datasets._senteval import read_senteval, read_trec
from skembed.datasets._sts import read_sts

STS_YEARS = (2012, 2013, 2014, 2015, 2016)
SENTEVAL_SETS = ("MR", "CR", "SUBJ", "MPQA")
SEMANTIC_SETS = ("msrp", "opinosis")


class EvaluationData:
    """Reads each set once, when it is first needed.

    Parameters
    ----------
    folder : path-like or None
        Folder with `sts2012`, ..., `sick`, `msrp`, `senteval` and `semantic`. None downloads what is missing to
        scikit-learn's data home.
    """

    def __init__(self, folder: Any = None) -> None:
        self.folder = None if folder is None else user_path(folder)
        if self.folder is not None and not self.folder.is_dir():
            raise FileNotFoundError(f"There is no folder {self.folder} with evaluation data.")
        self._read: dict[tuple[Any, ...], Any] = {}

    def years(self) -> list[int]:
        """Years of STS in the folder, at least one; all years if they are downloaded."""
        if self.folder is None:
            return list(STS_YEARS)
        years = [year for year in STS_YEARS if (self.folder / f"sts{year}").is_dir()]
        if not years:
            raise FileNotFoundError(
                f"{self.folder} has no folder {', '.join(f'sts{year}' for year in STS_YEARS)}. Give the folder that "
                "holds them, or leave out the folder to have them downloaded."
            )
        return years

    def sts(self, year: int) -> Any:
        """Pairs of one year."""
        return self._get(read_sts, datasets.fetch_sts, year=year)

    def sick(self, subset: str) -> Any:
        """Pairs of SICK."""
        return self._get(read_sick, datasets.fetch_sick, subset=subset)

    def msrp(self, subset: str) -> Any:
        """Pairs of MSRP."""
        return self._get(read_msrp, datasets.fetch_msrp, subset=subset)

    def senteval(self, name: str) -> Any:
        """One of MR, CR, SUBJ and MPQA."""
        return self._get(read_senteval, datasets.fetch_senteval, name=name)

    def trec(self, subset: str) -> Any:
        """Questions of TREC."""
        return self._get(read_trec, datasets.fetch_trec, subset=subset)

    def semantic(self, name: str) -> Any:
        """One of the two corpora of paraphrase groups."""
        return self._get(read_paraphrase_groups, datasets.fetch_semantic_groups, name=name)

    def _get(self, read: Any, fetch: Any, **options: Any) -> Any:
        key = (read, *options.items())
        if key not in self._read:
            self._read[key] = fetch(**options) if self.folder is None else read(self.folder, **options)
        return self._read[key]
