"""Korean for the strings in the code of the notebooks: labels, headers of tables and printed lines.

Code that calls them by name keeps names of metrics, and of columns that recnb knows, as they are.
"""

#: English and Korean, whole strings; `{}` stands for each expression of an f-string.
WORDS = {
    # compare
    "printed": "제시값",
    "agrees": "일치",
    "MISPRINT: {}": "오타: {}",
    # words of many tables
    "yes": "예",
    "no": "아니요",
    "rank i": "순위 i",
    "liked?": "좋아하는가",
    "mean over users": "사용자 평균",
    # 01
    # 02
    "hits:": "적중:",
    "precision@{} = {} hits / {} places = {}": "정밀도@{} = 적중 {}개 / 자리 {}개 = {}",
    "recall@{} = {} hits / {} liked items = {}": "재현율@{} = 적중 {}개 / 좋아하는 아이템 {}개 = {}",
    "seen": "학습",
    "TEST": "테스트",
    "by hand": "반복문",
    "scores              ": "점수                ",
    "highest score first": "점수가 높은 것부터",
    "argsort, lowest first": "argsort, 낮은 것부터",
    "at k = 3": "k = 3",
    "Mina": "미나",
    "Jun": "준",
    "Sora": "소라",
    "precision at 1, 2, 3:             ": "k = 1, 2, 3의 정밀도:",
    "mean over all three depths:        {}": "세 깊이 모두의 평균: {}",
    "mean over the depths with a hit:   {}, which is AP@3": "적중이 있는 깊이만의 평균: {}, 곧 AP@3",
    "comedy": "코미디",
    "action": "액션",
    "film 1": "영화 1",
    "film 2": "영화 2",
    "film 3": "영화 3",
    "film 4": "영화 4",
    "stars (the label)": "별점(레이블)",
    "film 5, comedy 0.8 and action 0.2: {} stars": "코미디 0.8, 액션 0.2인 영화 5의 별점: {}",
    "learned from the labels: stars = {} × comedy + {} × action": "레이블에서 학습한 식: 별점 = {} × 코미디 + {} × 액션",
    # 03
    "hits so far": "여기까지의 적중 수",
    "hits so far / rank": "여기까지의 적중 수 / 순위",
    "hit rate:          1, there is a hit": "적중률: 1, 적중이 있다",
    "reciprocal rank:   1 / 2 = 0.5": "역순위: 1 / 2 = 0.5",
    "average precision: ({}) / {} = {} / {} = {}": "평균 정밀도: ({}) / {} = {} / {} = {}",
    "both / liked": "좋아하고 추천된 것 / 좋아하는 것",
    "both / recommended": "좋아하고 추천된 것 / 추천한 것",
    "any hit": "적중이 있는가",
    "recall@2: of what is liked, the share shown": "재현율@2: 좋아하는 것 가운데 보여 준 비율",
    "precision@2: of what was shown, the share liked": "정밀도@2: 보여 준 것 가운데 좋아하는 비율",
    "HR@2: of the users, the share with a hit": "HR@2: 사용자 가운데 적중이 있는 비율",
    "liked and shown / liked (recall)": "좋아하고 보여 준 것 / 좋아하는 것(재현율)",
    "liked and shown / shown (precision)": "좋아하고 보여 준 것 / 보여 준 것(정밀도)",
    "20 shown, 2 liked": "20개를 보여 주고 2개를 좋아할 때",
    # 04
    "The list earns {} of what the best order of these six would earn.": "이 목록이 얻는 값은 같은 여섯 문서를 가장 좋은 순서로 놓았을 때의 {}이다.",
    "what is left: 1 / log2(i + 1)": "남는 비율: 1 / log2(i + 1)",
    "mean nDCG": "평균 nDCG",
    "mean with 0.6953: {}": "0.6953일 때의 평균: {}",
    "mean with 0.6753: {}, and the article prints 0.7707": "0.6753일 때의 평균: {}, 글에 실린 평균: 0.7707",
    "is": "옳은 값",
    "2 / log2(3) is 1.2619, not 1.0": "2 / log2(3)은 1.0이 아니라 1.2619이다",
    "before: {}": "바꾸기 전: {}",
    "after: {}": "바꾼 후: {}",
    "k not given": "k 없음",
    "grades": "관련도",
    "grades × 10": "관련도 × 10",
    "grades {}": "관련도 {}",
    "likes one": "하나를 좋아하는 사용자",
    "likes three": "셋을 좋아하는 사용자",
    "a disliked item on top: DCG = {}": "싫어하는 아이템이 맨 위에 있을 때: DCG = {}",
    "an unknown item on top: DCG = {}": "알 수 없는 아이템이 맨 위에 있을 때: DCG = {}",
    "all three judged:     3 / 4.7619 = {}": "셋 모두에 관련도가 있을 때: 3 / 4.7619 = {}",
    "only the first judged: 3 / 3 = {}": "첫째에만 관련도가 있을 때: 3 / 3 = {}",
    "DCG of one hit there": "그 자리에만 적중이 있을 때의 DCG",
    "divided by the rank instead": "순위로 나눌 때의 값",
    "DCG of {}": "{}의 DCG",
    "DCG, linear": "DCG, 선형 이득",
    "DCG, exponential": "DCG, 지수 이득",
    "nDCG, linear": "nDCG, 선형 이득",
    "nDCG, exponential": "nDCG, 지수 이득",
    "nDCG, divided by max(1, log(i))": "nDCG, 할인 max(1, log(i))",
    "base 2": "밑 2",
    "base e": "밑 e",
    "base 10": "밑 10",
    "ideal cut at {}": "이상적 목록을 {}에서 자름",
    "one item of grade -1: DCG is {} if it is shown, and {} if not; IDCG is {}": (
        "관련도가 -1인 아이템 하나: 보여 주면 DCG는 {}, 보여 주지 않으면 {}, IDCG는 {}"
    ),
    # 05
    "(a) walk the list": "(a) 목록 훑기",
    "(b) numpy, every rank": "(b) 배열로 모든 순위",
    "(c) build the lookup": "(c) 순위표 만들기",
    "(d) liked items alone": "(d) 좋아하는 아이템만",
    "(c) and then (d)": "(c) 다음에 (d)",
    "(a) walk the list        {}": "{}  (a) 목록 훑기",
    "(b) numpy, every rank    {}": "{}  (b) 배열로 모든 순위",
    "(d) liked items alone    {}": "{}  (d) 좋아하는 아이템만",
    "difference of (a) and (d): {}": "(a)와 (d)의 차이: {}",
    "looking up is over 1,000 times as fast as walking": "찾아보는 것이 훑는 것보다 1,000배 넘게 빠르다",
    "building the lookup first, under 1,000 times": "순위표를 만드는 시간까지 넣으면 1,000배가 되지 않는다",
    "building it takes over 100 times as long as using it": ("순위표를 만드는 데에는 쓰는 데보다 100배 넘게 걸린다"),
    "even so, building and using it beats the walk": "그래도 만들어 쓰는 것이 훑는 것보다 빠르다",
    "and so does numpy over every rank, with no lookup": (
        "순위표 없이 배열로 모든 순위를 더하는 것도 훑는 것보다 빠르다"
    ),
    "seconds": "초",
    "as fast as (a)": "(a)보다 빠른 정도",
    "{} times": "{}배",
    "{} recommended rows of {} users": "{}행: 사용자 {}명에게 추천한 것",
    "{} relevant items": "{}개: 관련 아이템",
    "{} hits: {} of the rows": "{}개: 적중, 추천한 행의 {}",
    "{} of them in the first ten": "{}개: 그중 상위 열 자리에 있는 것",
    "join and  1 number : {} s": "조인과 값  1개: {}초",
    "join and 55 numbers: {} s, {} times as long": "조인과 값 55개: {}초, {}배",
    "DCG@{}  by hand {}   recnb {}": "DCG@{}  직접 계산 {}   recnb {}",
    "every row above k, for every metric and every k: {} additions": "덧셈 {}번: 지표마다, k마다 상위 k개 행을 모두 더할 때",
    "every hit once a metric, and then the cells:     {} additions": "덧셈 {}번: 지표마다 적중을 한 번씩, 그다음에 칸을 더할 때",
    "that is {} times fewer, for the same {} numbers": "{}분의 1의 덧셈으로 같은 값 {}개를 얻는다",
    # 07
    "before": "전",
    "now": "후",
    "change": "변화",
    "C to the top: nDCG {} with linear gain, {} with exponential gain": (
        "C를 맨 위로 옮길 때 nDCG의 변화: 선형 이득 {}, 지수 이득 {}"
    ),
    # 06
    "one of the nearest": "가장 가까운 값 가운데 하나",
    "as given: 4th": "주어진 순서: 4위",
    "by item id, last first: 2nd": "id의 역순: 2위",
    "mean of all orders": "모든 순서의 평균",
    "who": "라이브러리",
    "c stands": "c의 자리",
    "ours": "recnb의 값",
    # 08
    "users": "사용자 수",
    "exactly 0": "정확히 0",
    "up to 0.25": "0.25 이하",
    "up to 0.5": "0.5 이하",
    "up to 0.75": "0.75 이하",
    "below 1": "1 미만",
    "exactly 1": "정확히 1",
    "mean {}; within 0.05 of it: {} of {} users; without any hit: {}": "평균 {}; 평균에서 0.05 이내: 사용자 {}명(모두 {}명); 적중 없음: {}명",
    "relevant items": "관련 아이템 수",
    "{} ratings before; in the first ten mostly {}": "전에 준 평점 {}개; 상위 열 개에 많은 장르: {}",
    "{} on top: {} for this user, {} for the mean": "{} 맨 위: 이 사용자의 값 {}, 평균의 변화 {}",
    # 09
    "popular ends at {}, item-knn begins at {}": "popular 구간의 끝 {}, item-knn 구간의 처음 {}",
    "their difference: {} [{}, {}]": "두 모델의 차이: {} [{}, {}]",
    "correlation": "상관",
    "width, unpaired": "폭, 짝짓지 않음",
    "width, paired": "폭, 짝지음",
    "times the users": "사용자 배수",
    "a true difference of": "실제 차이",
    "worlds with a false alarm": "잘못 찾은 세계의 비율",
    "one look, chosen before": "미리 정해 한 번",
    "30 looks, the best one told": "30번 보고 가장 좋은 것만",
    "30 looks, Holm": "30번, 홀름 보정",
    "30 looks, Benjamini–Hochberg": "30번, 벤저미니-호크버그 보정",
    "world {}: {}": "세계 {}: {}",
    "below 0.05: {} of {}; corrected: none": "0.05보다 작은 것: {}개(모두 {}개), 보정하면 없음",
    "among {} tests": "검정 {}개 가운데",
    "others": "나머지",
    "{} (95% interval {} to {})": "{}(95% 신뢰구간 {} ~ {})",
    (
        "\n> On the {} users with later ratings, both candidates beat the popular list in nDCG@10:"
        "\n> item-knn by {}, factors by {};"
        "\n> p < 0.001 for each, Holm's correction over {} comparisons."
        "\n> Between the two **no difference was shown**: factors − item-knn is {};"
        "\n> a true difference of {} would have been found with 80% power in a single test."
        "\n> For the {} users with fewer than 12 ratings neither a gain nor a loss was shown."
        "\n> Counting only films rated 4 or 5 leads to the same conclusions."
        "\n> *We replace popular, and choose between the candidates on other grounds.*"
        "\n> The users are taken as a sample of users like them; another training run and another day of the split "
        "were not tried.\n"
    ): (
        "\n> 나중에 준 평점이 있는 사용자 {}명에서 두 후보의 nDCG@10은 모두 popular보다 높다."
        "\n> item-knn의 차이는 {}, factors의 차이는 {}이다"
        "\n> (각각 p < 0.001, 비교 {}개에 대한 홀름 보정)."
        "\n> 두 후보 사이에서는 **차이가 드러나지 않았다**. factors − item-knn은 {}이다."
        "\n> 단일 검정이 80%의 검정력으로 찾아낼 수 있었을 실제 차이는 {}이다."
        "\n> 평점이 12개보다 적은 사용자 {}명에서는 이득도 손해도 드러나지 않았다."
        "\n> 평점이 4나 5인 영화만 관련 있다고 보아도 결론은 같다."
        "\n> *popular를 바꾸고, 두 후보 중 하나는 다른 근거로 고른다.*"
        "\n> 사용자를 비슷한 사용자들의 표본으로 보았다. 모델을 다시 학습하거나 다른 날짜로 나누어 보지는 않았다.\n"
    ),
    # 10
    "films shown": "보여 준 영화 수",
    "shown to one user only": "한 명에게만 보여 준 영화 수",
    "share of the ten most shown": "가장 많이 보인 열 편의 비율",
    "{} the least shown four fifths get {} of all places; Gini {}": "{} 가장 적게 보인 5분의 4가 차지하는 자리의 비율 {}; 지니 계수 {}",
    "by hand {}": "직접 계산 {}",
    "low": "하한",
    "high": "상한",
    "share of hits": "적중 가운데 비율",
    "one list for all {}, popular {}": "모두에게 같은 목록 {}, popular {}",
    "their own choice": "직접 고른 영화",
    "popular is more diverse than {} of the users are": "popular의 목록이 스스로 고른 것보다 더 다양한 사용자의 비율: {}",
    "{}: miscalibration {} by popular, {} by item-knn": "{}: 보정 오차 popular {}, item-knn {}",
    "{}: diversity      {} by popular, {} by item-knn": "{}: 다양성    popular {}, item-knn {}",
    "library": "라이브러리",
    "what it decides": "정하는 것",
    "of 250 films": "영화 250편 가운데",
    "of 248 films that train has": "학습 데이터에 있는 영화 248편 가운데",
    "of 251: the padding id is an item": "251편 가운데: 패딩 id도 아이템으로 센다",
    "films, not divided": "나누지 않은 영화 수",
    "k is not asked for: whole lists; of 248": "k가 없다: 목록 전체, 248편 가운데",
    "users who had it, mean over users": "접한 사용자 수, 사용자 평균",
    "divided by log2(users): 0 to 1": "log2(사용자 수)로 나누어 0에서 1까지",
    "whole lists of 20, divided by k = 10": "20개의 목록 전체, k = 10으로 나눔",
    # 11
    "{} recommended rows, {} judged ones": "추천 {}행, 판정 {}행",
    "nDCG@10, ties as they came {}, by item {}": "nDCG@10, 동점을 주어진 순서대로 {}, 아이템 id의 순서로 {}",
    "Polars, lazy": "Polars, 지연",
    "no two differ by more than 1e-12: {}": "어느 둘도 1e-12보다 많이 다르지 않음: {}",
    "together {} to {}; added up {} to {}": "한꺼번에 {} ~ {}, 더해서 {} ~ {}",
    "Polars, lazy, with reading": "Polars, 지연, 읽기 포함",
    "Dask, one thread": "Dask, 스레드 1개",
    "Spark, two threads": "Spark, 스레드 2개",
    "rows a second": "초당 행 수",
    "streamed from files": "파일에서 스트리밍",
    "streamed": "스트리밍",
    "Dask, threads": "Dask, 스레드",
    "Spark, local": "Spark, 로컬",
    "minutes, 2 cores": "분, 코어 2개",
    "minutes, 32 cores": "분, 코어 32개",
    "{} users, {} relevant items each: {} GB": "사용자 {}명, 관련 아이템 {}개씩: {} GB",
    # 12
    "to find: {} pairs of user and film, {} a user": "찾을 것: 사용자와 영화의 쌍 {}개, 사용자마다 {}개",
    "seen:    {} of them, {} a user, {} of all": "본 것:   그 가운데 {}개, 사용자마다 {}개, 전체의 {}",
    "the 10 best known films": "가장 잘 알려진 10편",
    "the 100 least known   ": "가장 덜 알려진 100편",
    "{}: {} of what is to be found, {} of what was seen": "{}: 찾을 것의 {}, 본 것의 {}",
    "full truth": "전체 정답",
    "what was seen": "본 것",
    "seen, weighted": "본 것, 가중치",
    "what was shown": "보여 준 것",
    "width": "폭",
    "explorer is first in {} of 200 months as seen, and in {} weighted": "explorer가 첫째인 달: 200번 가운데 본 것으로는 {}번, 가중치를 쓰면 {}번",
    "mean as seen": "본 것의 평균",
    "deviation as seen": "본 것의 표준편차",
    "mean, weighted": "가중치를 쓴 평균",
    "deviation, weighted": "가중치를 쓴 표준편차",
    "number of users": "사용자 수",
    "films seen (6: or more)": "본 영화 수 (6: 6편 이상)",
    "heaviest pair": "가장 무거운 쌍",
    "pairs of equal weight": "같은 가중치일 때의 쌍 수",
}

#: Strings that a notebook keeps, as they are there columns that recnb makes.
KEPT = {"09_compare_models": {"low", "high"}, "11_scale": {"low", "high"}}
