"""The words that the rules know. Pure."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LANGUAGES = """
Afrikaans Albanian Amharic Arabic Armenian Azerbaijani Basque Belarusian Bengali Bosnian Bulgarian Burmese
Cantonese Catalan Chinese Croatian Czech Danish Dutch English Esperanto Estonian Farsi Filipino Finnish
Flemish French Galician Georgian German Greek Gujarati Hausa Hebrew Hindi Hungarian Icelandic Igbo Indonesian
Irish Italian Japanese Kannada Kazakh Khmer Korean Kurdish Lao Latin Latvian Lithuanian Luxembourgish
Macedonian Malay Malayalam Maltese Mandarin Marathi Mongolian Nepali Norwegian Pashto Persian Polish
Portuguese Punjabi Romanian Russian Serbian Sinhala Slovak Slovenian Somali Spanish Swahili Swedish Tagalog
Tamil Telugu Thai Tibetan Turkish Ukrainian Urdu Uzbek Vietnamese Welsh Xhosa Yoruba Zulu
"""
LANGUAGES = {name.lower(): name for name in _LANGUAGES.split()} | {
    "deutsch": "German", "englisch": "English", "französisch": "French", "spanisch": "Spanish",
    "italienisch": "Italian", "türkisch": "Turkish", "polnisch": "Polish", "russisch": "Russian",
    "niederländisch": "Dutch", "portugiesisch": "Portuguese",
    "alemán": "German", "inglés": "English", "francés": "French", "español": "Spanish",
    "castellano": "Spanish", "italiano": "Italian", "portugués": "Portuguese", "catalán": "Catalan",
    "allemand": "German", "anglais": "English", "français": "French", "espagnol": "Spanish",
    "italien": "Italian", "portugais": "Portuguese", "néerlandais": "Dutch", "arabe": "Arabic",
}  # fmt: skip

COUNTRIES = frozenset("""
argentina|australia|austria|bangladesh|belgium|bolivia|brazil|bulgaria|canada|chile|china|colombia|croatia|
cuba|cyprus|czechia|denmark|ecuador|egypt|england|estonia|ethiopia|finland|france|germany|ghana|greece|
hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|japan|kenya|latvia|lebanon|lithuania|
malaysia|malta|mexico|morocco|nepal|netherlands|the netherlands|new zealand|nigeria|norway|pakistan|peru|
philippines|the philippines|poland|portugal|romania|russia|saudi arabia|scotland|serbia|slovakia|slovenia|
south africa|south korea|spain|sri lanka|sweden|switzerland|taiwan|thailand|tunisia|turkey|uganda|uk|the uk|
ukraine|united kingdom|the united kingdom|united states|the united states|uruguay|us|the us|usa|the usa|
venezuela|vietnam|wales|deutschland|österreich|schweiz|españa|méxico|italia|belgique|suisse
""".replace("\n", "").split("|"))  # fmt: skip

# Towns that people are known to move to; a team moves to a tool.
CITIES = frozenset("""
amsterdam|antwerp|athens|atlanta|auckland|austin|baltimore|bangalore|bangkok|barcelona|basel|beijing|
belgrade|bergen|berlin|bern|bilbao|birmingham|bogotá|bologna|bordeaux|boston|bristol|brisbane|brussels|
bucharest|budapest|buenos aires|cairo|calgary|cape town|chicago|cologne|copenhagen|dallas|delhi|denver|
detroit|dresden|dubai|dublin|düsseldorf|edinburgh|eindhoven|florence|frankfurt|geneva|ghent|glasgow|
gothenburg|graz|hamburg|hanoi|helsinki|hong kong|houston|istanbul|jakarta|jerusalem|johannesburg|kraków|
krakow|kuala lumpur|kyiv|kyoto|lagos|leeds|leipzig|lille|lima|lisbon|ljubljana|london|los angeles|lyon|
madrid|malmö|manchester|manila|marseille|melbourne|mexico city|miami|milan|minneapolis|montreal|moscow|
mumbai|munich|nairobi|nantes|naples|new york|new york city|nice|oslo|osaka|ottawa|paris|perth|
philadelphia|porto|portland|prague|riga|rome|rotterdam|san diego|san francisco|santiago|seattle|seoul|
seville|shanghai|singapore|sofia|stockholm|strasbourg|stuttgart|sydney|taipei|tallinn|tbilisi|tel aviv|
the hague|tokyo|toronto|toulouse|turin|utrecht|valencia|vancouver|venice|vienna|vilnius|warsaw|washington|
wellington|zagreb|zurich|zürich
""".replace("\n", "").split("|"))  # fmt: skip

# Words a job's title ends in.
JOBS = _words("""
accountant actor actress actuary administrator admin advisor adviser agent analyst anthropologist architect
archivist artist assistant astronomer athlete attorney auditor author baker barista bartender biologist
bookkeeper botanist broker builder butcher carpenter cashier ceo cfo chef chemist cio clerk coach composer
consultant contractor coo cook coordinator copywriter counselor cto curator dancer dentist designer
developer dietitian director doctor driver economist editor electrician engineer entrepreneur estimator
executive farmer filmmaker firefighter florist founder co-founder freelancer gardener geologist hairdresser
historian illustrator inspector instructor interpreter investor janitor jeweler journalist judge landlord
lawyer lead lecturer librarian lifeguard linguist locksmith machinist manager marketer mathematician
mechanic mediator midwife model musician nanny notary novelist nurse nutritionist officer operator optician
optometrist owner painter paralegal paramedic pastor pediatrician pharmacist philosopher photographer
physician physicist physiotherapist pianist pilot planner plumber poet policeman policewoman politician
postdoc priest principal producer professor programmer psychiatrist psychologist publisher realtor
receptionist recruiter reporter representative researcher retailer sailor salesman salesperson saleswoman
scientist sculptor seamstress secretary singer sociologist soldier statistician strategist student
superintendent supervisor surgeon surveyor sysadmin tailor teacher technician technologist tester therapist
tiler trader trainer translator tutor underwriter undergraduate urologist vet veterinarian videographer vp
waiter waitress webmaster welder writer zoologist sre dba pm intern apprentice
""")

# What comes behind a title; another noun there makes it no title.
BEHIND_TITLES = _words("""
at for in with from who that of and by working now here on but currently too myself since these based living
not
""")

KIN = {
    "wife": "wife", "husband": "husband", "partner": "partner", "spouse": "spouse",
    "boyfriend": "boyfriend", "girlfriend": "girlfriend",
    "fiance": "fiance", "fiancé": "fiance", "fiancee": "fiancee",
    "fiancée": "fiancee", "son": "son", "daughter": "daughter", "mother": "mother", "mom": "mother",
    "mum": "mother", "father": "father", "dad": "father", "brother": "brother", "sister": "sister",
    "grandmother": "grandmother", "grandma": "grandmother", "grandfather": "grandfather",
    "grandpa": "grandfather", "uncle": "uncle", "aunt": "aunt", "cousin": "cousin", "nephew": "nephew",
    "niece": "niece", "kids": "children", "children": "children", "sons": "sons", "daughters": "daughters",
    "parents": "parents", "twins": "twins", "baby": "baby", "stepson": "stepson",
    "stepdaughter": "stepdaughter", "grandson": "grandson", "granddaughter": "granddaughter",
}  # fmt: skip
# Others of whom somebody has one.
PEOPLE = {
    "manager": "manager", "boss": "manager", "supervisor": "manager", "team lead": "team_lead",
    "mentor": "mentor", "coach": "coach", "landlord": "landlord",
    "landlady": "landlord", "roommate": "roommate", "flatmate": "roommate", "housemate": "roommate",
    "best friend": "best_friend",
}  # fmt: skip
PETS = {
    "dog": "dog", "puppy": "dog", "cat": "cat", "kitten": "cat", "rabbit": "rabbit", "bunny": "rabbit",
    "hamster": "hamster", "parrot": "parrot", "horse": "horse", "pony": "pony", "turtle": "turtle",
    "tortoise": "tortoise", "snake": "snake", "fish": "fish", "goldfish": "goldfish", "bird": "bird",
    "canary": "canary", "ferret": "ferret", "gecko": "gecko", "lizard": "lizard", "guinea pig": "guinea_pig",
    "budgie": "budgie", "chicken": "chicken", "goat": "goat",
}  # fmt: skip
DIETS = _words("""
vegan vegetarian pescatarian pescetarian flexitarian halal kosher keto ketogenic paleo gluten-free low-carb
plant-based mediterranean lactose-free dairy-free omnivore
""")

# What a preference is about, by one of its words.
ABOUT = {
    "editor": "vim neovim emacs vscode nano sublime intellij pycharm webstorm helix",
    "theme": "dark-mode light-mode dark-theme light-theme",
    "drink": "tea coffee espresso",
    "indentation": "tabs spaces",
    "programming_language": "python rust java javascript typescript golang kotlin ruby haskell scala c++ c#",
    "operating_system": "linux macos windows ubuntu debian fedora",
    "seat": "window-seat aisle-seat window-seats aisle-seats",
    "units": "metric imperial celsius fahrenheit kilometers kilometres miles",
    "answer_length": "short-answers brief-answers concise-answers long-answers detailed-answers "
    "short-replies short-explanations detailed-explanations bullet-points",
    "time_format": "24-hour 12-hour",
    "browser": "firefox chrome safari edge",
    "shell": "bash zsh fish-shell powershell",
    "contact": "phone-calls text-messages whatsapp slack telegram",
    "transport": "train trains flying driving",
}
SUBJECTS = {word: subject for subject, words in ABOUT.items() for word in words.split()}

# Ways to reach somebody, when nothing else is said.
CONTACTS = frozenset("""
phone|telephone|phone call|phone calls|calls|email|emails|e-mail|e-mails|mail|sms|text|texts|text message|
text messages|texting|whatsapp|slack|telegram|signal|chat
""".replace("\n", "").split("|"))  # fmt: skip

# Words of keys that are spelled in two ways.
SPELLINGS = {
    "colour": "color", "colours": "colors", "flavour": "flavor", "flavours": "flavors",
    "neighbour": "neighbor", "neighbours": "neighbors", "neighbourhood": "neighborhood",
    "behaviour": "behavior", "humour": "humor", "theatre": "theater", "centre": "center",
    "grey": "gray", "jewellery": "jewelry", "organisation": "organization", "favourite": "favorite",
    "programme": "program", "tyres": "tires", "doughnuts": "donuts", "yoghurt": "yogurt",
}  # fmt: skip

# "I like …" of what only the conversation knows.
POINTING = _words("""
it that this these those them you your yours him her his he she they their how what when where why who which
the thing things one ones everything anything nothing something all any so to being having if there here
some both neither each idea ideas not no option options answer answers version approach first second third
former latter and or myself itself
""")
# Of what was decided or booked, they say nothing.
EMPTY = _words("""
a an against on for with in of at by do did go done already yesterday just now later too also well as then
get got be been but ok okay please lol haha both each last time week year
""")
# Of a house, a job, a name: what comes after "in", "at", "call me" and is none.
NO_PLACES = _words("""
a an the my our your his her their this that these those fear peace pain hope harmony constant total
complete general particular fact case charge love trouble denial here there it sin luxury poverty exile
isolation darkness between interesting different two three four one bed town person progress advance someone
somewhere marketing sales hr accounting finance engineering support legal procurement operations
january february march april may june july august september october november december
""")
AFTER_PLACES = _words("""
and but with for since because near at right now currently these as where which so while when until on in by
from to or though too again today last this is was has have had alone together i we originally initially
myself before after during just many actually lol haha btw not
""")
# Small words within names of people, places and companies.
PARTICLES = _words("""
de del della la las los le les da do dos du di van von der den bin ibn al el st of am an upon sur y e the
""")
NO_NAMES = _words("""
a an the my your our his her their back later when at if on in not now today tomorrow tonight asap maybe
crazy stupid old-fashioned old paranoid silly lazy naive weird it this that here there so sure ok okay good
fine happy sad sorry ready done new very just really too also from for with about by of to and or but tired
hungry busy bored lost stuck late early home out off up down away free glad afraid angry excited curious
confused interested aware able unable about again almost alone always never still only quite rather pretty
well great all always an another any around as asking available based called certain currently definitely
doing english everything going having hoping learning living looking making married moving nobody nothing
originally planning preparing reading retired running single somebody someone speaking starting struggling
studying supposed thinking trying unemployed using visiting waiting wondering working writing what whatever
who why how yours mine wrong misspelled spelled irrelevant missing listed difficult common unusual hard long
short taken pronounced written correct confidential private secret unknown soon anytime please whenever once
instead directly immediately first collect sir mister train bus bike car foot plane subway tram allergic
vegan vegetarian gluten-free pregnant sick ill diabetic christian catholic jewish muslim buddhist hindu
atheist american british canadian australian austrian swiss indian mexican brazilian belgian european
african asian scottish israeli egyptian nigerian monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december i we you he she they
into onto upon
""")
# What one joins or moves to without working or living there.
TOOLS = _words("""
zoom slack discord teams whatsapp telegram meet skype windows linux mac macos python rust java kubernetes
docker aws azure gcp postgres postgresql mysql mongodb redis react vue angular github gitlab jira notion
android iphone chrome firefox monday tuesday wednesday thursday friday saturday sunday plan phase step
chapter item next typescript
""")
NO_EMPLOYERS = _words("""
home night nights day days weekends weekend least present times it all this that these those my our your the
a an living free myself himself herself them you him her us peanuts fun years months hours something someone
several some many multiple remotely work first once school
""")
# In a request, they mean this time only.
ONCE = _words("""
yet now today tonight tomorrow this that these those it them until here him her again first so anything
""")
LASTING_VERBS = _words("""
use send call email e-mail text contact show include suggest recommend mention ask add address speak explain
apologize apologise assume share reply answer respond format remind summarize summarise write give offer
start end put talk tell refer say schedule book order quote sign round translate switch repeat flatter
sugarcoat keep print
""")
# What goes to others, or tells them something: who gets it is nothing that rules may remember.
OUTWARD_VERBS = _words("""
send call email e-mail text contact share forward
""")
SPEAKING_VERBS = _words("""
talk speak explain answer reply respond write give offer tell refer say show recommend suggest quote
""")
