"""What the oracle remembers about the words that it has read, in plain Python; `memory.py` is the same for arrays."""

from dataclasses import dataclass, field

from zoo.data.toy.grammar import Act, Choice, Slot


@dataclass(frozen=True)
class Noun:
    """A noun that was said, or a value: word, number, place."""

    word: str
    number: int
    at: int


@dataclass
class Reader:
    """What is remembered about the words read so far."""

    shortest: int
    time: int = 0
    topic: int = 0
    may_end: bool = False
    people: list[str] = field(default_factory=list)
    person: int = 0
    relation: int = 0
    said: dict[tuple[int, int], Noun] = field(default_factory=dict)
    subjects: list[Noun] = field(default_factory=list)
    subject: Noun | None = None
    object: Noun | None = None
    fitting: int = 0
    referent: Noun | None = None
    mark: int = 0
    letters: list[Noun] = field(default_factory=list)
    copied: int = 0
    land: int = 0
    addend: int = 0
    result: int = 0

    def word(self, word: "str | Slot | int") -> str:
        """What a choice says here."""
        if isinstance(word, Slot):
            found = {Slot.REFERENT: self.referent, Slot.ANSWER: self._answer(), Slot.LETTER: self._letter()}[word]
            assert found is not None
            return found.word
        return self.people[-1 - word] if isinstance(word, int) else word

    def row(self, by: Slot) -> int:
        """Which row of a situation holds here."""
        match by:
            case Slot.ALWAYS:
                return 0
            case Slot.TOPIC:
                return self.topic
            case Slot.OPENING:
                return 2 * len(self.people) + self.may_end
            case Slot.LEVEL:
                return 2 * (len(self.subjects) - 1) + self.subjects[-1].number
            case Slot.PAIR:
                assert self.subject is not None
                assert self.object is not None
                return 2 * self.subject.number + self.object.number
            case Slot.FITTING:
                return self.fitting
            case Slot.REFERENT_NUMBER:
                assert self.referent
                return self.referent.number
            case Slot.QUESTION:
                return self.relation + (3 if self._answer() else 0)
            case Slot.SPELLED:
                return len(self.letters)
            case Slot.LEFT:
                return int(self.copied < len(self.letters))
            case Slot.LAND:
                return self.land
            case Slot.ADDEND:
                return self.addend
        assert by is Slot.RESULT
        return self.result

    def place(self, since: Slot) -> int:
        """Where the word stands that the next one depends on."""
        if since is Slot.MARK:
            return self.mark
        if since is Slot.LETTER_AT:
            letter = self._letter()
            return letter.at if letter else self.letters[-1].at + 1
        noun = {
            Slot.HEAD_AT: self.subjects[-1] if self.subjects else None,
            Slot.SUBJECT_AT: self.subject,
            Slot.OBJECT_AT: self.object,
            Slot.REFERENT_AT: self.referent,
            Slot.ANSWER_AT: self._answer(),
        }[since]
        assert noun
        return noun.at

    def read(self, choice: Choice) -> None:
        """Remember what that choice changes."""
        word, argument = self.word(choice.word), choice.argument
        noun = Noun(word, argument, self.time)
        match choice.act:
            case Act.TOPIC:
                self.topic = argument
            case Act.CLOSE:
                self.subjects, self.letters, self.copied = [], [], 0
                self.may_end = self.time + 1 >= self.shortest
            case Act.PUSH:
                self.subjects.append(noun)
                self.subject = self.subjects[0]
            case Act.POP:
                self.subjects.pop()
            case Act.OBJECT:
                self.object = noun
            case Act.PRONOUN:
                self.fitting, self.mark = argument, self.time
            case Act.REFER:
                self.referent = self.subject if argument == 1 else self.object
            case Act.MARK:
                self.mark = self.time
            case Act.MEET:
                self.people.append(word)
                self.person = len(self.people) - 1
            case Act.KNOWN:
                self.person = self.people.index(word)
            case Act.ASK:
                self.relation = argument
            case Act.BIND:
                self.said[self.person, self.relation] = noun
            case Act.SPELL:
                self.letters.append(noun)
            case Act.COPY:
                self.copied += 1
            case Act.LAND:
                self.land, self.mark = argument, self.time
            case Act.FIRST:
                self.addend, self.mark = argument, self.time
            case Act.ADD:
                self.result = self.addend + argument
            case Act.SUBTRACT:
                self.result = self.addend - argument
        self.time += 1

    def _answer(self) -> Noun | None:
        return self.said.get((self.person, self.relation))

    def _letter(self) -> Noun | None:
        return self.letters[self.copied] if self.copied < len(self.letters) else None
