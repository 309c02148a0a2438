package code

import (
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// standard are the harmless members of modules in the Python standard library, and of a few others.
// A dot means all members.
var standard = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for line := range strings.Lines(standardNames) {
		module, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[module] = wordset.Of(names)
	}
	return all
}()

const standardNames = `math: .
cmath: .
time: .
itertools: .
errno: .
unicodedata: .
zlib: .
binascii: .
colorsys: .
stat: .
numbers: .
abc: ABC ABCMeta abstractmethod
argparse: ArgumentParser Namespace ArgumentTypeError
array: array
ast: parse walk dump unparse literal_eval iter_child_nodes iter_fields get_docstring NodeVisitor FunctionDef AsyncFunctionDef ClassDef Import ImportFrom Call Name Attribute Constant Assign Return Expr If For While With Try Raise Module arg alias keyword Load Store
asyncio: run gather sleep wait wait_for create_task Queue Lock Event Semaphore TaskGroup to_thread timeout as_completed iscoroutinefunction TimeoutError CancelledError
base64: b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode b85encode b85decode
bisect: bisect bisect_left bisect_right insort
calendar: monthrange isleap month_name day_name timegm month_abbr
collections: Counter defaultdict OrderedDict namedtuple deque ChainMap
concurrent: futures ThreadPoolExecutor as_completed
configparser: ConfigParser RawConfigParser
contextlib: contextmanager suppress nullcontext redirect_stdout redirect_stderr ExitStack closing
copy: copy deepcopy
csv: reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer
dataclasses: dataclass field asdict astuple replace fields
datetime: datetime date timedelta timezone time UTC
decimal: Decimal getcontext localcontext ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP
difflib: unified_diff ndiff context_diff SequenceMatcher get_close_matches
dis: dis
email: message_from_string
enum: Enum IntEnum Flag IntFlag StrEnum auto unique
fnmatch: fnmatch fnmatchcase filter
fractions: Fraction
functools: reduce lru_cache cache partial wraps cmp_to_key cached_property total_ordering
graphlib: TopologicalSorter
gzip: open compress decompress
hashlib: md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512 blake2b blake2s new
heapq: heappush heappop heapify nlargest nsmallest merge heappushpop heapreplace
hmac: new compare_digest
html: escape unescape
inspect: getsource getsourcelines signature getdoc isclass isfunction ismethod ismodule iscoroutinefunction cleandoc getmro Parameter
io: StringIO BytesIO open
ipaddress: ip_address ip_network IPv4Address IPv4Network IPv6Address IPv6Network
json: load loads dump dumps JSONDecodeError
keyword: kwlist iskeyword
locale: getlocale setlocale format_string LC_ALL
logging: getLogger basicConfig debug info warning error critical exception DEBUG INFO WARNING ERROR CRITICAL
lzma: open compress decompress
mimetypes: guess_type
operator: itemgetter add sub mul eq lt gt le ge
pathlib: Path
platform: python_version system machine release platform processor node uname architecture python_implementation version
plistlib: load loads dumps
pprint: pprint pformat pp
pstats: Stats SortKey
queue: Queue LifoQueue PriorityQueue Empty Full
random: random randint choice choices sample shuffle seed uniform gauss randrange Random normalvariate expovariate
re: compile search match fullmatch sub subn split findall finditer escape error I IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE
secrets: token_hex token_urlsafe token_bytes choice randbelow
shlex: split quote join
statistics: mean median mode stdev pstdev variance pvariance quantiles fmean multimode median_low median_high harmonic_mean geometric_mean correlation linear_regression
string: ascii_letters ascii_lowercase ascii_uppercase digits punctuation hexdigits whitespace printable capwords
struct: pack unpack calcsize unpack_from pack_into iter_unpack
sysconfig: get_path get_python_version get_platform
textwrap: dedent fill wrap indent shorten
tokenize: generate_tokens untokenize tok_name
tomllib: load loads TOMLDecodeError
traceback: print_exc format_exc print_exception format_exception
typing: Any Optional Union List Dict Tuple Set Callable NamedTuple TypedDict Literal Iterable Iterator Sequence TypeVar Generic Protocol get_args get_origin Annotated Final cast TYPE_CHECKING
uuid: uuid1 uuid3 uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL
warnings: filterwarnings simplefilter warn catch_warnings
weakref: ref WeakValueDictionary WeakKeyDictionary
xml: etree ElementTree parse fromstring tostring Element SubElement indent iterparse ParseError dump
yaml: safe_load safe_load_all safe_dump safe_dump_all dump YAMLError SafeLoader __version__
zipfile: ZipFile is_zipfile BadZipFile
zoneinfo: ZoneInfo available_timezones`

// offers reports whether a name is a harmless member of such a module.
func offers(module, name string) bool {
	names := standard[module]
	return names["."] && !strings.HasPrefix(name, "_") || names[name] || shown[name] && name != "__path__"
}
