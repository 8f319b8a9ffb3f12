"""Tables of kinds that the public sets lack, made with their pairs: slips and lookalikes.

The seed of a table gives all of it. Even seeds draw from one half of the words, odd ones from the
other, and each has its own share of copies, sizes of clusters and amount of noise. Things that only
look alike differ in values that no slip takes away, so that the records alone tell them apart.
"""
# ruff: noqa: RUF001 – names in other scripts are meant

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import combinations, count
from types import SimpleNamespace as Thing

from rapidfuzz.distance import Levenshtein

from lib.kinds import Row, Table, make_units, sort_pairs

Spell = Callable[[Thing, int], Row]  # of a thing, and of which copy or source


def _words(text: str, mark: str | None = None) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(mark))


def _pairs(text: str) -> dict[str, str]:
    return {long: short for long, _, short in (pair.partition("/") for pair in text.split())}


def _cross(firsts: str, lasts: str, between: str = "") -> tuple[str, ...]:
    """Combine each first part with each last part, in an order of chance."""
    names = [first + between + last for first in firsts.split() for last in lasts.split()]
    random.Random(firsts).shuffle(names)
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Region:
    """Words of a country: what people, towns, streets and firms are called."""

    country: str
    dial: str
    address: str
    given: tuple[str, ...]
    surnames: tuple[str, ...]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    trades: tuple[str, ...]
    legal: tuple[str, ...]


REGIONS = (
    Region("United Kingdom", "44", "{number} {street}", _words("""William Emma Thomas Olivia James
        Charlotte Robert Elizabeth Margaret Edward Katherine Daniel Grace Samuel Hannah Benjamin
        Joshua Victoria Matthew Harriet Anthony Rebecca Nicholas Imogen Christopher Fiona Hugh"""),
        _cross("Ash Black Hart Whit Brad Wood Thorn Hal Nor Win Stan Chad Lang Mar Har Good Wal",
               "ley field ford well man ton wick worth ridge burn"),
        _words("Leeds York Bristol Norwich Exeter Derby Cardiff Swansea Dundee Perth Oxford Bath"),
        _cross("High Mill Church Station Park Victoria King's Queen's Orchard Bridge Chapel Elm",
               "Street Road Lane Avenue Close", " "),
        _words("""Logistics Bakery Motors Consulting Plumbing Interiors Books Engineering Catering
        Textiles Opticians Joinery Electronics Nurseries"""), ("Ltd", "Limited", "PLC")),
    Region("Germany", "49", "{street} {number}", _words("""Anna Lukas Sophie Jürgen Katharina Stefan
        Ursula Matthias Ingrid Heinz Birgit Wolfgang Monika Dieter Petra Rainer Gisela Tobias
        Franziska Uwe Jonas Elke Volker Sabine Günther Marlene Fabian Claudia Klaus Oskar"""),
        _cross("Berg Stein Lind Hof Wald Kirch Eich Rosen Bach Feld Grün Neu Alten Brand König",
               "er mann bauer meier hoff müller haus thal"),
        _words("Kassel Ulm Rostock Jena Bremen Mainz Trier Passau Erfurt Lübeck Göttingen Münster"),
        _cross("Linden Bahnhof Schul Kirch Garten Mühlen Berg Wald Haupt Rosen Post Goethe Ring",
               "straße weg platz allee gasse"),
        _words("""Spedition Bäckerei Elektrotechnik Maschinenbau Druckerei Möbel Sanitär Metallbau
        Optik Gartenbau Reisen Verlag Dachdeckerei Autohaus"""), ("GmbH", "AG", "KG", "OHG")),
    Region("France", "33", "{number} {street}", _words("""Camille Louis Chloé Hugo Manon Mathieu
        Élodie Antoine Margaux Julien Hélène Pascal Sylvie Thierry Brigitte Gérard Odile Rémi
        Aurélie Benoît Nathalie Xavier Véronique Didier Inès Yannick Florence Étienne Zoé"""),
        _cross("Mor Ber Lam Gir Bon Rous Per Fon Del Mar Gaut Rich Vill Char Len Bou Duv",
               "eau ard et ain in ier elle on"),
        _words("Lyon Nantes Rennes Dijon Tours Angers Nîmes Metz Brest Limoges Rouen Orléans"),
        _cross("rue avenue boulevard place", """Gambetta Voltaire Pasteur Jaurès Hugo Zola Carnot
        Mirabeau Lavoisier Molière Ampère Descartes Racine Colbert""", " "),
        _words("""Transports Boulangerie Plomberie Menuiserie Imprimerie Optique Pharmacie Librairie
        Électricité Jardins Voyages Toitures Traiteur Peinture"""), ("SARL", "SA", "SAS")),
    Region("Spain", "34", "{street} {number}", _words("""María José Carmen Antonio Lucía Javier
        Dolores Manuel Pilar Francisco Teresa Rafael Isabel Fernando Rocío Ignacio Álvaro Beatriz
        Enrique Nuria Gonzalo Hugo Yolanda Vicente Óscar Leticia Unai Blanca Sergio Paloma"""),
        _cross("Fern Gonz Rodr Mart Hern Ram Alv Jim Dom Vel Mor Nav Cab Or Sal Mont",
               "ández ález íguez ínez era eno arro asco"),
        _words("Sevilla Murcia Bilbao Málaga Zaragoza Toledo Burgos Lugo León Cádiz Girona Huelva"),
        _cross("calle avenida plaza paseo", """Mayor Real Cervantes Colón Goya Serrano Nueva
        Sol Luna Alameda Olmo Pizarro Quevedo""", " "),
        _words("""Transportes Panadería Muebles Talleres Imprenta Óptica Farmacia Viajes Carpintería
        Fontanería Conservas Textiles Reformas Bodegas"""), ("S.L.", "S.A.")),
    Region("Poland", "48", "{street} {number}", _words("""Zofia Piotr Agnieszka Tomasz Katarzyna
        Andrzej Barbara Krzysztof Magdalena Wojciech Ewa Stanisław Joanna Paweł Halina Marcin Dorota
        Łukasz Irena Grzegorz Urszula Rafał Olga Filip Celina Natalia Iwona Leon Róża Szymon"""),
        _cross("Kowal Wiśniew Lewandow Kamiń Zieliń Szymań Woźniak Dąbrow Kozłow Mazur Pawłow",
               "ski czyk ik ecki owicz"),
        _words("Łódź Kraków Gdynia Lublin Poznań Toruń Opole Kielce Radom Gliwice Olsztyn Rzeszów"),
        _cross("ul. al. os.", """Długa Polna Leśna Szkolna Ogrodowa Lipowa Kościelna Zielona
        Słowackiego Krótka Kolejowa Mostowa Wiśniowa Brzozowa""", " "),
        _words("""Piekarnia Transport Meble Budownictwo Drukarnia Optyk Apteka Księgarnia Instalacje
        Ogrody Elektronika Szkło"""), ("Sp. z o.o.", "S.A.")),
    Region("Türkiye", "90", "{street} No {number}", _words("""Ayşe Mehmet Fatma Zeynep Emre Elif
        Hüseyin Burak Özlem Cem Gülşen Kemal Derya İbrahim Nazlı Orhan Pınar Serkan Tuğba Volkan
        Yasemin Ufuk Levent Hande Tolga Sibel Koray Ömer Leyla Rıza"""),
        _cross("Yıl Kara Ak Öz Demir Gün Taş Er Koç Bul Şen Ay Çelik Kaya",
               "maz doğan soy türk can bulut taş oğlu"),
        _words("Bursa Konya Adana İzmir Kayseri Trabzon Samsun Eskişehir Mersin Antalya Denizli"),
        _cross("Atatürk Cumhuriyet İnönü Gazi Bahçe Çınar Lale Menekşe Barış Fatih Zafer Okul",
               "Caddesi Sokak Bulvarı", " "),
        _words("""Tekstil Gıda İnşaat Nakliyat Mobilya Otomotiv Matbaa Turizm Elektrik Makine
        Plastik Tarım"""), ("A.Ş.", "Ltd. Şti.")),
    Region("India", "91", "{number}, {street}", _words("""Priya Rahul Ananya Vikram Deepika Suresh
        Kavita Lakshmi Meera Pooja Harish Nandini Manoj Kiran Ganesh Usha Tarun Divya Geeta Jyoti
        Ritu Omkar Bhavna Yash Zara Ishaan"""),
        _cross("Sharm Verm Gupt Chandr Krishn Venkat Subram Rao Ram Patn Kulk Desh",
               "a an aswamy esan arni pande anand"),
        _words("Pune Jaipur Mysuru Nagpur Indore Kochi Surat Bhopal Lucknow Vadodara Ranchi"),
        _cross("Gandhi Nehru Tagore Temple Station Market Lake Garden Tank College Fort Brigade",
               "Road Nagar Street Marg", " "),
        _words("""Textiles Traders Exports Sweets Jewellers Hardware Pharma Electricals Foods Tyres
        Steel Agencies"""), ("Pvt Ltd", "LLP")),
)  # fmt: skip
NICKNAMES = _pairs("""William/Bill Robert/Bob Elizabeth/Liz
        Katherine/Kate Margaret/Maggie Thomas/Tom Daniel/Dan Benjamin/Ben Christopher/Chris
        Nicholas/Nick Rebecca/Becky Samuel/Sam Matthew/Matt Anthony/Tony Katharina/Kathi
        Matthias/Matze Franziska/Franzi José/Pepe Francisco/Paco Dolores/Lola Katarzyna/Kasia
        Tomasz/Tomek Magdalena/Magda""")  # fmt: skip
BRANDS = _cross("Nor Val Kel Tri Zan Ory Mer Sol Quan Fex Lum Pra Dal Vir Cor Teg Hux Bel Asto Iri",
                "tek ora mix ano vance lux dyne well ix nova gard eo sun metra pro la")  # fmt: skip
ADJECTIVES = _words("""Broken Silent Golden Wild Midnight Crimson Lonely Electric Burning Hollow
        Paper Velvet Distant Frozen Little Crooked Blue Last Hidden Northern Restless Sweet Iron
        Painted Second Empty Wandering Bitter Scarlet Endless Rusty Gentle""")  # fmt: skip
NOUNS = _words("""River Heart Glass Road Fire Summer Ghost Garden Mirror Train Winter Shadow Ocean
        Letter Harbour Thunder Stranger Dancer Kingdom Island Promise Horizon Sparrow Lantern
        Mountain Window Machine Orchard Widow Sailor Compass Avenue Feather Bridge Carnival
        Satellite Hunter Tide Engine Desert Violin Wolf""")  # fmt: skip
FOREIGN = _words("""Corazón Luna Noche Vida Cielo Fuego Viento Sueño Coeur Nuit Pluie Étoile Jardin
        Ombre Nacht Sommer Sehnsucht Regen Heimat Stern""")  # fmt: skip
SHORT = _pairs("""Street/St Road/Rd Avenue/Ave Lane/Ln Close/Cl
        avenue/av. boulevard/bd calle/C. avenida/Avda. plaza/Pza. Caddesi/Cad. Sokak/Sk.
        Bulvarı/Blv. and/& Engineering/Eng. Electronics/Electr. Consulting/Cons. Logistics/Log.
        Transportes/Transp. for/f. Introduction/Intro. History/Hist. Press/Pr. Theory/Th.
        Handbook/Hdbk Principles/Princ. with/w. Biology/Biol. Chemistry/Chem. Economics/Econ.
        Restaurant/Rest. Pharmacy/Pharm.""")  # fmt: skip
LEGAL = {"Ltd": "Limited", "PLC": "Public Limited Company", "S.L.": "Sociedad Limitada",
    "GmbH": "Gesellschaft mbH", "AG": "Aktiengesellschaft", "Pvt Ltd": "Private Limited",
    "A.Ş.": "Anonim Şirketi", "Sp. z o.o.": "Spółka z o.o.", "Limited": "Ltd."}  # fmt: skip
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
DATES = (
    "{0:%Y-%m-%d}", "{0:%d.%m.%Y}", "{0.day} {en} {0.year}", "{en} {0.day}, {0.year}", "{0:%Y%m%d}",
    "{0.day}. {de} {0.year}", "{0.day} {fr} {0.year}", "{0:%d}-{en:.3}-{0:%y}",
)  # fmt: skip
PHONES = ("+{0} {1} {2}", "(0{1}) {2}", "0{1}/{2}", "0{1}{2}", "00{0}{1}{2}", "0{1}-{2:.3}-{3}")
KEYS = "qwertyuiop asdfghjkl zxcvbnm"


def fold(text: str) -> str:
    """Take the marks off the letters of a text."""
    marks = unicodedata.normalize("NFKD", text.translate(str.maketrans("łŁøØßıđ", "lLoOsid")))
    return unicodedata.normalize("NFC", "".join(c for c in marks if not unicodedata.combining(c)))


def shorten(text: str) -> str:
    """Abbreviate the words that people abbreviate."""
    return re.sub(r"straße\b", "str.", " ".join(SHORT.get(word, word) for word in text.split()))


def write_date(day: str, notation: str) -> str:
    """Write an ISO date in another notation."""
    at = date.fromisoformat(day)
    names = {language: names.split()[at.month - 1] for language, names in MONTHS.items()}
    return notation.format(at, **names)


def write_phone(number: str, notation: str) -> str:
    """Write a number of country, area and line in another notation."""
    country, area, line = number.split()
    return notation.format(country, area, line, line[3:])


class Draw:
    """Draws the words, slips and copies of the tables of a seed."""

    def __init__(self, name: str, family: str, records: int, seed: int) -> None:
        self.name, self.family, self.records = f"{name}.{seed}", family, records
        self.half, self.turn = seed % 2, seed // 2
        self.rng = rng = random.Random(seed)
        self.choose, self.below, self.sample = rng.choice, rng.randrange, rng.sample
        self.noise = rng.uniform(0.7, 1.5)
        self.share = (0.05, 0.15, 0.3, 0.45, 0.6)[self.turn % 5]  # of records that are copies
        self.clusters = ((2,), (2, 2, 2, 3, 3, 4, 6), (2,) * 25 + (20,))[self.turn % 3]
        self.region = partial(rng.choice, rng.sample(REGIONS, rng.randint(2, 5)))
        self.used: set[str] = set()

    def chance(self, share: float) -> bool:
        """Decide by chance."""
        return self.rng.random() < share

    def slip(self, share: float) -> bool:
        """Decide by chance, and by the noise of the table."""
        return self.chance(min(share * self.noise, 0.9))

    def pick(self, words: Sequence[str], flat: int = 6) -> str:
        """Pick a word of this half of the words: the first ones often, the last ones seldom."""
        half = words[self.half :: 2]
        return half[int(flat * ((len(half) + flat) / flat) ** self.rng.random() - flat)]

    def vary(self, notations: Sequence[str], share: float) -> str:
        """Pick the notation that the table uses most, or by chance another."""
        usual = notations[self.turn % len(notations)]
        return self.choose(notations) if self.slip(share) else usual

    def lose(self, text: str, share: float) -> str:
        """Leave a value out, by chance."""
        return "" if self.slip(share) else text

    def mistype(self, text: str) -> str:
        """Drop, double, swap or mistake a letter of a word of at least four letters."""
        places = [match.start() + at for match in re.finditer(r"[^\W\d_]{4,}", text)
                  for at in range(2, len(match.group()))]  # fmt: skip
        if not places:
            return text
        at = self.choose(places)
        before, letter = text[at - 1], text[at]
        near = KEYS[max(KEYS.find(letter.lower()) - 1, 0)].strip() or "s"
        if letter > "ɏ":  # another script
            near = text[self.choose(places)]
        new = self.choose(("", letter + letter, letter + before, near))
        return text[: at - 1] + ("" if new == letter + before else before) + new + text[at + 1 :]

    def smudge(self, text: str, typos: float = 0.12) -> str:
        """Type a text again: with slips, without accents, in capitals, abbreviated."""
        for share, change in ((typos, self.mistype), (typos / 4, self.mistype), (0.06, fold),
                              (0.03, str.upper), (0.03, str.lower), (0.1, shorten)):  # fmt: skip
            if self.slip(share):
                text = change(text)
        return text

    def is_new(self, *names: str) -> bool:
        """Ask whether names come up together for the first time."""
        known, key = len(self.used), fold(" ".join(names)).casefold()
        self.used.add(key)
        return len(self.used) > known

    def code(self, pattern: str) -> str:
        """Draw a letter for each `L` of a pattern, a digit for each `#`."""
        signs = {"L": "ABCDEFGHKLMNPRSTUVWX", "#": "0123456789"}
        return "".join(self.choose(signs.get(sign, sign)) for sign in pattern)

    def day(self, first: int, last: int) -> str:
        """Draw a day of the years from `first` to `last`."""
        return str(date(first, 1, 1) + timedelta(self.below(365 * (last - first + 1))))

    def person(self, region: Region, initials: str = "") -> tuple[str, str]:
        """Draw a given name that begins with none of the initials, and a surname."""
        given = self.pick(region.given)
        while given[0] in initials:
            given = self.choose(region.given)
        return given, self.pick(region.surnames, 20)

    def phone(self, region: Region) -> str:
        """Draw a number: country, area and line."""
        return self.code(f"{region.dial} {self.below(1, 10)}## {self.below(2, 10)}######")

    def street(self, region: Region) -> str:
        """Draw a street with the number of a house."""
        street = self.pick(region.streets, 20)
        return region.address.format(street=street, number=self.below(1, 180))

    def email(self, given: str, surname: str) -> str:
        """Draw an address for a person."""
        one, two = (re.sub(r"\W", "", fold(name)).lower() for name in (given, surname))
        host = self.pick(("gmail.com", "yahoo.com", "outlook.com", "gmx.de", "orange.fr", "web.de"))
        user = self.choose((f"{one}.{two}", f"{one[:1]}{two}", f"{two}{self.below(50, 99)}",
                            f"{one}_{two}{self.below(10, 99)}"))  # fmt: skip
        while not self.is_new(f"{user}@{host}"):
            user += self.code("#")
        return f"{user}@{host}"

    def firm(self, region: Region) -> str:
        """Draw the name of a firm, without its legal form."""
        surname, another = self.pick(region.surnames, 20), self.pick(region.surnames, 20)
        brand, trade = self.pick(BRANDS, 20), self.pick(region.trades)
        return self.choose((f"{surname} {trade}", f"{brand} {trade}", f"{surname} & {another}",
                            f"{trade} {surname}", f"{brand} {trade}"))  # fmt: skip

    def title(self) -> str:
        """Draw the title of a song or film."""
        one, two, adjective = self.pick(NOUNS), self.pick(NOUNS, 30), self.pick(ADJECTIVES)
        word, city = self.pick(FOREIGN), self.pick(self.region().cities)
        return self.choose((
            f"{adjective} {one}", f"The {adjective} {one}", f"{one} of the {two}", f"{word} {one}",
            f"{one} in {city}", f"The {one} and the {two}", f"{word} de {city}",
            f"{adjective} {one}, {adjective} {two}", f"My {adjective} {two}",
        ))  # fmt: skip

    def rename(self, given: str, surname: str) -> tuple[str, str]:
        """Spell the name of a person again: initial, short name, middle initial, fields swapped."""
        if self.slip(0.12):
            given = given[0] + self.choose(("", "."))
        elif self.slip(0.3) and given in NICKNAMES:
            given = NICKNAMES[given]
        elif self.slip(0.06):
            given = f"{given} {self.code('L')}."
        given, surname = self.smudge(given), self.smudge(surname)
        return (surname, given) if self.slip(0.05) else (given, surname)

    def make_copies(self, draw_group: Callable[[], Iterator[Thing]], spell: Spell) -> Table:
        """Make a table of one source in which some things are entered again."""
        usual = sum(self.clusters) / len(self.clusters) - 1
        again = min(self.share / (1 - self.share) / usual, 0.9)

        def count_copies() -> range:
            return range(self.choose(self.clusters) if self.chance(again) else 1)

        ((rows, numbers),) = self._spell_things(draw_group, spell, count_copies, 1)
        groups: dict[int, list[str]] = {}
        for number, row in zip(numbers, rows, strict=True):
            groups.setdefault(number, []).append(row["id"])
        pairs = sort_pairs(pair for ids in groups.values() for pair in combinations(ids, 2))
        return Table(name=f"{self.name}:copies", family=self.family, sides=(rows,), pairs=pairs)

    def make_sources(self, draw_group: Callable[[], Iterator[Thing]], spell: Spell) -> list[Table]:
        """Make tables of two sources, clean each, that share some of their things."""
        common = self.rng.uniform(0.15, 0.85)

        def choose_sources() -> range:
            first = self.below(2)
            return range(2) if self.chance(common) else range(first, first + 1)

        (a, left), (b, right) = self._spell_things(draw_group, spell, choose_sources, 2)
        ids = {n: row["id"] for n, row in zip(right, b, strict=True)}
        pairs = [(row["id"], ids[n]) for n, row in zip(left, a, strict=True) if n in ids]
        return make_units(self.name, self.family, a, b, pairs)

    def _spell_things(
        self, draw_group: Callable[[], Iterator[Thing]], spell: Spell,
        choose: Callable[[], range], sides: int,
    ) -> list[tuple[list[Row], list[int]]]:  # fmt: skip
        """Spell things until the records suffice; give those of each side, and their things."""
        rows: list[tuple[int, int, Row]] = []
        owners: dict[tuple[str, ...], int] = {}
        numbers = count()
        while len(rows) < self.records:
            for thing in draw_group():
                number = next(numbers)
                for copy in choose():
                    row = spell(thing, copy)
                    texts = (re.sub(r"\W", "", fold(value)).casefold() for value in row.values())
                    # no two things are equal: the later one is left out
                    if owners.setdefault(tuple(sorted(filter(None, texts))), number) == number:
                        rows.append((copy if sides > 1 else 0, number, row))
        self.rng.shuffle(rows)
        made = []
        for side in range(sides):
            own = [(number, row) for at, number, row in rows if at == side]
            form = ("{}", "r{:x}")[side if sides > 1 else self.turn % 2]
            ids = map(form.format, self.sample(range(10**4, 10**6), len(own)))
            made.append(([{"id": id_, **row} for id_, (_, row) in zip(ids, own, strict=True)],
                         [number for number, _ in own]))  # fmt: skip
        return made


def _alter(thing: Thing, **values: str) -> Thing:
    return Thing(**{**vars(thing), **values})


def make_signup(records: int, seed: int) -> list[Table]:
    """Make people who sign up again: the day of entry differs, one of the contacts stays."""
    draw = Draw("signup", "people", records, seed)
    loses_email = draw.chance(0.5)

    def draw_people() -> Iterator[Thing]:
        region = draw.region()
        first, last = draw.person(region)
        for _ in range(draw.choose((1, 1, 1, 1, 2))):  # namesakes have contacts of their own
            email = draw.email(first, last)
            yield Thing(first=first, last=last, phone=draw.phone(region), email=email)

    def spell(person: Thing, copy: int) -> Row:
        first, last, email = person.first, person.last, person.email
        phone = write_phone(person.phone, draw.vary(PHONES, 0.3))
        if copy:
            first, last = draw.rename(first, last)
            if draw.slip(0.25):
                email = draw.choose((draw.email(person.first, person.last), draw.mistype(email)))
            elif draw.slip(0.25):  # always the same contact: namesakes differ in the other
                email, phone = ("", phone) if loses_email else (email, "")
        return {"first": first, "last": last, "email": email, "phone": phone,
                "created": draw.day(2019, 2025)}  # fmt: skip

    return [draw.make_copies(draw_people, spell)]


def make_customers(records: int, seed: int) -> list[Table]:
    """Make customers who move and mistype; fathers and sons share a name, siblings an address."""
    draw = Draw("customers", "people", records, seed)

    def draw_people() -> Iterator[Thing]:
        region = draw.region()
        given, surname = draw.person(region)
        person = Thing(
            given=given, surname=surname, street=draw.street(region), postcode=draw.code("#####"),
            city=draw.pick(region.cities), phone=draw.phone(region), born=draw.day(1935, 2004),
            new_street=draw.street(region), new_city=draw.pick(region.cities), has_son="",
        )  # fmt: skip
        kind = draw.below(10)
        if kind == 0:  # only the day of birth tells them apart
            person.has_son = "yes"
            yield _alter(person, born=draw.day(2005, 2012))
        elif kind == 1:
            yield _alter(person, given=draw.person(region, given[0])[0], born=draw.day(1935, 2004))
        elif kind == 2:  # a namesake
            yield _alter(person, street=person.new_street, city=draw.pick(region.cities),
                         phone=draw.phone(region), born=draw.day(1935, 2004))  # fmt: skip
        yield person

    def spell(person: Thing, copy: int) -> Row:
        given, surname, street, city = person.given, person.surname, person.street, person.city
        phone = write_phone(person.phone, draw.vary(PHONES, 0.3))
        born = write_date(person.born, draw.vary(DATES, 0.2))
        if copy:
            given, surname = draw.rename(given, surname)
            street, city = draw.smudge(street, 0.2), draw.smudge(city)
            if draw.slip(0.15):
                street, city = person.new_street, person.new_city
            elif draw.slip(0.3):
                phone = ""
            elif draw.slip(0.4) and not person.has_son:
                born = ""
        return {"first_name": given, "surname": surname, "street": street, "city": city,
                "postcode": draw.lose(person.postcode, 0.3), "telephone": phone,
                "birth_date": born}  # fmt: skip

    return [draw.make_copies(draw_people, spell), *draw.make_sources(draw_people, spell)]


def make_households(records: int, seed: int) -> list[Table]:
    """Make couples and families of one address and telephone, some members entered twice."""
    draw = Draw("households", "people", records, seed)

    def draw_members() -> Iterator[Thing]:
        region, initials = draw.region(), ""
        surname, phone = draw.person(region)[1], draw.phone(region)
        address = f"{draw.street(region)}, {draw.pick(region.cities)}"
        for _ in range(draw.choose((1, 1, 2, 2, 2, 3, 4))):
            given, other = draw.person(region, initials)
            initials += given[0]
            yield Thing(given=given, surname=other if draw.chance(0.1) else surname, phone=phone,
                        address=address)  # fmt: skip

    def spell(member: Thing, copy: int) -> Row:
        given, surname, address = member.given, member.surname, member.address
        if copy:
            short = NICKNAMES.get(given, given)
            given = draw.choose((short, given[0] + ".", draw.mistype(given), given))
            surname, address = draw.smudge(surname, 0.15), draw.smudge(address, 0.2)
        phone = write_phone(member.phone, draw.vary(PHONES, 0.1))
        return {"name": draw.vary((f"{given} {surname}", f"{surname}, {given}"), 0.1),
                "address": address, "phone": draw.lose(phone, 0.08)}  # fmt: skip

    return [draw.make_copies(draw_members, spell)]


def make_firms(records: int, seed: int) -> list[Table]:
    """Make firms in registers: branches and sisters differ, legal forms vary."""
    draw = Draw("firms", "organisations", records, seed)

    def draw_branches() -> Iterator[Thing]:
        region = draw.region()
        name, legal = draw.firm(region), draw.choose(region.legal)
        if not draw.is_new(*sorted(name.split())):
            return
        for city in draw.sample(region.cities, draw.choose((1, 1, 1, 2, 3, 5))):
            firm = Thing(
                name=name, legal=legal, city=city, postcode=draw.code("#####"),
                phone=draw.phone(region), street=draw.street(region),
                new_phone=draw.phone(region), new_street=draw.street(region),
            )  # fmt: skip
            yield firm
            sister = [next(word for word in name.split() if word not in region.trades),
                      draw.pick(region.trades)]  # fmt: skip
            if draw.chance(0.2) and draw.is_new(*sorted(sister)):
                yield _alter(firm, name=" ".join(sister))

    def spell(firm: Thing, copy: int) -> Row:
        name, legal, street, phone = firm.name, firm.legal, firm.street, firm.phone
        if copy:
            if draw.slip(0.15):
                name = name.replace("&", draw.choose(("and", "+", "u.")))
            if draw.slip(0.08):
                name = " ".join(reversed(name.split()))
            if draw.slip(0.25):
                street, phone = firm.new_street, firm.new_phone
            name, street = draw.smudge(name, 0.3), draw.smudge(street, 0.2)
            legal = draw.choose((legal, "", LEGAL.get(legal, ""), legal.upper()))
        phone = write_phone(phone, draw.vary(PHONES, 0.3))
        return {"company": f"{name} {legal}".strip(), "street": draw.lose(street, 0.2),
                "zip": draw.lose(firm.postcode, 0.3), "city": draw.smudge(firm.city, 0.04),
                "phone": draw.lose(phone, 0.4)}  # fmt: skip

    return [draw.make_copies(draw_branches, spell), *draw.make_sources(draw_branches, spell)]


COLOURS = {"black": "blk", "white": "wht", "red": "red", "navy blue": "navy", "grey": "gry",
    "green": "grn", "beige": "bge", "silver": "slv"}  # fmt: skip
GOODS = {  # by noun: the sizes of its variants, and what shops say of it
    "T-Shirt": ("XS S M L XL XXL", "cotton crew neck/slim fit/machine washable/organic"),
    "Rain Jacket": ("S M L XL", "waterproof/taped seams/hooded/two pockets/packable"),
    "Running Shoes": ("38 39 40 41 42 43 44", "mesh upper/cushioned sole/reflective/light"),
    "SSD": ("128GB 256GB 500GB 1TB 2TB", "SATA III/2.5 inch/550 MB/s read/5 year warranty"),
    "Smartphone": ("64GB 128GB 256GB", "dual SIM/OLED display/fast charging/48 MP camera/5G"),
    "LED TV": ("32in 40in 43in 50in 55in 65in", "HDR10/smart hub/4 HDMI/wall mountable/energy A"),
    "Cordless Drill": ("10.8V 12V 18V 36V", "two batteries/brushless/keyless chuck/with case"),
    "Wall Paint": ("0.75l 2.5l 5l 10l", "matt/washable/low odour/covers 12 m² per litre"),
    "Espresso Beans": ("250g 500g 1kg", "dark roast/arabica/fair trade/whole beans/robust"),
    "AA Batteries": ("4-pack 8-pack 12-pack 24-pack", "alkaline/long life/leak proof/1.5 volts"),
    "Office Chair": ("80cm 90cm 100cm", "adjustable arms/lumbar support/mesh back/castors"),
    "Frying Pan": ("20cm 24cm 28cm 32cm", "non-stick/induction/oven safe/aluminium/riveted"),
}


def make_products(records: int, seed: int) -> list[Table]:
    """Make the goods of shops: variants in size and colour differ, codes hide in a title."""
    draw = Draw("products", "products", records, seed)
    has_column = draw.chance(0.5)  # of the second shop, for the code

    def draw_variants() -> Iterator[Thing]:
        noun, brand, line = draw.choose(tuple(GOODS)), draw.pick(BRANDS), draw.pick(NOUNS, 30)
        line += draw.choose(("", "", " II", " Pro", " 3", " Plus", " Mini"))
        if not draw.is_new(brand, line, noun):
            return
        sizes, features = GOODS[noun][0].split(), GOODS[noun][1].split("/")
        model = draw.code(draw.choose(("LL###", "LLL-##", "L####", "##L##")))
        price = draw.below(9, 900)
        colours = draw.sample(list(COLOURS), draw.choose((1, 1, 2)))
        for at, size in enumerate(draw.sample(sizes, draw.choose((1, 1, 2, 3)))):
            digits = re.sub("[^0-9A-Z]", "", size)
            for colour in colours:
                yield Thing(brand=brand, line=line, noun=noun, size=size, colour=colour,
                            model=model + "/" + digits[:3] + COLOURS[colour][::2].upper(),
                            price=f"{price * (1 + at / 10):.2f}",
                            text=", ".join(draw.sample(features, 3)))  # fmt: skip

    def spell(item: Thing, shop: int) -> Row:
        price = float(item.price) * (1 + draw.rng.uniform(-0.12, 0.12))
        if not shop:
            title = f"{item.brand} {item.line} {item.noun} {item.size} {item.colour.title()}"
            return {"title": f"{title} - {item.model}", "brand": draw.lose(item.brand, 0.2),
                    "description": draw.lose(item.text, 0.3),
                    "price": draw.lose(f"${price:.2f}", 0.3)}  # fmt: skip
        size = re.sub(r"^([\d.]+)-?(\D+)$", r"\1 \2", item.size) if draw.chance(0.6) else item.size
        colour = COLOURS[item.colour] if draw.slip(0.3) else item.colour
        line = item.line.replace(" ", "") if draw.slip(0.1) else draw.smudge(item.line)
        order = draw.choose(("{0} {1} {2} {3}", "{1} {0} {3} {2}"))
        title = order.format(item.noun, line, size, colour)
        model = item.model.replace("-", "").replace("/", draw.choose(("", " ", "-")))
        title = f"{item.brand} {title}" if draw.chance(0.8) else title
        if not has_column and draw.chance(0.5):
            title = f"{model} {title}"
        title += draw.choose(("", "", " (new)", " free shipping", f" {item.text.split(',')[0]}"))
        row = {"title": title, "brand": draw.lose(item.brand, 0.1), "price": f"{price:.0f}"}
        return row | ({"modelno": draw.lose(model, 0.2)} if has_column else {"description": ""})

    def spell_again(item: Thing, copy: int) -> Row:
        name, brand, colour, size = f"{item.line} {item.noun}", item.brand, item.colour, item.size
        if copy:
            name, brand = draw.smudge(name, 0.25), draw.smudge(brand, 0.05)
            if draw.slip(0.2):
                name, brand = f"{brand} {name}", ""
            colour = draw.choose((colour, colour.upper(), COLOURS[colour]))
            size = size.replace("GB", " GB").replace("cm", " cm").replace("in", '"')
        return {"name": f"{name}, {size}", "brand": brand, "colour": colour,
                "price": draw.lose(draw.vary((item.price, f"{item.price} EUR"), 0.2), 0.1),
                "sku": draw.lose(item.model, 0.6 if copy else 0.1)}  # fmt: skip

    return [draw.make_copies(draw_variants, spell_again), *draw.make_sources(draw_variants, spell)]


def make_events(records: int, seed: int) -> list[Table]:
    """Make events in series: each week's differs, dates are written in several ways."""
    draw = Draw("events", "events", records, seed)
    activities = _cross("Yoga Choir Chess Salsa Pottery Quiz Jazz Spanish Drawing Book Film Fado",
                        "Evening Class Club Workshop Night Course Session Meetup", " ")  # fmt: skip

    def draw_series() -> Iterator[Thing]:
        region = draw.region()
        title, city = draw.pick(activities), draw.pick(region.cities)
        first = date.fromisoformat(draw.day(2023, 2025))
        venue = f"{draw.pick(region.surnames)} {draw.choose(('Hall', 'Centre', 'Theatre', 'Café'))}"
        hour, minute = draw.below(9, 22), draw.choose(("00", "15", "30"))
        host = " ".join(draw.person(region))
        if draw.is_new(title, venue):
            for week in range(draw.choose((1, 1, 1, 2, 4, 8))):
                yield Thing(title=title, venue=venue, city=city, hour=hour, minute=minute,
                            host=host, day=str(first + timedelta(7 * week)))  # fmt: skip

    def spell(event: Thing, copy: int) -> Row:
        title, venue, start = event.title, event.venue, f"{event.hour}:{event.minute}"
        if copy:
            title, venue = draw.smudge(title, 0.25), draw.smudge(venue, 0.2)
            half = "pm" if event.hour > 11 else "am"
            start = draw.choose((start, start.replace(":", "."),
                                 f"{event.hour % 12 or 12}:{event.minute} {half}"))  # fmt: skip
            title += draw.choose(("", "", "", f" @ {venue}", f" with {event.host}", " – free"))
        return {"title": title, "venue": venue, "city": draw.lose(event.city, 0.1),
                "date": write_date(event.day, draw.vary(DATES, 0.5)),
                "start": draw.lose(start, 0.1),
                "host": draw.lose(event.host, 0.4 if copy else 0.05)}  # fmt: skip

    return [draw.make_copies(draw_series, spell)]


def make_songs(records: int, seed: int) -> list[Table]:
    """Make the songs of two shops: live versions, remixes, parts and guests are other songs."""
    draw = Draw("songs", "music", records, seed)

    def draw_album() -> Iterator[Thing]:
        person, guest = (" ".join(draw.person(draw.region())) for _ in range(2))
        one, two = draw.pick(NOUNS), draw.pick(NOUNS)
        artist = draw.choose((person, person, f"The {draw.pick(ADJECTIVES)} {one} Band",
                              f"DJ {draw.pick(BRANDS)}", f"{one} & {two}"))  # fmt: skip
        album, day = draw.title(), draw.day(1975, 2024)
        for _ in range(draw.choose((1, 1, 2, 4))):
            title = draw.title()
            if draw.is_new(artist, title):
                versions = ("(Live)", f"({draw.pick(BRANDS)} Remix)", "(Acoustic)", "(Radio Edit)",
                            "Part II", f"(feat. {guest})", "(Instrumental)")  # fmt: skip
                for version in ("", *draw.sample(versions, 2))[: draw.choose((1, 1, 2, 3))]:
                    yield Thing(title=title, version=version, artist=artist, album=album, day=day,
                                seconds=draw.below(130, 420))  # fmt: skip

    def spell(song: Thing, shop: int) -> Row:
        title, version, artist, album = song.title, song.version, song.artist, song.album
        seconds = song.seconds + shop * draw.choose((0, 0, 0, 1, -1, 2))
        genres = draw.sample(("Pop", "Rock", "Dance", "Indie", "Folk", "Electronic"), 2)
        if shop:
            version = version.replace("Part II", draw.choose(("Pt. 2", "Pt. II", "Part 2")))
            version = version.replace("feat.", draw.choose(("ft.", "featuring", "feat.")))
            version = version.translate(str.maketrans("()", "[]")) if draw.slip(0.4) else version
            title, album = draw.smudge(title), draw.smudge(album)
            version += " [Explicit]" * draw.slip(0.1)
            album += draw.choose(("", "", " (Deluxe Edition)", " [Remastered]", " - EP"))
            if artist.startswith("The ") and draw.slip(0.3):
                artist = artist[4:] + draw.choose((", The", ""))
        return {"song": f"{title} {version}".strip(), "artist": artist, "album": album,
                "genre": genres[0] if shop else ", ".join([*genres, "Music"]),
                "price": draw.choose(("$0.99", "$1.29", "")),
                "time": f"{seconds // 60}:{seconds % 60:02}",
                "released": write_date(song.day, DATES[7 if shop else 3])}  # fmt: skip

    return draw.make_sources(draw_album, spell)


def make_films(records: int, seed: int) -> list[Table]:
    """Make films of two databases with other columns: sequels, remakes and episodes differ."""
    draw = Draw("films", "films", records, seed)

    def draw_films() -> Iterator[Thing]:
        title, region, year = draw.title(), draw.region(), draw.below(1950, 2015)
        if not draw.is_new(title):
            return
        more = draw.choose((None, None, None, None, " 2", " II", ": The Return", "", ", Episode 7"))
        for sequel in ("",) if more is None else ("", more):  # without addition: a remake
            people = [" ".join(draw.person(draw.region())) for _ in range(3)]
            yield Thing(title=title + sequel, director=people[0], cast=", ".join(people[1:]),
                        year=year, minutes=draw.below(75, 190), country=region.country,
                        genre=draw.choose(("drama", "comedy", "crime", "horror")))  # fmt: skip
            year += draw.below(6, 20)

    def spell(film: Thing, source: int) -> Row:
        if not source:
            return {"title": film.title, "startYear": f"{film.year}", "genres": film.genre,
                    "director": draw.lose(film.director, 0.1),
                    "runtimeMinutes": draw.lose(f"{film.minutes}", 0.1)}  # fmt: skip
        title = draw.smudge(film.title, 0.2)
        if title.startswith("The ") and draw.slip(0.3):
            title = title[4:] + ", The"
        given, surname = film.director.split(" ", 1)
        return {"title": title, "country": draw.lose(film.country, 0.2), "actors": film.cast,
                "director": draw.choose((film.director, f"{surname}, {given}",
                                         f"{given[0]}. {surname}")),
                "release_date": f"{film.year + draw.slip(0.1)}-{draw.day(2001, 2001)[5:]}",
                "runtime": draw.lose(f"{film.minutes + draw.below(-1, 2)} min", 0.2)}  # fmt: skip

    return draw.make_sources(draw_films, spell)


FORMS = {"tablets": "tab/tabl./tbl", "suppositories": "supp./suppos.", "capsules": "caps/cps",
    "oral drops": "drops/gtt", "cream": "crm/cream", "ointment": "oint./ung.", "syrup": "sir./syr.",
    "solution for injection": "inj./amp.", "film-coated tablets": "film-c. tab./FCT"}  # fmt: skip


def make_drugs(records: int, seed: int) -> list[Table]:
    """Make drugs in price lists: doses, forms and packs differ; brands are spelled otherwise."""
    draw = Draw("drugs", "drugs", records, seed)
    substances = _cross("Met Car Lis Ator Ome Pan Ser Clo Flu Ami Ibu Rami Keto Valo Nime Doxa",
                        "olol pril statin zolin prazol fenac mycin pramid sartan")  # fmt: skip

    def draw_drugs() -> Iterator[Thing]:
        substance, maker = draw.pick(substances, 40), draw.pick(BRANDS)
        brand = draw.choose((f"{substance} {maker}", f"{substance[:4]}{draw.pick(BRANDS)[-4:]}",
                             f"Neo-{substance.lower()}"))  # fmt: skip
        doses = draw.sample(_words("0.5 1 2.5 5 10 20 25 50 100 250 500 1000"), 2)
        forms, packs = draw.sample(list(FORMS), 2), draw.sample(_words("10 20 28 30 50 60 100"), 2)
        for _ in range(draw.choose((1, 1, 2, 4)) if draw.is_new(brand) else 0):
            if draw.is_new(brand, doses[0], forms[0], packs[0]):
                yield Thing(brand=brand, substance=substance.lower(), maker=f"{maker} Pharma",
                            dose=doses[0], form=forms[0], pack=packs[0])  # fmt: skip
            draw.choose((doses, doses, forms, forms, packs)).reverse()

    def write(drug: Thing, copy: int) -> tuple[str, str, str, str]:
        if not copy:
            return drug.brand, f"{drug.dose} mg", drug.form, f"{drug.pack} pcs"
        brand, form, milligrams = draw.smudge(drug.brand, 0.2), drug.form, float(drug.dose)
        brand = draw.choose((brand, brand, brand.upper(), brand.replace("-", ""), f"{brand}®"))
        dose = draw.choose(("{} mg", "{}mg", "{} mg")).format(drug.dose)
        dose = dose.replace(".", draw.choose(".,"))
        if draw.slip(0.2) and milligrams >= 100:
            dose = f"{milligrams / 1000:g} g"
        elif draw.slip(0.3) and milligrams < 1:
            dose = f"{milligrams * 1000:g} mcg"
        if draw.slip(0.4):
            form = draw.choose(FORMS[form].split("/"))
        return brand, dose, form, draw.choose(("{} pcs", "N{}", "x{}", "{} St.")).format(drug.pack)

    def spell(drug: Thing, copy: int) -> Row:
        brand, dose, form, pack = write(drug, copy)
        name = draw.vary((f"{brand} {dose} {form} {pack}", f"{brand} {form} {dose}, {pack}",
                          f"{brand} {form} {pack} {dose}"), 0.3)  # fmt: skip
        return {"name": name, "substance": draw.lose(drug.substance, 0.2),
                "manufacturer": draw.lose(draw.smudge(drug.maker), 0.1)}  # fmt: skip

    def spell_apart(drug: Thing, source: int) -> Row:
        if not source:
            return spell(drug, 0)
        brand, dose, form, pack = write(drug, 1)
        return {"name": f"{brand} {form}", "strength": dose, "pack": pack,
                "manufacturer": draw.lose(drug.maker.split()[0], 0.2)}  # fmt: skip

    return [draw.make_copies(draw_drugs, spell), *draw.make_sources(draw_drugs, spell_apart)]


def make_addresses(records: int, seed: int) -> list[Table]:
    """Make addresses with flats, and stops of two directions: short words tell them apart."""
    draw = Draw("addresses", "addresses", records, seed)
    units = (("Flat A", "Flat B", "Flat C"), ("Apt 1", "Apt 2", "Apt 12"), ("Unit 3", "Unit 4"),
             ("Ground Floor", "First Floor", "Second Floor"), ("EG", "1. OG", "2. OG"),
             ("bât. A", "bât. B"), ("piso 1 izq.", "piso 1 dcha."), ("",), ("",))  # fmt: skip
    ways = (("NB", "SB"), ("EB", "WB"), ("Stop A", "Stop B"), ("northbound", "southbound"))

    def draw_addresses() -> Iterator[Thing]:
        region = draw.region()
        street, city, choices = draw.street(region), draw.pick(region.cities), draw.choose(units)
        postcode = draw.code("#####")
        if draw.chance(0.25):
            street = f"{draw.pick(region.streets, 20)} / {draw.pick(region.streets, 20)}"
            choices = draw.choose(ways)
        for unit in choices[: draw.choose((1, 2, 3))] if draw.is_new(street, city) else ():
            yield Thing(street=street, unit=unit, city=city, postcode=postcode)

    def spell(place: Thing, copy: int) -> Row:
        street, unit = place.street, place.unit
        if copy:
            street = draw.smudge(street, 0.3).replace("/", draw.choose(("/", "at", "@")))
            short = unit.replace("Flat", "Fl.").replace("Apt ", "#").replace("Floor", "Fl")
            unit = draw.choose((unit, unit, unit.upper(), short, f"({unit})" if unit else ""))
        parts = filter(None, (unit, street) if copy and draw.slip(0.3) else (street, unit))
        return {"address": ", ".join(parts), "city": draw.smudge(place.city, 0.05),
                "postcode": draw.lose(place.postcode, 0.2)}  # fmt: skip

    return [draw.make_copies(draw_addresses, spell)]


def make_accounts(records: int, seed: int) -> list[Table]:
    """Make accounts of a bank, entered on other days; a second account has an IBAN of its own."""
    draw = Draw("accounts", "accounts", records, seed)
    banks = _cross("Nord Volks Union Caixa Crédit Spar Metro", "bank kasse finance trust", " ")

    def draw_accounts() -> Iterator[Thing]:
        given, surname = draw.person(draw.region())
        bank, front = draw.pick(banks), draw.code("LL## #### #### ")
        for kind in draw.sample(("current", "savings", "deposit"), draw.choose((1, 1, 2, 3))):
            yield Thing(given=given, surname=surname, bank=bank, kind=kind,
                        iban=front + draw.code("#### ##"), opened=draw.day(1990, 2023))  # fmt: skip

    def spell(account: Thing, copy: int) -> Row:
        given, surname, iban = account.given, account.surname, account.iban
        if copy:
            given, surname = draw.rename(given, surname)
            iban = draw.choose((iban, iban.replace(" ", ""), iban.replace(" ", "-"), iban.lower()))
            if draw.slip(0.1):  # two digits swapped
                at = draw.choose([match.start() for match in re.finditer(r"\d(?=\d)", iban)])
                iban = iban[:at] + iban[at + 1] + iban[at] + iban[at + 2 :]
        return {"entered": draw.day(2020, 2025), "iban": draw.lose(iban, 0.15),
                "bank": draw.smudge(account.bank), "type": account.kind,
                "holder": draw.vary((f"{given} {surname}", f"{surname}, {given}"), 0.3),
                "opened": write_date(account.opened, draw.vary(DATES, 0.2))}  # fmt: skip

    return [draw.make_copies(draw_accounts, spell), *draw.make_sources(draw_accounts, spell)]


TOPICS = (
    (_words("""Introduction to {}/A History of {}/Principles of {}/{}: Theory and Practice/Handbook
        of {} /{} for Beginners/Studies in {}/Advanced {}""", "/"),
     _cross("Marine Social Medical Urban Organic Digital Classical Colonial Industrial Tropical",
            "Biology Economics Chemistry Geography Law Archaeology Statistics Music Ethics", " ")),
    (_words("Einführung in die {}/Grundlagen der {}/Lehrbuch der {}/Geschichte der {}", "/"),
     _cross("Meeres Sozial Tier Wirtschafts Kunst Sprach Rechts Bau", "biologie geschichte kunde "
            "philosophie psychologie statistik wissenschaft")),
    (_words("Introduction à la {}/Histoire de la {}/Précis de {}/Manuel de {}", "/"),
     _cross("chimie physique botanique mécanique géologie sociologie musique",
            "organique moderne générale rurale appliquée médiévale", " ")),
)  # fmt: skip


def make_books(records: int, seed: int) -> list[Table]:
    """Make books of catalogues: editions and volumes differ, authors have initials."""
    draw = Draw("books", "publications", records, seed)

    def draw_books() -> Iterator[Thing]:
        patterns, topics = draw.choose(TOPICS)
        title, year = draw.choose(patterns).format(draw.pick(topics)), draw.below(1960, 2012)
        people = [draw.person(draw.region()) for _ in range(draw.choose((1, 1, 2, 3)))]
        publisher = f"{draw.pick(BRANDS, 3)} {draw.choose(('Press', 'Verlag', 'Books'))}"
        kind = draw.choose(("edition", "volume", "")) if draw.is_new(title, people[0][1]) else None
        for number in {None: (), "": (1,)}.get(kind, range(1, draw.choose((3, 4, 5)))):
            yield Thing(title=title, people=people, edition=number if kind == "edition" else 1,
                        volume=number if kind == "volume" else 0, year=year,
                        isbn=draw.code("978-#-###-#####-#"), publisher=publisher)  # fmt: skip
            year += 4 if kind == "edition" else number % 2

    def spell(book: Thing, copy: int) -> Row:
        title, isbn, publisher = book.title, book.isbn, book.publisher
        edition = ("", "", "2nd edition", "3rd edition", "4th edition")[book.edition]
        volume = f"Volume {book.volume}" if book.volume else ""
        authors = "; ".join(f"{surname}, {given}" for given, surname in book.people)
        if copy:
            title = draw.smudge(title, 0.2)
            if len(title) > 30 and draw.slip(0.1):
                title = title[: draw.below(24, len(title))].strip()
            form = draw.choose(("{0} {1}", "{0[0]}. {1}", "{1} {0[0]}"))
            authors = ", ".join(form.format(*person) for person in book.people)
            if book.people[1:] and draw.slip(0.2):
                authors = authors.split(",")[0] + " et al."
            roman = ("", "I", "II", "III", "IV")[book.volume]
            if volume:
                volume = draw.choose((f"Vol. {book.volume}", f"vol. {roman}", f"({roman})"))
            edition = edition.replace("edition", draw.choose(("ed.", "ed", "Edition")))
            isbn = isbn.replace("-", draw.choose(("", "-", " ")))
            publisher = draw.choose((publisher, publisher.split()[0], shorten(publisher)))
        return {"author": authors, "title": f"{title} {volume}".strip(), "edition": edition,
                "year": f"{book.year}", "publisher": draw.lose(publisher, 0.15),
                "isbn": draw.lose(isbn, 0.45)}  # fmt: skip

    return [draw.make_copies(draw_books, spell), *draw.make_sources(draw_books, spell)]


TASKS = _words("""keep our books in order/drive parcels to shops in the region/plan the shifts of
        the team/look after patients on the ward/test new parts before they ship/answer calls in two
        languages /write code that others can read/repair pumps and compressors/bake bread from four
        in the morning /teach adults in the evening/weld frames by hand/prepare the monthly
        accounts/draw plans for new stations/advise customers on the floor/clean the rooms of forty
        guests/buy timber from local mills /measure land for builders/set up machines for small
        series/organise fairs abroad/translate manuals for farmers/care for children under
        three/maintain the servers at night""", "/")  # fmt: skip
OFFERS = _words("""we give thirty days of holiday/you get a company bicycle/lunch is free on
        Fridays/you are trained in the first year/you may work from home twice a week/the contract
        is permanent/hours are flexible/the team is small and friendly/a driving licence is
        needed/two years of experience are welcome/you speak the language of the country/please send
        a letter and references""", "/")  # fmt: skip


def make_adverts(records: int, seed: int) -> list[Table]:
    """Make adverts for jobs, a long text and a title: one firm seeks several people alike."""
    draw = Draw("adverts", "adverts", records, seed)
    roles = _cross("Junior Senior Assistant Temporary Head Lead Night Regional", """Driver Nurse
        Welder Developer Baker Teacher Buyer Cleaner Planner Translator""", " ")  # fmt: skip

    def draw_adverts() -> Iterator[Thing]:
        region = draw.region()
        firm, city, offers = draw.firm(region), draw.pick(region.cities), draw.sample(OFFERS, 5)
        role, tasks = draw.pick(roles), draw.sample(TASKS[draw.half :: 2], 5)
        for _ in range(draw.choose((1, 1, 2, 3))):
            if draw.is_new(firm, role, city):
                yield Thing(firm=firm, city=city, role=role, tasks=tasks, offers=offers)
            if draw.chance(0.5):
                city = draw.pick(region.cities)
            else:
                role, tasks = draw.pick(roles), draw.sample(TASKS[draw.half :: 2], 5)

    def spell(advert: Thing, copy: int) -> Row:
        title, firm, tasks, offers = advert.role, advert.firm, advert.tasks, advert.offers
        if copy:
            title = draw.smudge(title) + draw.choose(("", "", " (m/f/d)", " wanted"))
            firm = draw.smudge(firm)
            if draw.slip(0.5):
                tasks, offers = draw.sample(tasks, draw.below(3, 6)), offers[: draw.below(2, 6)]
        intro = f"{firm} in {advert.city} is looking for: {advert.role.lower()}"
        parts = [intro, *(f"you {task}" for task in tasks), *offers]
        text = " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)
        return {"title": title, "text": draw.mistype(text) if copy and draw.slip(0.5) else text,
                "posted": draw.day(2024, 2025)}  # fmt: skip

    return [draw.make_copies(draw_adverts, spell)]


SIGNS = {"United Kingdom": "Lion Crown Swan Anchor Plough Bell Fox Oak",
    "Germany": "Adler Löwe Krone Linde Sonne Post Hirsch Anker",
    "France": "Soleil Gare Lion Cloche Paix Cygne Tilleul Cheval",
    "Spain": "Sol Luna León Plaza Ancla Molino Olivo Puerto"}  # fmt: skip
SORTS = ("Hotel", "Restaurant", "Pharmacy", "Café", "Museum", "Garage", "School", "Bar")


def make_places(records: int, seed: int) -> list[Table]:
    """Make places of two maps: chains have branches in a town, a house holds a hotel and a bar."""
    draw = Draw("places", "places", records, seed)

    def draw_places() -> Iterator[Thing]:
        region = draw.region()
        signs = SIGNS.get(region.country, " ".join(region.surnames[:40])).split()
        name, sort, city = draw.choose(signs), draw.choose(SORTS), draw.pick(region.cities)
        if draw.chance(0.6):
            name = draw.choose(("", f"{name} ")) + draw.pick(region.surnames, 20)
        middle = random.Random(city)
        lat, lon = middle.uniform(36, 60), middle.uniform(-5, 30)
        for _ in range(draw.choose((1, 1, 1, 2, 3))):
            place = Thing(name=name, sort=sort, city=city, street=draw.street(region),
                          phone=draw.phone(region), lat=lat + draw.rng.uniform(-0.08, 0.08),
                          lon=lon + draw.rng.uniform(-0.08, 0.08))  # fmt: skip
            yield place
            if draw.chance(0.1):  # next door
                yield _alter(place, sort=draw.choose(SORTS[: SORTS.index(sort)] or SORTS[1:]))

    def spell(place: Thing, source: int) -> Row:
        name, sort, street, moved = place.name, place.sort, place.street, 4e-4 * bool(source)
        lat, lon = (f"{at + draw.rng.uniform(-moved, moved):.{4 if source else 6}f}"
                    for at in (place.lat, place.lon))  # fmt: skip
        if source:
            name, street = draw.smudge(name, 0.2), draw.lose(draw.smudge(street, 0.15), 0.3)
        name = draw.vary((f"{sort} {name}", f"{name} {sort}", f"{name} ({sort.lower()})"), 0.3)
        phone = write_phone(place.phone, draw.vary(PHONES, 0.2))
        return {"name": name, "category": draw.lose(sort.lower(), 0.2), "lat": lat, "lon": lon,
                "street": street, "city": draw.lose(place.city, 0.1),
                "phone": draw.lose(phone, 0.5)}  # fmt: skip

    return [draw.make_copies(draw_places, spell), *draw.make_sources(draw_places, spell)]


def _lies_near(name: str, names: Sequence[str]) -> bool:
    return any(Levenshtein.distance(name, other, score_cutoff=2) < 3 for other in names)


def make_shops(records: int, seed: int) -> list[Table]:
    """Make a list of shops by name, with a country of two: a letter is missing in the copies."""
    draw = Draw("shops", "shops", records, seed)
    regions, names = draw.sample(REGIONS, 2), list[str]()

    def draw_shop() -> Iterator[Thing]:
        region = draw.choose(regions)
        firm, cities = draw.firm(region), draw.sample(region.cities, draw.choose((1, 2, 3)))
        branches = draw.choose(([""], [""], cities, ("Nord", "Süd"), ("East", "West"), "12", "123"))
        if draw.is_new(*sorted(firm.split())) and not _lies_near(firm, names):
            names.append(firm)
            for branch in branches:
                yield Thing(name=f"{firm} {branch}".strip(), country=region.country)

    def spell(shop: Thing, copy: int) -> Row:
        name = draw.smudge(draw.mistype(shop.name), 0.4) if copy else shop.name
        return {"name": name, "country": shop.country}

    return [draw.make_copies(draw_shop, spell)]


SCRIPTS = {  # by legal form: names, trades and cities
    "ООО": (_cross("Иван Петр Сидор Кузнец Мороз Волк Соколов Лебед Новик Орл Гром Берез",
                   "ов ова енко ский ин ович"),
            "Пекарня Аптека Мебель Транспорт Книги Оптика", "Тула Пермь Омск Казань Самара Тверь"),
    "ΑΕ": (_cross("Παπα Χατζη Καρα Δημο Νικο Σταυρ Γεωργ", "δόπουλος άκης ίδης όγλου άτος έας"),
           "Φούρνος Φαρμακείο Έπιπλα Μεταφορές Βιβλία Οπτικά", "Πάτρα Βόλος Χανιά Λάρισα Καβάλα"),
    "有限公司": (_cross("华 金 天 东 长 新 永 宏 海 龙", "达 盛 源 泰 丰 信 兴 腾 远 明"),
             "贸易 食品 科技 建筑 物流 家具 医药", "上海 北京 广州 成都 武汉 西安"),
    "株式会社": (_cross("山 高 松 田 中 石 小 森 大 青", "本 橋 下 村 野 川 島 口 木 井"),
             "商店 薬局 書店 運輸 工業 電機 食品", "東京 大阪 名古屋 札幌 福岡 京都"),
}  # fmt: skip


def make_tongues(records: int, seed: int) -> list[Table]:
    """Make firms in two or three scripts; each is written in its own, never in another."""
    draw = Draw("tongues", "tongues", records, seed)
    scripts, names = draw.sample(list(SCRIPTS), draw.choose((1, 2))), list[str]()

    def draw_firm() -> Iterator[Thing]:
        region, legal, gap = draw.region(), draw.choose(scripts), " "
        if draw.chance(0.3):
            name, legal, city = draw.firm(region), region.legal[0], draw.pick(region.cities)
        else:
            gap = "" if legal in ("有限公司", "株式会社") else " "
            firsts, trades, cities = SCRIPTS[legal]
            name = draw.pick(firsts, 20) + gap + draw.choose(trades.split())
            city = draw.choose(cities.split())
        if name not in names and (not gap or not _lies_near(name, names)):
            names.append(name)
            yield Thing(name=name, legal=legal, city=city, gap=gap)

    def spell(firm: Thing, copy: int) -> Row:
        name, legal, gap = firm.name, firm.legal, firm.gap
        if copy:
            name = draw.smudge(name, 0.4 if gap else 0)
            legal = draw.choose((legal, "", ""))
        parts = (legal, name) if legal in ("ООО", "株式会社") else (name, legal)
        name = gap.join(filter(None, parts))
        if copy and draw.slip(0.25):
            name = draw.choose((f"{firm.city}{gap}{name}", f"{name}({firm.city})"))
        return {"name": name, "city": draw.lose(firm.city, 0.2)}

    return [draw.make_copies(draw_firm, spell)]


_PLAN: tuple[tuple[Callable[[int, int], list[Table]], int, int], ...] = (
    (make_signup, 1200, 700), (make_customers, 3000, 1500), (make_households, 600, 1000),
    (make_firms, 2000, 1200), (make_products, 2400, 1600), (make_events, 1000, 600),
    (make_songs, 1800, 1200), (make_films, 2000, 2600), (make_drugs, 1600, 900),
    (make_addresses, 1200, 800), (make_accounts, 1500, 700), (make_books, 2500, 1400),
    (make_adverts, 800, 500), (make_places, 1800, 1200), (make_shops, 500, 300),
    (make_tongues, 900, 600),
)  # fmt: skip
MADE: dict[str, Callable[[], list[Table]]] = {
    make.__name__.removeprefix("make_"): partial(make, records, 2 * at)
    for at, (make, records, _) in enumerate(_PLAN, 14)
}
HELD_OUT: dict[str, Callable[[], list[Table]]] = {
    make.__name__.removeprefix("make_"): partial(make, records, 2 * at + 1)
    for at, (make, _, records) in enumerate(_PLAN, 43)
}
