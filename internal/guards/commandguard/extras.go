package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// pythonPackages are well-known packages, in addition to the programs of [programs].
	pythonPackages = regexp.MustCompile(`(?i)^(numpy|pandas|polars|scipy|scikit-learn|sympy|networkx|statsmodels|pyarrow|fastparquet|matplotlib|seaborn|plotly|altair|pillow|opencv-python(-headless)?|torch|transformers|datasets|tokenizers|tiktoken|openai|anthropic|mcp` +
		`|requests|httpx|aiohttp|urllib3|websockets|beautifulsoup4|lxml|pyyaml|ruamel\.yaml|tomli?|tomlkit|tomli-w|orjson|ujson|jsonschema|pydantic(-settings)?|attrs|rich|click|typer|tqdm|jinja2|markdown|tabulate|python-dateutil|python-dotenv|openpyxl|xlsxwriter|xlrd|python-docx|python-pptx|pypdf2?|pdfplumber|reportlab|weasyprint` +
		`|flask|fastapi|starlette|sqlalchemy|psycopg(2|2-binary)?|pymysql|asyncpg|aiosqlite|redis|boto3|botocore|protobuf|grpcio(-tools)?|playwright|selenium|trio|anyio|setuptools|wheel|pip|hatchling|editables|ipykernel|jupyter(lab)?|notebook|nbconvert|nbformat|watchfiles|uvloop|snakeviz|line-profiler|memory-profiler|py-spy|psutil|packaging|cryptography|faker|freezegun|respx|responses|moto` +
		`|pytest-(cov|asyncio|xdist|mock|django|timeout|httpx|benchmark|randomly|subtests|env|recording|playwright|repeat|rerunfailures|sugar|socket|aiohttp|trio|anyio|codspeed|snapshot)|mkdocs-(material|gen-files|literate-nav|section-index|autorefs|macros-plugin)|mkdocstrings(-python)?|sphinx(-rtd-theme|-autobuild)?|furo|myst-parser|types-(requests|pyyaml|python-dateutil|setuptools|redis|toml|docutils|protobuf|tabulate)|pandas-stubs|django-stubs|flake8-(bugbear|comprehensions|docstrings)|tox-uv|nox-uv)$`)
	// nodePackages are well-known packages, in addition to the programs of [programs].
	nodePackages = regexp.MustCompile(`^(typescript|@(angular|wordpress|babel|commitlint|storybook|nestjs|vue|sveltejs|redocly|openapitools|biomejs|changesets|microsoft|playwright|tailwindcss|graphql-codegen|swc|typescript|arethetypeswrong|stoplight|mermaid-js|modelcontextprotocol|cloudflare|vercel|vitejs|react-native-community|tanstack|rollup|eslint|prettier|ionic|capacitor|expo|sentry|datadog|aws-amplify|aws-cdk)/[\w.-]+|webpack-cli|http-server|rimraf|cross-env|semver|yaml|json5|uglify-js|terser|mermaid|sass|less|js-yaml|npm|pnpm|yarn|node|markdown-toc|yo|license-checker|source-map-explorer|bundlesize|size-limit|publint|aws-cdk|@[a-z]+/cli)$`)

	valued = shell.Options{Long: "-p= --python= --project= --directory= --extra= --group= --env-file= -C= --prefix= -w= --workspace= --dir= -F= --filter="}
	// Options that name packages to fetch in addition to the program.
	ofNode   = shell.Options{Values: "p", Long: "--package=", Any: true}
	ofPython = shell.Options{Long: "--with= --from="}

	version = regexp.MustCompile(`([^@])(@|==|[<>=~!\[;]).*$`)
)

// knownExtras reports whether the packages that a program fetches in addition to the one that it
// runs are popular: uvx --with, npx --package.
func knownExtras(c shell.Command) bool {
	known, fetching, names := ofNode, []string{"-p", "--package"}, nodePackages
	verbs := c.Verbs(1)
	switch name, verb := c.Name(), c.Verb(); {
	case name == "uvx", name == "uv" && slices.Contains([]string{"run", "tool", "x"}, verb):
		known, fetching, names = ofPython, []string{"--with", "--from"}, pythonPackages
	case slices.Contains(fetchers, name), slices.Contains([]string{"exec", "x", "dlx"}, verb):
	default:
		return true
	}
	value := false // the word may be the value of an unknown option
	for a := range valued.With(known).Each(c.Args()) {
		switch {
		case slices.Contains(fetching, a.Name):
			for part := range strings.SplitSeq(strings.TrimPrefix(a.Value.Text, "="), ",") {
				part = version.ReplaceAllString(strings.TrimSpace(part), "$1")
				if _, program := programs()[part]; !a.Value.Known || !program && !names.MatchString(part) {
					return false
				}
			}
		case a.Name == "" && !value && (slices.Contains(fetchers, c.Name()) || !slices.Contains(verbs, a.Text)) && (a.Text != "run" || c.Name() != "uv"):
			return true // the rest are the program's arguments
		}
		value = a.Takes && !a.Joined
	}
	return true
}

// fetchers fetch a package and run a program of it.
var fetchers = []string{"npx", "bunx", "pnpx", "uvx"}

// upToProgram returns npx and the like without the arguments of the program that it runs.
func upToProgram(c shell.Command) shell.Command {
	if !slices.Contains(fetchers, c.Name()) {
		return c
	}
	value := false
	for a := range valued.With(ofPython).With(shell.Options{Long: "--package="}).Each(c.Args()) {
		if a.Name == "" && !value {
			c.Words = c.Words[:len(c.Words)-len(a.Rest)]
			break
		}
		value = a.Takes && !a.Joined
	}
	return c
}

// reaching are well-known packages whose programs have effects beyond the project.
var reaching = regexp.MustCompile(`^@(cloudflare|vercel|expo|sentry|datadog|aws-amplify|aws-cdk)/`)

// fetched reports whether a program is a popular package with a scope, such as npx @redocly/cli.
func fetched(c shell.Command) bool {
	name := version.ReplaceAllString(c.Words[0].Text, "$1")
	return strings.HasPrefix(name, "@") && nodePackages.MatchString(name) && !reaching.MatchString(name)
}
