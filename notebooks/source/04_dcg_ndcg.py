# %% [markdown]
# # DCG and nDCG
#
# **The question: how good is the order of a list, when some items are better than others and the top is seen most?**
#
# Somebody types a question into a search engine, or opens a shop: a list appears, and the first places get most of the
# attention. A list with the best things on top is better than the same list upside down. Three steps turn that into a number.
#
# 1. **Gain, added up.** Every item has a *relevance* (관련도), a grade of how good it is for this user, such as 0 to 3. An
#    item's grade is the *gain* (이득) of showing it. *Cumulative gain* (CG, 누적 이득) adds the gains of the first k places, in
#    whatever order they are.
# 2. **Discounted.** Further down, fewer people look. So each gain is divided by a number that grows with the rank, the
#    *discount* (할인): this is *discounted cumulative gain* (DCG, 할인 누적 이득).
# 3. **Normalized.** How large a DCG can be depends on what there is to gain: a user who likes two items can get a DCG of 1.63 at
#    most, one who likes fifty a far larger one. So the DCG is divided by that of the best possible list, the *ideal
#    DCG* (IDCG, 이상적 DCG). The quotient is *normalized* (정규화): nDCG, 1 for the best possible list, 0 for a list
#    whose items all have relevance 0.
#
# As a formula, with $rel_i$ for the grade of the item at rank $i$. The sign Σ (sigma) says: write down what stands
# behind it once with $i = 1$, once with $i = 2$, and so on to $i = k$, and add up.
#
# $$\text{DCG@}k = \sum_{i=1}^{k} \frac{rel_i}{\log_2(i + 1)}
# \qquad\qquad
# \text{nDCG@}k = \frac{\text{DCG@}k}{\text{IDCG@}k}$$
#
# where IDCG@k is the DCG@k of the *ideal list*: all items that have a grade, the highest grade first.
#
# The lesson takes 45 minutes, with paper.

# %%
import recnb

# %% [markdown]
# ## A. The discount
#
# *log2* of a number says how many twos are multiplied to get it: log2(8) = 3, since 2 · 2 · 2 = 8. For numbers in between it is
# no whole number, and stands in the table.
#
# At rank i a gain is divided by log2(i + 1): by 1 at the top, by 2 at rank 3, by 3 at rank 7. Keep this table beside you; it
# is all that is needed to work out a DCG on paper.
#
# | rank i | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | log2(i + 1) | 1 | 1.58496 | 2 | 2.32193 | 2.58496 | 2.80735 | 3 | 3.16993 |
# | what is left: 1 / log2(i + 1) | 1 | 0.63093 | 0.5 | 0.43068 | 0.38685 | 0.35621 | 0.33333 | 0.31546 |
#
# Its figures are rounded to five decimals. Keep five while you work, and round to four at the end only: with four on the
# way the last digit of an answer may be off.
#
# ## B. Six documents, by hand
#
# A search engine showed six documents, with grades 3, 2, 3, 0, 1, 2 from the top down. Divide each grade by the discount of its
# rank, and add up:
#
# DCG = 3/1 + 2/1.58496 + 3/2 + 0/2.32193 + 1/2.58496 + 2/2.80735 = 3 + 1.26186 + 1.5 + 0 + 0.38685 + 0.71242 = 6.8611
#
# The ideal list has the same grades, the highest first: 3, 3, 2, 2, 1, 0. **Work out its IDCG on paper, and divide.** Then run
# this cell:

# %%
grades = [3, 2, 3, 0, 1, 2]

print(f"CG   = {recnb.cg(grades):.0f}")
print(f"DCG  = {recnb.dcg(grades):.4f}")
print(f"IDCG = {recnb.idcg(grades):.4f}")
print(f"nDCG = {recnb.ndcg(grades):.4f}")
print(f"The list earns {recnb.ndcg(grades):.0%} of what the best order of these six would earn.")

assert recnb.cg(grades) == 11
assert abs(recnb.dcg(grades) - (3 + 1.26186 + 1.5 + 0.38685 + 0.71242)) < 1e-4
assert (round(recnb.idcg(grades), 3), round(recnb.ndcg(grades), 3)) == (7.141, 0.961)

# %% [markdown]
# `explain` writes a score out as we did by hand: the formula, the division, and both lists. *Running sum* adds up the
# credits from the top, in the list and in the ideal list. A *hit* is an item of relevance above 0, and the gain is *linear*
# where it is the relevance itself.

# %%
recnb.explain("ndcg", grades, k=6)

# %% [markdown]
# ## C. A list and its judged items
#
# In a recommender grades do not come with the list; they belong to items, and the list may miss some of the best. Five
# items are judged here, and three are recommended. An item that nobody judged counts 0.

# %%
judged = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
shown = ["A", "B", "C"]

print(f"DCG = 0.1/1 + 0.5/1.58496 + 0.7/2 = {recnb.dcg(shown, judged):.4f}")

assert abs(recnb.dcg(shown, judged) - 0.7654648767857287) < 1e-12

# %% [markdown]
# **Which three items are in the ideal list, and in which order? Write them down.** Then run the next two cells.

# %%
print(f"IDCG = {recnb.idcg(judged, k=3):.4f}")
print(f"nDCG = {recnb.dcg(shown, judged):.4f} / {recnb.idcg(judged, k=3):.4f} = {recnb.ndcg(shown, judged, k=3):.4f}")

assert abs(recnb.ndcg(shown, judged, k=3) - 0.6048882832133625) < 1e-12

# %%
recnb.explain("ndcg", shown, judged, k=3)

# %% [markdown]
# The ideal list is made of all judged items, recommended or not: C first, then B and D, then A and E. Which of two items of
# the same grade comes first makes no difference to IDCG. At k = 3 the ideal list has three places. So D
# takes the third place, although it was not recommended. The ideal list goes down to place k, even if the list is shorter;
# the empty places of the list gain 0. Without k it is not cut, and holds all five.
#
# ## D. Move the items
#
# In a running notebook, drag the items, or focus one and press Alt with an arrow key. **Guess first, then try:**
#
# 1. What happens to precision, recall and nDCG when C moves to the top? Why do two of them stay?
# 2. Put A out, and take D in. Which order of B, C and D gives nDCG 1?
# 3. Which single item, taken out of the list of question 2, costs most?

# %%
recnb.playground(shown, judged, k=3)

# %% [markdown]
# ## E. Your turn
#
# Take paper and the table of discounts:
#
# 1. Write down the grades of the first three places, divide each by its discount, add up: DCG@3.
# 2. Write down *all* grades, also those of items that are not in the list. Sort them from the highest, take the first three,
#    divide each by its discount, add up: IDCG@3.
# 3. Divide DCG@3 by IDCG@3, and round to four decimals. An answer may also be the division itself, as in
#    `q.check("3.5/5.89279")`, or the sums with both sides in brackets, `q.check("(1/1 + 2/1.58496) / (3/1 + 2/1.58496)")`.
#
# In a running notebook, type your answer into the box; elsewhere, into `check`, as in the cell below it. The answer there
# is a common mistake.

# %%
q = recnb.quiz("ndcg", seed=1, k=3)
q

# %%
q.check("0.4909")

# %% [markdown]
# `q.reveal()` shows the solution, and another seed draws another list. Done early? `recnb.quiz("ndcg", seed=2, k=3)`, or a list of
# your own: `recnb.quiz("ndcg", ["A", "B", "C"], {"B": 3, "C": 1, "D": 2})`.
#
# ## F. To take along
#
# - DCG divides each gain by log2(rank + 1) and adds up; nDCG divides that by the DCG of the best possible list.
# - The ideal list also holds items that were missed. A list in perfect order that misses better items stays below 1.
# - Say k, the gain and where the ideal is cut: two nDCGs that differ in these are not comparable.
#
# The next notebook to read is the [playground](07_playground.ipynb): what moves the number, and what does not. For the curious,
# [04b](04b_ndcg_claims.ipynb) has nDCG in eight lines of Python, what chance scores, and what four articles say of nDCG.
