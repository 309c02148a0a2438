package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// rewriters are development tools that change, create or remove their operands, with one of these
// options or words, or always if there are none.
var rewriters = map[string][]string{
	"rimraf": nil, "del-cli": nil, "mkdirp": nil, "mogrify": nil, "trash-cli": nil,
	"black": nil, "isort": nil, "rustfmt": nil, "pyupgrade": nil, "swiftformat": nil, "nbstripout": nil,
	"autoflake": {"-i", "--in-place"}, "autopep8": {"-i", "--in-place"}, "yapf": {"-i", "--in-place"}, "clang-format": {"-i"}, "shfmt": {"-w", "--write"},
	"gofmt": {"-w"}, "goimports": {"-w"}, "gofumpt": {"-w"}, "gci": {"write"}, "prettier": {"--write", "-w"}, "eslint": {"--fix"}, "stylelint": {"--fix"}, "markdownlint": {"--fix"},
	"biome": {"--write", "--apply", "--fix"}, "ruff": {"format", "--fix"}, "standard": {"--fix"}, "rubocop": {"-a", "-A", "--autocorrect", "--autocorrect-all"}, "ktlint": {"-F", "--format"},
	"terraform": {"fmt"}, "tofu": {"fmt"}, "taplo": {"fmt", "format"}, "codespell": {"-w", "--write-changes"}, "sqlfluff": {"fix"}, "magick": {"mogrify"},
}

// lastWritten are programs that write their last operand.
var lastWritten = strings.Fields("ffmpeg convert magick degit")

var (
	// dryRunOptions are options with which a rewriter only reports changes.
	dryRunOptions = strings.Fields("--check --check-only --diff --dry-run --list-different --check-formatted")
	// settingsOption matches an option that takes a file which the program only reads.
	settingsOption = regexp.MustCompile(`^--?(c|config[\w-]*|ignore-path|settings[\w-]*|rcfile|rulesdir|resolve-plugins[\w-]*|plugin|tsconfig)$`)
)

// rewritesAll reports whether a command changes its operands.
func rewritesAll(c shell.Command) bool {
	return among(rewriters, c) && !c.Has(dryRunOptions...)
}

// rewrites reports whether a command changes its operand i.
func (v *invocation) rewrites(i int) bool {
	last := i > 0 && i == len(v.operands)-1 && slices.Contains(lastWritten, v.Name())
	return last || v.all && !v.settings[i]
}
