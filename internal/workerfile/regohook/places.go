package regohook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// maxPlaces is how many places of a rule are listed.
const maxPlaces = 5

// places returns, for each rule that counts, its name and where it is defined. OPA does not report
// which of several definitions applied unless each evaluation is traced.
func (l loader) places(q parsedQuery, compiler *ast.Compiler) map[string]string {
	where := map[string]string{}
	for _, name := range q.rules {
		lines := map[string][]int{}
		var files []string
		for _, rule := range q.definitions(name, compiler) {
			if at := rule.Location; at != nil && !slices.Contains(lines[at.File], at.Row) {
				if lines[at.File] == nil {
					files = append(files, at.File)
				}
				lines[at.File] = append(lines[at.File], at.Row)
			}
		}
		slices.Sort(files)
		var texts []string
		for _, file := range files {
			texts = append(texts, l.place(file, lines[file]))
		}
		if len(texts) == 0 {
			where[name] = name
			continue
		}
		where[name] = kind.Rule(partOf(files), name+" at "+strings.Join(texts, ", "))
	}
	return where
}

// place formats places like policy.rego:3,7, or line 3,7 of the policy in the worker file.
func (l loader) place(file string, lines []int) string {
	slices.Sort(lines)
	var texts []string
	for i, line := range lines {
		if i == maxPlaces {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, strconv.Itoa(line))
	}
	if file == "" {
		return fmt.Sprintf("line %s of the policy", strings.Join(texts, ","))
	}
	return l.relative(file) + ":" + strings.Join(texts, ",")
}

// partOf returns the field of a policy that is written in the worker file itself, or "".
func partOf(files []string) jsontext.Pointer {
	if slices.Contains(files, "") {
		return "/policy"
	}
	return ""
}
