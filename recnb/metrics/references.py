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
    "shannon1948": Reference(
        "Shannon, C. E.", 1948, "A mathematical theory of communication", "Bell System Technical Journal 27(3)",
        "10.1002/j.1538-7305.1948.tb01338.x",
    ),
    "lin1991": Reference(
        "Lin, J.", 1991, "Divergence measures based on the Shannon entropy", "IEEE Transactions on Information Theory 37(1)",
        "10.1109/18.61115",
    ),
    "smyth2001": Reference("Smyth, B. and McClave, P.", 2001, "Similarity vs. diversity", "ICCBR 2001", "10.1007/3-540-44593-5_25"),
    "herlocker2004": Reference(
        "Herlocker, J. L., Konstan, J. A., Terveen, L. G. and Riedl, J. T.", 2004,
        "Evaluating collaborative filtering recommender systems", "ACM Transactions on Information Systems 22(1)",
        "10.1145/963770.963772",
    ),
    "ziegler2005": Reference(
        "Ziegler, C.-N., McNee, S. M., Konstan, J. A. and Lausen, G.", 2005,
        "Improving recommendation lists through topic diversification", "WWW 2005", "10.1145/1060745.1060754",
    ),
    "fleder2009": Reference(
        "Fleder, D. and Hosanagar, K.", 2009,
        "Blockbuster culture's next rise or fall: the impact of recommender systems on sales diversity",
        "Management Science 55(5)", "10.1287/mnsc.1080.0974",
    ),
    "ge2010": Reference(
        "Ge, M., Delgado-Battenfeld, C. and Jannach, D.", 2010,
        "Beyond accuracy: evaluating recommender systems by coverage and serendipity", "RecSys 2010", "10.1145/1864708.1864761",
    ),
    "zhou2010": Reference(
        "Zhou, T. et al.", 2010, "Solving the apparent diversity-accuracy dilemma of recommender systems", "PNAS 107(10)",
        "10.1073/pnas.1000488107",
    ),
    "shani2011": Reference(
        "Shani, G. and Gunawardana, A.", 2011, "Evaluating recommendation systems", "Recommender Systems Handbook, Springer",
        "10.1007/978-0-387-85820-3_8",
    ),
    "kaminskas2016": Reference(
        "Kaminskas, M. and Bridge, D.", 2016,
        "Diversity, serendipity, novelty, and coverage: a survey and empirical analysis of beyond-accuracy objectives in recommender systems",
        "ACM Transactions on Interactive Intelligent Systems 7(1)", "10.1145/2926720",
    ),
    "ekstrand2017": Reference(
        "Ekstrand, M. D. and Mahant, V.", 2017, "Sturgeon and the cool kids: problems with random decoys for top-N recommender evaluation",
        "FLAIRS 30",
    ),
    "steck2018": Reference("Steck, H.", 2018, "Calibrated recommendations", "RecSys 2018", "10.1145/3240323.3240372"),
    "abdollahpouri2019": Reference(
        "Abdollahpouri, H., Burke, R. and Mobasher, B.", 2019,
        "Managing popularity bias in recommender systems with personalized re-ranking", "FLAIRS 32",
    ),
    "abdollahpouri2021": Reference(
        "Abdollahpouri, H., Mansoury, M., Burke, R., Mobasher, B. and Malthouse, E.", 2021,
        "User-centered evaluation of popularity bias in recommender systems", "UMAP 2021", "10.1145/3450613.3456821",
    ),
}  # fmt: skip
