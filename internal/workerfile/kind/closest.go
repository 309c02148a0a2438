package kind

import "strings"

// Closest returns the known word that a misspelt one probably means, or "" if there is none.
func Closest(word string, known []string) string {
	return ClosestWithin(min(1+len(word)/3, max(1, len(word)/2)), word, known)
}

// ClosestWithin does what [Closest] does, with a given maximum number of edits. An edit is a
// missing, extra or different letter, or a swap of two adjacent ones.
func ClosestWithin(edits int, word string, known []string) string {
	best := ""
	for _, k := range known {
		if n := distance(strings.ToLower(word), strings.ToLower(k)); n <= edits {
			best, edits = k, n-1
		}
	}
	return best
}

// distance returns the number of edits between a and b.
func distance(a, b string) int {
	var before []int // the row before the last
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			next[j+1] = 1 + min(row[j], row[j+1], next[j])
			if a[i] == b[j] {
				next[j+1] = row[j]
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
