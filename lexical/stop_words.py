"""English function words: they join what a sentence is about and say nothing of it themselves.

Left out on purpose: function words that as often name something ("need", "like", "down", "won"), or whose
stem does ("except" of exceptions, "mine" of data mining).
"""

ARTICLES = "a an the this that these those some any each every either neither both all no such"

PRONOUNS = """
i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves anybody anyone anything everybody everyone everything
somebody someone something nobody nothing
"""

AUXILIARIES = """
am is are was were be been being have has had having do does did doing done can could shall should will would
may might must ought cannot
"""

QUESTIONS = "who whom whose what which when where why how whoever whatever whichever whenever wherever"

PREPOSITIONS = """
about above across after against along among around as at before behind below beneath beside between beyond by
despite during for from in inside into of off on onto out outside over per since through
throughout to toward towards under until up upon via with within without
"""

CONJUNCTIONS = """
and or nor but if then else than because while whereas although though unless whether so yet
"""

ADVERBS = (
    "not also too very just only again here there now once ever even still however therefore thus please"
)

# What the apostrophe leaves of "don't", "it's", "we'll".
CONTRACTIONS = """
s t d m ll re ve ain aren couldn didn doesn don hadn hasn haven isn mightn mustn shan shouldn wasn weren
wouldn
"""

STOP_WORDS = frozenset(
    " ".join(
        (ARTICLES, PRONOUNS, AUXILIARIES, QUESTIONS, PREPOSITIONS, CONJUNCTIONS, ADVERBS, CONTRACTIONS)
    ).split()
)
