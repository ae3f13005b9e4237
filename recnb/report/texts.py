"""The sentences of a report that are longer than a label.

Words for those whose lists are ranked are fields, {users}. They are translated where
they are shown.
"""

from recnb.display.language import N_, Message

# The head

ONE_MODEL_FINDS = N_(
    "{share} of {users} find at least one relevant item among their first {k}."
)
EACH_MODEL_FINDS = N_(
    "Of {users}, these find at least one relevant item among their first {k}: {found}."
)
ALL_THE_SAME = N_("{label} is {value} with every model.")
HIGHEST_AND_LOWEST = N_(
    "{label} is highest with {first}, {high}, and lowest with {last}, {low}."
)
LOWEST_AND_HIGHEST = N_(
    "{label}, of which less is better, is lowest with {first}, {low}, and highest with "
    "{last}, {high}."
)
#: By the direction of the metric: the models near the first.
NOT_BEHIND: dict[str, Message] = {
    "high": N_("Not significantly below {first}: {models}."),
    "low": N_("Not significantly above {first}: {models}."),
}
#: The same, where there is none.
ALL_BEHIND: dict[str, Message] = {
    "high": N_("Every other model is significantly below {first}."),
    "low": N_("Every other model is significantly above {first}."),
}
BETTER_AND_WORSE = N_(
    "Of {n:,} models, {better:,} are shown to be better than {baseline} and {worse:,} "
    "to be worse ({correction})."
)
HIGHER_AND_LOWER = N_(
    "Of {n:,} models, {higher:,} are shown to be higher than {baseline} and {lower:,} "
    "to be lower ({correction})."
)
PAIRS_THAT_DIFFER = N_("Of {n:,} pairs, {found:,} are shown to differ ({correction}).")

# Overview

NEAR_BEST = N_(
    "not shown to differ from it; one without a mark is shown to differ, or is not tested"
)
ONE_USER = N_("No interval: one user is no sample.")
LEFT_OUT = N_(
    "Metrics beyond accuracy are left out: they take every row of the lists, and those "
    "stay in {where}."
)
ELSEWHERE = N_(
    "`.to_html()` and `.to_markdown()` have all other sections, such as users, curves "
    "and how to read."
)

# Findings

IN_MODELS = N_(
    "in {n} of {models} models, from {low:,} in {least} to {high:,} in {most}"
)
EFFECTS = N_(
    "{checks} checks of each model's lists. Effects are measured with the lead metric; "
    ".lint() of a model shows more."
)
MORE_EFFECTS = N_("{n} more models have an effect of their own, each in its .lint()")

# Differences, curve and distribution

TESTS_ALONE = N_(
    "Tests of {symbol} alone; those of all {n:,} comparisons are in "
    "`found.differences(k={k})`."
)
DRAWN_HIGHEST = N_("Drawn for the {drawn} highest; {n} more models are not.")
DRAWN_LOWEST = N_("Drawn for the {drawn} lowest; {n} more models are not.")
EXACTLY = N_("Exactly {value}: {n:,} of {users} ({share}).")
QUARTILES = N_("Quartiles {low}, {middle}, {high}; mean {mean}.")

# Segments

GAPS_OF_EACH = N_(
    "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to "
    "all other users by the more careful of Welch's t and Student's, their p corrected "
    "by Holm's method over the segments, within each metric ({n:,} tests in all)."
)
#: The same where no gap is tested.
INTERVALS_OF_EACH = N_(
    "{confidence:g}% intervals, not corrected for the number of comparisons."
)
DIFFERENCES_IN_SEGMENTS = N_(
    "p corrected by Holm's method over the {n} tests here. (few) marks segments in "
    "which little can be shown. That a difference is found in one segment and not in "
    "another does not show that the two differ."
)
#: Of many models.
TESTS_IN_SEGMENTS = N_(
    "Each difference with its test is in `found.differences(by=...)`."
)

# Beyond accuracy

WITHOUT_INTERVAL = N_(
    "Numbers of all lists together have no interval, except means over pairs of users."
)

# How to read

INTERVALS = N_(
    "{confidence:g}% intervals for the mean, taking the users as a sample ({how})."
)
INTERVALS_OF_SEVERAL = N_(
    "{confidence} intervals: of differences by {differences}; of means by {means}."
)
#: The interval of a mean.
BETA = N_(
    "beta distribution within the metric's bounds; for values of 0 and 1 the "
    "exact one of Clopper and Pearson"
)
#: The same of lists in clusters, where it is never exact.
BETA_OF_CLUSTERS = N_("beta distribution within the metric's bounds")
#: The interval of a difference.
INTERVAL_OF_DIFFERENCES = N_(
    "Student's t over the users, and within the metric's bounds where fewer than 10 "
    "users are off the lowest or the highest difference"
)
NOT_CORRECTED = N_("Intervals are not corrected for the number of comparisons.")
CLUSTERED = N_("Intervals and tests are clustered by {unit}.")
NO_INTERVAL = N_(
    "A metric without an upper bound has no interval where fewer than {n} users have a "
    "value above 0."
)
NO_INTERVAL_OF_CLUSTERS = N_(
    "A metric without an upper bound has no interval where fewer than {n} values of "
    "{cluster} have a value above 0."
)
TOO_HEAVY = N_(
    "By their weights the {n:,} users count as fewer than 2 of equal weight, so means "
    "have no interval."
)
NOT_COVERED = N_("They do not cover another split of the data or another training run.")
PROPENSITIES_KNOWN = N_("Intervals and tests take the propensities as known.")
BETTER_OR_WORSE = N_("▲ better, ▼ worse: the corrected test and the interval agree.")
HIGHER_OR_LOWER = N_("△ higher, ▽ lower: the corrected test and the interval agree.")
NOT_FOUND = N_(
    "◇ they do not agree. ○ no difference is shown, which does not prove that there is "
    "none."
)

# The foot

CALLS = N_(
    "The same numbers in Python: {frame}; with the metrics, k and options of this "
    "report {calls}."
)
