"""Where the metrics come from: citation key -> what to look up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A publication."""

    authors: str
    year: int
    title: str
    where: str
    doi: str = ""

    def __str__(self) -> str:
        doi = f" doi:{self.doi}" if self.doi else ""
        return f"{self.authors} ({self.year}). {self.title}. {self.where}.{doi}"


REFERENCES = {
    "vanrijsbergen1979": Reference("van Rijsbergen, C. J.", 1979, "Information Retrieval", "Butterworths, 2nd edition"),
    "voorhees1999": Reference(
        "Voorhees, E. M.", 1999, "The TREC-8 Question Answering Track Report", "Proceedings of TREC-8, NIST"
    ),
    "buckley2000": Reference(
        "Buckley, C. and Voorhees, E. M.", 2000, "Evaluating evaluation measure stability", "SIGIR 2000", "10.1145/345508.345543"
    ),
    "jarvelin2002": Reference(
        "Järvelin, K. and Kekäläinen, J.", 2002, "Cumulated gain-based evaluation of IR techniques",
        "ACM Transactions on Information Systems 20(4)", "10.1145/582415.582418",
    ),
    "deshpande2004": Reference(
        "Deshpande, M. and Karypis, G.", 2004, "Item-based top-N recommendation algorithms",
        "ACM Transactions on Information Systems 22(1)", "10.1145/963770.963776",
    ),
    "burges2005": Reference(
        "Burges, C. et al.", 2005, "Learning to rank using gradient descent", "ICML 2005", "10.1145/1102351.1102363"
    ),
    "manning2008": Reference(
        "Manning, C. D., Raghavan, P. and Schütze, H.", 2008, "Introduction to Information Retrieval, chapter 8",
        "Cambridge University Press",
    ),
    "moffat2008": Reference(
        "Moffat, A. and Zobel, J.", 2008, "Rank-biased precision for measurement of retrieval effectiveness",
        "ACM Transactions on Information Systems 27(1)", "10.1145/1416950.1416952",
    ),
    "chapelle2009": Reference(
        "Chapelle, O., Metzler, D., Zhang, Y. and Grinspan, P.", 2009, "Expected reciprocal rank for graded relevance",
        "CIKM 2009", "10.1145/1645953.1646033",
    ),
}  # fmt: skip
