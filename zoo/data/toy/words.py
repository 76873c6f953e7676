"""The words of the toy language. Every noun and verb is regular, and no word stands in two lists."""


def _list(text: str) -> list[str]:
    return text.split()


TOPICS = _list("farms rivers schools forests markets kitchens mountains songs")

CREATURES = _list(
    "dog cat cub farmer teacher bird nurse horse doctor goat king sailor lion pupil singer cow baker painter rabbit "
    "hunter driver duck writer queen bear robot dancer tiger frog monkey actor mayor eagle owl student pirate camel "
    "parrot clown spider miner camper turtle kitten puppet whale shark lamb seal raven otter badger beaver hamster "
    "giant wizard gardener tailor plumber poet runner swimmer thinker dreamer"
)

THINGS = _list(
    "tree house ball door lake table stone car boat book wagon garden chair road bridge lamp cup wall window tower "
    "basket bottle coat field fence flower gate hammer hill island kettle ladder letter mirror needle oven paddle "
    "pillow plate pond rope saddle sail shovel spoon stool street sword tent train trumpet tunnel vase violin wheel "
    "whistle candle carpet engine barrel bucket drum crown blanket"
)

TRANSITIVE = _list(
    "see help follow find know want need remember paint move visit call hear meet thank choose trust ask answer "
    "draw lift hold clean admire avoid greet guard welcome count cover protect deliver describe discover respect "
    "return sell share support surround hate imitate inspect"
)

INTRANSITIVE = _list(
    "sleep wait sing run jump fall swim laugh listen smile arrive travel rest dance whisper grow hide shiver "
    "disappear hesitate hum shout appear tremble wander turn stay blink glow spin lean drift"
)

SIZES = _list(
    "big small old young new little tall short quiet strange famous pretty plain rare common local lonely modern "
    "ancient bright dark gentle proud sudden dusty shiny noble silly tiny huge narrow wide foreign secret"
)
"""What both can be."""

TEMPERS = _list(
    "hungry tired clever kind angry brave lazy curious afraid sad patient thirsty jealous honest nervous polite "
    "loyal greedy shy grumpy eager careful wise bored"
)
"""What only a creature can be."""

MATERIALS = _list(
    "heavy broken wooden cheap useful empty wet dirty expensive hollow rusty fragile round solid sharp smooth flat "
    "sticky metal painted portable square loose cracked"
)
"""What only a thing can be."""

ADVERBS = _list("often today slowly again quietly now always here gladly alone early soon never twice together outside")
PREPOSITIONS = _list("near behind beside under above below opposite beyond")

NAMES = _list(
    "amy adam anna alan ben bella boris beth carl cora clara chris dora david dana dean emma eric ella ethan fred "
    "fiona felix flora gina george grace gary henry helen hugo hanna ivan irene isaac ida jack julia jane john kate "
    "karl kevin kira lisa leo lucy liam mark mary max maria nina noah nora nick olga oscar olive otto paul paula "
    "peter petra"
)
NAMES_EACH = 4
"""The j-th person of a document has one of names 4j to 4j + 3: so a new name is never a known one."""
MOST_NAMES = len(NAMES) // NAMES_EACH

RELATIONS = {
    "colour": _list("red blue green yellow black white pink orange"),
    "serve": _list("bread rice soup cake cheese fish fruit salad"),
    "teach": _list("chess tennis cards football piano guitar hockey darts"),
}

LETTERS = list("abcdefghijklmnopqrstuvwxyz")

LANDS = [first + last for last in ("land", "ia", "stan", "mark") for first in _list("nor fin bel tur gal mor vel sax")]
LANDS += [first + last for last in ("ora", "esh", "wyn", "uma") for first in _list("hal ber pel dun kor lim rav zan")]
CITIES = [first + last for last in ("ton", "burg", "ville", "dam") for first in _list("ash ken lor mil os pem rin tal")]
CITIES += [
    first + last for last in ("ford", "port", "by", "polis") for first in _list("ax bry chel der elm gos hux wex")
]

NUMBERS = [str(number) for number in range(99)]
LARGEST = 49

FUNCTION = _list("about the . that because it they is are , so spell : in lies plus minus")


def plural(noun: str) -> str:
    """The plural of a noun."""
    return f"{noun}s"


def singular(verb: str) -> str:
    """The form of a verb for one subject; the bare form is for several."""
    return f"{verb}s"


END = 0
"""The id of the end of a document, which is no word."""

ALL = [
    "",
    *FUNCTION,
    *TOPICS,
    *(form for noun in [*CREATURES, *THINGS] for form in (noun, plural(noun))),
    *(form for verb in [*TRANSITIVE, *INTRANSITIVE] for form in (singular(verb), verb)),
    *SIZES,
    *TEMPERS,
    *MATERIALS,
    *ADVERBS,
    *PREPOSITIONS,
    *NAMES,
    *(word for verb, values in RELATIONS.items() for word in (verb, *values)),
    *LETTERS,
    *LANDS,
    *CITIES,
    *NUMBERS,
]
"""Every word by its id."""

ID = {word: number for number, word in enumerate(ALL)}


def surface(word: str) -> bytes:
    """The word as it is written: a space before it, but not before punctuation or what opens a document."""
    return (word if word in ("", ".", ",", ":", "about") else f" {word}").encode("ascii")


SURFACES = [surface(word) for word in ALL]
