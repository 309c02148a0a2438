package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// pythonPackages are well known, beside the programs of [programs].
	pythonPackages = regexp.MustCompile(`(?i)^(numpy|pandas|polars|scipy|scikit-learn|sympy|networkx|statsmodels|pyarrow|fastparquet|matplotlib|seaborn|plotly|altair|pillow|opencv-python(-headless)?|torch|transformers|datasets|tokenizers|tiktoken|openai|anthropic|mcp` +
		`|requests|httpx|aiohttp|urllib3|websockets|beautifulsoup4|lxml|pyyaml|ruamel\.yaml|tomli?|tomlkit|tomli-w|orjson|ujson|jsonschema|pydantic(-settings)?|attrs|rich|click|typer|tqdm|jinja2|markdown|tabulate|python-dateutil|python-dotenv|openpyxl|xlsxwriter|xlrd|python-docx|python-pptx|pypdf2?|pdfplumber|reportlab|weasyprint` +
		`|flask|fastapi|starlette|sqlalchemy|psycopg(2|2-binary)?|pymysql|asyncpg|aiosqlite|redis|boto3|botocore|protobuf|grpcio(-tools)?|playwright|selenium|trio|anyio|setuptools|wheel|pip|hatchling|editables|ipykernel|jupyter(lab)?|notebook|nbconvert|nbformat|watchfiles|uvloop|snakeviz|line-profiler|memory-profiler|py-spy|psutil|packaging|cryptography|faker|freezegun|respx|responses|moto` +
		`|pytest-(cov|asyncio|xdist|mock|django|timeout|httpx|benchmark|randomly|subtests|env|recording|playwright|repeat|rerunfailures|sugar|socket|aiohttp|trio|anyio|codspeed|snapshot)|mkdocs-(material|gen-files|literate-nav|section-index|autorefs|macros-plugin)|mkdocstrings(-python)?|sphinx(-rtd-theme|-autobuild)?|furo|myst-parser|types-(requests|pyyaml|python-dateutil|setuptools|redis|toml|docutils|protobuf|tabulate)|pandas-stubs|django-stubs|flake8-(bugbear|comprehensions|docstrings)|tox-uv|nox-uv)$`)
	// nodePackages are well known, beside the programs of [programs].
	nodePackages = regexp.MustCompile(`^(typescript|@(angular|wordpress|babel|commitlint|storybook|nestjs|vue|sveltejs|redocly|openapitools|biomejs|changesets|microsoft|playwright|tailwindcss|graphql-codegen|swc|typescript|arethetypeswrong|stoplight|mermaid-js|modelcontextprotocol|cloudflare|vercel|vitejs|react-native-community|tanstack|rollup|eslint|prettier|ionic|capacitor|expo|sentry|datadog|aws-amplify|aws-cdk)/[\w.-]+|webpack-cli|http-server|rimraf|cross-env|semver|yaml|json5|uglify-js|terser|mermaid|sass|less|js-yaml|npm|pnpm|yarn|node|markdown-toc|yo|license-checker|source-map-explorer|bundlesize|size-limit|publint|aws-cdk|@[a-z]+/cli)$`)

	valued  = strings.Fields("-p --python --project --directory --extra --group --env-file -C --prefix -w --workspace --dir -F --filter")
	version = regexp.MustCompile(`([^@])(@|==|[<>=~!\[;]).*$`)
)

// knownExtras reports whether the packages that a program fetches beside the one that it runs
// are ones that many use: uvx --with, npx --package.
func knownExtras(c shell.Command) bool {
	options, names := []string{"-p", "--package"}, nodePackages
	args, verbs := c.Args(), c.Verbs(1)
	switch name, verb := c.Name(), c.Verb(); {
	case name == "uv" && slices.Contains([]string{"run", "tool", "x"}, verb):
		options, names = []string{"--with", "--from"}, pythonPackages
	case name == "uvx":
		options, names, verbs = []string{"--with", "--from"}, pythonPackages, nil
	case slices.Contains([]string{"npx", "bunx", "pnpx"}, name):
		verbs = nil
	case slices.Contains([]string{"exec", "x", "dlx"}, verb):
	default:
		return true
	}
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i].Text, "=")
		if at := strings.IndexByte(option, 'p'); at > 0 && options[0] == "-p" && option[0] == '-' && option[1] != '-' {
			value = strings.TrimPrefix(args[i].Text[at+1:], "=")
			option, joined = "-p", value != ""
		}
		switch {
		case slices.Contains(options, option):
			if !joined && i+1 < len(args) {
				i++
				value = args[i].Text
			}
			for part := range strings.SplitSeq(value, ",") {
				part = version.ReplaceAllString(strings.TrimSpace(part), "$1")
				if _, program := programs()[part]; !args[i].Known || !program && !names.MatchString(part) {
					return false
				}
			}
		case slices.Contains(valued, option):
			if !joined {
				i++
			}
		case !strings.HasPrefix(option, "-") && !slices.Contains(verbs, option) && !(option == "run" && c.Name() == "uv"):
			return true // the rest is the program's
		}
	}
	return true
}

// upToProgram is npx and the like without what the program is given that it runs.
func upToProgram(c shell.Command) shell.Command {
	if !slices.Contains([]string{"npx", "bunx", "pnpx", "uvx"}, c.Name()) {
		return c
	}
	for i, w := range c.Words[1:] {
		if !strings.HasPrefix(w.Text, "-") && !slices.Contains(valued, c.Words[i].Text) && !slices.Contains([]string{"--package", "--with", "--from"}, c.Words[i].Text) {
			c.Words = c.Words[:i+2]
			break
		}
	}
	return c
}

// reaching are well-known packages whose programs reach further than the project.
var reaching = regexp.MustCompile(`^@(cloudflare|vercel|expo|sentry|datadog|aws-amplify|aws-cdk)/`)

// fetched reports whether a program is a package that many use, by its scope: npx @redocly/cli
func fetched(c shell.Command) bool {
	name := version.ReplaceAllString(c.Words[0].Text, "$1")
	return strings.HasPrefix(name, "@") && nodePackages.MatchString(name) && !reaching.MatchString(name)
}
