"""The sentences of a report that are longer than a label.

They are translated where they are shown.
"""

from recnb.display.language import N_, Message, Plural

# Users who find anything

ONE_MODEL_FINDS = Plural(
    "Of {users:,} users, {n:,} finds at least one relevant item {first}.",
    "Of {users:,} users, {n:,} find at least one relevant item {first}.",
)
EACH_MODEL_FINDS = N_(
    "Of {users:,} users, this many find at least one relevant item {first}: {found}."
)

# What may be concluded of a difference

#: What each verdict allows to conclude.
CONCLUSIONS: dict[str, Message] = {
    "better": N_(
        "{label}: {model} is better than {baseline}, by {size} ({interval}; {p})."
    ),
    "worse": N_(
        "{label}: {model} is worse than {baseline}, by {size} ({interval}; {p})."
    ),
    "higher": N_(
        "{label}: {model} is higher than {baseline}, by {size} ({interval}; "
        "{p}). High values are not good in themselves."
    ),
    "lower": N_(
        "{label}: {model} is lower than {baseline}, by {size} ({interval}; "
        "{p}). Low values are not bad in themselves."
    ),
    "hint": N_(
        "{label}: inconclusive. {model} differs from {baseline} by "
        "{difference}; the {interval} excludes 0, but the corrected test is "
        "not significant ({p})."
    ),
    "torn": N_(
        "{label}: inconclusive. The corrected test of {model} against "
        "{baseline} is significant ({p}), but the {interval} includes 0; the "
        "difference is {difference}."
    ),
    "open": N_(
        "{label}: no significant difference between {model} and {baseline}: "
        "{difference} ({interval}; {p}). A true difference of {detectable} "
        "would have been found with 80% power by a single, uncorrected test."
    ),
    "same": N_("{label}: {model} and {baseline} give each of {users} the same value."),
    "untested": N_(
        "{label}: no test of {model} against {baseline}: too few users or "
        "differences for a test ({users})."
    ),
}
#: The conclusions of a metric of which less is better.
CONCLUSIONS_OF_COSTS: dict[str, Message] = {
    "better": N_(
        "{label}, of which less is better: {model} is better than {baseline}, lower by "
        "{size} ({interval}; {p})."
    ),
    "worse": N_(
        "{label}, of which less is better: {model} is worse than {baseline}, higher by "
        "{size} ({interval}; {p})."
    ),
}

#: The interval of a difference.
INTERVAL_OF_DIFFERENCES = N_(
    "Student's t over the users, and within the metric's bounds where fewer than 10 "
    "users are off the lowest or the highest difference"
)
CORRECTED = N_("Holm's correction over {count} comparisons")
ONE_COMPARISON = N_("Comparisons tested: {count} (Student's paired t test).")
COMPARISONS = N_(
    "{count} comparisons are tested (Student's paired t test). Holm's correction is "
    "within each column, a metric at a cut-off, and keeps the chance of any false "
    "finding in it at {alpha}."
)
COLUMNS_LOOKED_AT = N_(
    "{n} columns are looked at, and only {label} is taken as chosen beforehand: "
    "findings in the others may be due to chance."
)
SAMPLE = N_(
    "The users are taken as a sample of users like them; another training run or "
    "another split of the data may come out differently, and that is not covered."
)
INTERVALS_OF_SEVERAL = N_(
    "{confidence} intervals: of differences by {differences}; of means by {means}."
)
LESS_IS_BETTER = N_("Less is better: {symbols}.")
NEITHER_IS_BETTER = N_("High values are not good in themselves: {symbols}.")

# What marks beside means say

#: Where every two models are compared.
NEAR_BEST_OF_PAIRS = N_(
    "not shown to differ from it: of every two models, Student's paired t test, Holm's "
    "correction over all pairs within each column, level {alpha}, and the interval"
)
#: Where models are compared with a baseline.
NEAR_BEST = N_(
    "not significantly different from it (Student's paired t test, Holm's correction "
    "within each column, level {alpha}; beside the baseline, what their difference says)"
)
BETTER_OR_WORSE = N_(
    "▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)"
)
HIGHER_OR_LOWER = N_(
    "△ higher, ▽ lower than {baseline} (the corrected test and the interval agree)"
)

# Conclusions of several models

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

ONE_USER = N_("No interval: one user is no sample.")
INTERVALS = N_(
    "{confidence:g}% intervals for the mean, taking the users as a sample ({how})."
)
CLUSTERED = N_("Intervals and tests are clustered by {unit}.")
NOT_CORRECTED = N_("Intervals are not corrected for the number of comparisons.")
NO_INTERVAL = N_(
    "A metric without an upper bound has no interval where fewer than {n} users have a "
    "value above 0."
)
NOT_COVERED = N_("They do not cover another split of the data or another training run.")
PROPENSITIES_KNOWN = N_("Intervals and tests take the propensities as known.")
BEYOND_BELOW = N_(
    "Metrics beyond accuracy are below the others; they cover other users, or all "
    "lists together."
)

LEFT_OUT = N_(
    "Metrics beyond accuracy are left out: they take every row of the lists, and those "
    "stay in {where}."
)

# Findings

EFFECTS = N_(
    "{checks} checks of each model's lists. Effects are measured with the lead metric; "
    ".lint() of a model shows more."
)
MORE_EFFECTS = N_("{n} more models have an effect of their own, each in its .lint()")

# Differences

DRAWN_DIFFERENCES = N_(
    "Mean difference over the same users, and its {confidence} interval. Filled marks "
    "are findings (▲ better, ▼ worse: the corrected test and the interval agree); "
    "hollow ones are not (◇ inconclusive, ○ no difference shown)."
)
DRAWN_WITHOUT_BETTER = N_(
    "Mean difference over the same users, and its {confidence} interval. Filled marks "
    "are findings (△ higher, ▽ lower: the corrected test and the interval agree); "
    "hollow ones are not (◇ inconclusive, ○ no difference shown)."
)
DRAWN_ALONE = N_("Drawn for {symbol} alone; the other metrics are in the tables.")
#: What the cells of a table of each two models are, by the direction of the metric.
EACH_TWO: dict[str | None, Message] = {
    "high": N_(
        "The model of the row minus that of the column, which has the number of its "
        "row. Bold: shown to be better, the corrected test and the interval agree "
        "({correction})."
    ),
    "low": N_(
        "The model of the column, which has the number of its row, minus that of the "
        "row: less is better. Bold: the row is shown to be better, the corrected test "
        "and the interval agree ({correction})."
    ),
    None: N_(
        "The model of the row minus that of the column, which has the number of its "
        "row. Bold: shown to differ, the corrected test and the interval agree "
        "({correction})."
    ),
}
TESTS_ALONE = N_(
    "Tests of {symbol} alone; those of all {n:,} comparisons are in "
    "`found.differences(k={k})`."
)
#: What the columns of tests hold.
COLUMNS_OF_TESTS = N_(
    "p-values are two-sided; those of Student's paired t test are corrected within each "
    "metric at a cut-off, not over all {count} comparisons of the report. Effect size: "
    "the mean difference in standard deviations of users' differences. Detectable: the "
    "true difference that a single, uncorrected t test at {alpha} would have found with "
    "{power} power. Won / tied / lost: users."
)

# Curves and the distribution

BAND = N_("The band holds the {confidence:g}% intervals.")
BANDS = N_(
    "Bands are {confidence} intervals of each mean. They may overlap although the "
    "paired difference is significant: compare models by their differences."
)
DRAWN_HIGHEST = N_("Drawn for the {drawn} highest; {n} more models are not.")
DRAWN_LOWEST = N_("Drawn for the {drawn} lowest; {n} more models are not.")
EXACTLY = N_("Exactly {value}: {n:,} of {users} ({share}).")
QUARTILES = N_("Quartiles {low}, {middle}, {high}; mean {mean}.")
GREY_AT_0 = N_(
    "Grey: users at exactly 0. Below the bars: median and middle half of the users."
)
GREY_AT_LOWEST = N_(
    "Grey: users at the lowest value. Below the bars: median and middle half of the "
    "users."
)
ENDS_OF_BARS = N_(
    "A bar counts the values at its lower end, the last one those at both."
)
ENDS_WITHOUT_BOUND = N_(
    "Where the metric has no bound, the bars end at the furthest value."
)

# Segments

GAP_OF_EACH = N_("{label} by {by}: each segment, and its gap to all other users")
GAPS_OF_EACH = N_(
    "{confidence:g}% intervals, not corrected for the number of comparisons; gaps to "
    "all other users by the more careful of Welch's t and Student's, their p corrected "
    "by Holm's method over the segments, within each metric ({n:,} tests in all)."
)
#: The same where no gap is tested.
INTERVALS_OF_EACH = N_(
    "{confidence:g}% intervals, not corrected for the number of comparisons."
)
AGAINST_BASELINE = N_("{label} by {by}, against {baseline}")
GAPS = N_(
    "▲ and ▼ are findings: the corrected test and the {confidence} interval of the gap "
    "agree; ○ does not prove that there is no difference. (few) marks segments of few "
    "users."
)
GAPS_WITHOUT_BETTER = N_(
    "△ and ▽ are findings: the corrected test and the {confidence} interval of the gap "
    "agree; ○ does not prove that there is no difference. (few) marks segments of few "
    "users."
)
DIFFERENCES_IN_SEGMENTS = N_(
    "{confidence} intervals, not corrected for the number of comparisons; p corrected "
    "by Holm's method over the {n} tests here. (few) marks segments in which little can "
    "be shown. That a difference is found in one segment and not in another does not "
    "show that the two differ."
)
#: What is bold among the means of many models, by the direction of the metric.
MEANS_OF_MANY: dict[str | None, Message] = {
    "high": N_(
        "The highest mean of each segment is bold. Each difference with its test is in "
        "`found.differences(by=...)`."
    ),
    "low": N_(
        "The lowest mean of each segment is bold: less is better. Each difference with "
        "its test is in `found.differences(by=...)`."
    ),
    None: N_("Each difference with its test is in `found.differences(by=...)`."),
}

# Beyond accuracy

WITHOUT_INTERVAL = N_(
    "Numbers of all lists together have no interval, except means over pairs of users."
)

# Users

GAIN_AND_LOSE = N_(
    "{model} instead of {baseline}, {label}: users who gain {won}, who stay the same "
    "{tied}, who lose {lost}"
)
RISE_AND_FALL = N_(
    "{model} instead of {baseline}, {label}: users whose value rises {won}, stays the "
    "same {tied}, falls {lost}"
)
#: What a group of users is, by its kind.
GROUPS: dict[str, Message] = {
    "best": N_("Best users by {label}"),
    "worst": N_("Worst users by {label}"),
    "highest": N_("Users with the highest {label}"),
    "lowest": N_("Users with the lowest {label}"),
    "only": N_("The user"),
    "gained": N_("Users who gain most in {label} with {model}"),
    "lost": N_("Users who lose most in {label} with {model}"),
    "risen": N_("Users whose {label} rises most with {model}"),
    "fallen": N_("Users whose {label} falls most with {model}"),
}

# Calls, and what a console has not

SAME_NUMBERS = N_("The same numbers in Python: {calls}.")
OTHER_SECTIONS = N_("In .to_html() and .to_markdown() as well: {sections}.")
