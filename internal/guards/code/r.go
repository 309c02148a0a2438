package code

import (
	"regexp"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var rLang = &language{
	syntax: syntax{
		comments: []string{"#"}, quotes: `'"`, lines: true, prefixes: true, names: regexp.MustCompile(`^[A-Za-z.][\w.]*`),
		special: func(l *lexer) bool { return l.code[l.pos] != '%' || rOperators.MatchString(l.code[l.pos:]) },
	},
	unread: regexp.MustCompile("`|\\\\\\(|[\"']\\s*\\("), // a lambda, or a call of a function that a string names
	refused: wordset.Of(`system system2 shell shell.exec unlink eval evalq parse do.call get get0 mget match.fun getFunction Sys.getenv Sys.setenv source environment globalenv baseenv assign attach install.packages .Internal .Call .External .C
		pipe fifo url socketConnection serverSocket file.remove file.rename file.copy file.create file.symlink file.append file.edit browseURL setwd make.socket download.file shell.exec eval.parent str2lang str2expression parent.frame sys.function sys.call emptyenv getNamespace getFromNamespace asNamespace processx callr reticulate httr httr2 RCurl curl sys`),
	calls: wordset.Of(`print summary lm glm coef head tail str nrow ncol dim names colnames rownames read.csv read.csv2 read.table read.delim readRDS mean median sd var table aggregate merge subset with within c list data.frame matrix seq seq_len
		seq_along rep paste paste0 sprintf format round signif sum prod min max range length unique sort order rev which which.max which.min any all is.na na.omit complete.cases as.numeric as.integer as.character as.Date as.factor factor
		levels droplevels cut quantile cor cov t.test wilcox.test chisq.test anova aov TukeyHSD predict residuals fitted cat message nchar substr substring gsub sub grepl regmatches regexpr toupper tolower trimws strsplit unlist Sys.time
		Sys.Date difftime packageVersion sessionInfo suppressMessages suppressWarnings suppressPackageStartupMessages invisible stopifnot identical all.equal set.seed rnorm runif rbinom sample tibble as_tibble glimpse filter mutate select
		group_by summarise summarize arrange count n n_distinct desc left_join inner_join distinct slice pull rename pivot_longer pivot_wider bind_rows read_csv read_tsv ifelse case_when if for while function return cumsum diff scale log log2
		log10 exp sqrt abs floor ceiling nlevels class typeof is.numeric is.character is.factor inherits rbind cbind t solve diag crossprod colSums colMeans rowSums rowMeans prop.table xtabs expand.grid setdiff union intersect duplicated nls
		lapply sapply vapply tapply apply Map Filter Reduce load_all test_dir test_file test_local document check`),
	allowed: wordset.Of("load_all read.csv set.seed testthat test_dir test_file test_local document check"),
	named:   true, listed: true,
	check: (*reader).checkR,
	forms: map[string]func(*reader, int) (int, bool){"library": (*reader).rLibrary, "require": (*reader).rLibrary, "file": (*reader).rFile},
}

var (
	// rOperators matches operators between percent signs that only compute or call.
	rOperators = regexp.MustCompile(`^%(in|%|/%|o%|>%|<>%|T>%)`)
	// rCallers are functions that call an argument, with its index.
	rCallers = map[string]int{"sapply": 1, "lapply": 1, "vapply": 1, "tapply": 2, "apply": 2, "Map": 0, "Filter": 0, "Reduce": 0}
)

// rLibrary parses library(dplyr).
func (r *reader) rLibrary(i int) (more int, ok bool) {
	name := r.at(i + 2)
	r.loads(name.value)
	return 2, r.at(i+1).kind == '(' && (name.kind == 'n' || name.kind == 't' && name.plain) && !r.refused[name.value]
}

// rFile parses the argument file = "name" of a function that writes, as in cat(x, file = "name").
// The function file, which opens a connection, is rejected.
func (r *reader) rFile(i int) (more int, ok bool) {
	name, plain := r.text(i + 2)
	r.opens(name, true)
	return 2, plain && r.at(i+1).kind == '=' && !r.member(i)
}

// checkR reports whether a function that calls an argument receives an inline function or the name
// of a known one.
func (r *reader) checkR(i int) bool {
	which, calls := rCallers[r.at(i).value]
	if !calls || r.at(i+1).kind != '(' {
		return true
	}
	at := r.argument(i+1, which)
	end := r.at(at + 1).kind
	return r.is(at, "function") || r.at(at).kind == 'n' && r.calls[r.at(at).value] && (end == ',' || end == ')')
}
