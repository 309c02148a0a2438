package code

import (
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// reaching are Python modules that run programs, open connections or change the installation, of
// the standard library and others. Code may only ask for their version.
var reaching = wordset.Of(`_thread antigravity this idlelib turtledemo atexit bdb builtins cProfile cgi cgitb code codeop compileall copyreg crypt ctypes dbm distutils doctest ensurepip fcntl ftplib gc getpass grp http idlelib imaplib imp
	marshal mmap modulefinder aifc bz2 chunk cmd codecs filecmp genericpath lib2to3 linecache mailcap ntpath nturl2path optparse pickletools posixpath pyclbr sunau symtable tabnanny tempfile unittest uu wave multiprocessing netrc nntplib nt pdb pickle pkgutil poplib posix profile pty pwd py_compile pydoc readline resource rlcompleter runpy sched select selectors shelve signal site smtpd smtplib socket socketserver
	spwd ssl syslog telnetlib termios test threading timeit curses bltns tarfile wave tkinter trace tty turtle types venv webbrowser winreg wsgiref xmlrpc zipapp zipimport pipes fileinput mailbox subprocess asyncore asynchat
	aiohttp urllib3 paramiko fabric invoke sh plumbum pexpect docker kubernetes boto3 botocore aiobotocore google azure openai anthropic stripe twilio sendgrid slack slack_sdk tweepy psycopg psycopg2 asyncpg pymysql MySQLdb mysql pymongo motor redis aioredis
	sqlalchemy celery kafka pika nats ldap3 hvac keyring browser_cookie3 dotenv pyautogui pynput pyperclip selenium playwright scapy impacket pip setuptools conda huggingface_hub telegram discord github gitlab jenkins consul dns git pwn
	cloudpickle dill joblib cffi psutil websocket websockets pycurl dulwich oss2 minio ansible salt nmap ptyprocess pyppeteer mechanize wget twisted gevent zmq grpc elasticsearch opensearchpy cassandra neo4j snowflake clickhouse_driver pyodbc oracledb cx_Oracle`)

// shown are members that code may read of any module.
var shown = wordset.Of("__version__ __file__ __path__ __doc__ __name__ version")

// formed are modules with forms of their own, which support only some of their functions.
var formed = wordset.Of("os sys shutil subprocess urllib sqlite3 glob requests httpx importlib")

// pythonImport parses import a, b.c as d.
func (r *reader) pythonImport(i int) (more int, ok bool) {
	if !r.begins(i) {
		return 0, false
	}
	for j := i + 1; r.at(j).kind == 'n'; j++ {
		root, next, ok := r.module(j)
		if !ok {
			return 0, false
		}
		if j = next; r.is(j, "as") {
			r.alias[r.at(j+1).value] = root
			if formed[root] && !r.is(j-1, "metadata") || reaching[root] || r.at(j+1).kind != 'n' {
				return 0, false
			}
			j += 2
		}
		if r.at(j).kind != ',' {
			return j - i, r.at(j).kind == ends
		}
	}
	return 0, false
}

// begins reports whether a statement begins at i.
func (r *reader) begins(i int) bool { return r.at(i-1).kind == ends || r.at(i-1).kind == ':' }

// module parses the name of a module at i, and returns where it ends.
func (r *reader) module(i int) (root string, next int, ok bool) {
	root = r.at(i).value
	for next = i; r.at(next).kind == 'n'; next++ {
		name := r.at(next).value
		if r.refused[name] || strings.HasPrefix(name, "_") || next > i && !formed[root] && reaches.MatchString(name) || next > i && root == "importlib" && name != "metadata" {
			return "", 0, false
		}
		if r.at(next+1).kind != '.' {
			next++
			break
		}
		next++
	}
	switch {
	case reaching[root]:
		if next > i+1 {
			return "", 0, false
		}
		r.versions(root)
	case standard[root] != nil:
		for k := i + 2; k < next; k += 2 {
			if !offers(root, r.at(k).value) {
				return "", 0, false
			}
		}
		r.alias[root] = root
		r.reach.Modules = append(r.reach.Modules, root)
	case !formed[root]:
		r.loads(root)
		r.frames = r.frames || root == "pandas" || root == "numpy" || root == "polars"
	}
	return root, next, true
}

// versions records a module of which code may only read the version and the like.
func (r *reader) versions(module string) {
	if r.asked == nil {
		r.asked = map[string]bool{}
	}
	r.asked[module] = true
}

// pythonFrom parses from a import b, c as d.
func (r *reader) pythonFrom(i int) (more int, ok bool) {
	if r.is(i-1, "yield") || !r.begins(i) && r.at(i-1).kind != 'n' && r.at(i-1).kind != ')' {
		return 0, r.is(i-1, "yield")
	}
	j := i + 1
	for r.at(j).kind == '.' || r.at(j).kind == dots {
		j++
	}
	root, next, ok := r.module(j)
	var path strings.Builder
	for k := j; ok && k < next; k += 2 {
		path.WriteString("." + r.at(k).value)
	}
	if !ok || reaching[root] || !r.is(next, "import") {
		return 0, false
	}
	j = next + 1
	open := r.at(j).kind == '('
	if open {
		j++
	}
	if r.at(j).kind != 'n' {
		return 0, false
	}
	for ; r.at(j).kind == 'n'; j++ {
		name := r.at(j).value
		if !r.imported(path.String(), name) {
			return 0, false
		}
		r.alias[name] = root + "."
		if r.is(j+1, "as") && r.forms[name] == nil {
			r.alias[r.at(j+2).value] = root + "."
			j += 2
		}
		if r.at(j+1).kind != ',' {
			break
		}
		for j++; r.at(j+1).kind == ends && open; j++ {
		}
	}
	for j++; open && r.at(j).kind == ends; j++ {
	}
	if open {
		return j - i, r.at(j).kind == ')'
	}
	return j - i, r.at(j).kind == ends
}

// imported reports whether a name may be imported from a module.
func (r *reader) imported(module, name string) bool {
	switch {
	case r.refused[name] || strings.HasPrefix(name, "_"):
		return false
	case standard[strings.Split(module, ".")[1]] != nil && module != ".pathlib":
		return offers(strings.Split(module, ".")[1], name) && (r.forms[name] == nil || name == "load" || name == "ZipFile")
	case module == ".pathlib" && name == "Path", module == ".glob" && name == "glob", module == ".sys" && sysTells[name] && name != "argv", module == ".os.path" && pathTells[name], module == ".urllib.parse", module == ".importlib.metadata" && metadata[name]:
		return true
	case formed[module[1:]], strings.HasPrefix(module, ".os"), strings.HasPrefix(module, ".importlib"), strings.HasPrefix(module, ".urllib"), r.forms[name] != nil && name != "load":
		return false
	case name == "load" || name == "loads":
		return module == ".json" || module == ".tomllib"
	}
	return r.allowed[name] || !reaches.MatchString(name)
}

func (r *reader) pythonCompile(i int) (more int, ok bool) { return 0, r.member(i) }

var metadata = wordset.Of("version PackageNotFoundError packages_distributions requires")

// pythonMetadata parses importlib.metadata, which describes installed packages.
func (r *reader) pythonMetadata(i int) (more int, ok bool) {
	return 4, !r.member(i) && r.at(i+1).kind == '.' && r.is(i+2, "metadata") && r.at(i+3).kind == '.' && metadata[r.at(i+4).value]
}
